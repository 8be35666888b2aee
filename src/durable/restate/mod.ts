/**
 * Durable runs on Restate.
 *
 * {@linkcode RestateEngine} runs the workflows of `@swink/agent/durable` on a Restate server, with
 * `npm:@restatedev/restate-sdk`, which is loaded when the engine starts.
 *
 * @example
 * ```ts
 * import { durableAgent } from "@swink/agent/durable";
 * import { RestateEngine } from "@swink/agent/durable/restate";
 *
 * async function answer(question: string): Promise<string> {
 *   await using engine = new RestateEngine({ ingressUrl: "http://localhost:8080" });
 *   const workflow = engine.register("answer", async (steps, prompt: string) => {
 *     const agent = durableAgent({ model: "anthropic/claude-sonnet-5-5" }, steps);
 *     return (await agent.prompt(prompt)).text;
 *   });
 *   await engine.start();
 *   return await (await workflow.start(question)).result();
 * }
 * ```
 *
 * @module
 */

export { RestateEngine, type RestateEngineOptions } from "./restate_engine.ts";
