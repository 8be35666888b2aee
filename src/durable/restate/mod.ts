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
 * async function startWorker(ingressUrl: string) {
 *   const engine = new RestateEngine({ ingressUrl });
 *   const support = engine.register("support", async (steps, prompt: string) => {
 *     const agent = durableAgent({ model: "anthropic/claude-sonnet-5-5" }, steps);
 *     return (await agent.prompt(prompt)).text;
 *   });
 *   Deno.serve({ port: 9080 }, engine.fetch); // the endpoint is registered in Restate
 *   await engine.start();
 *   return { engine, support };
 * }
 * ```
 *
 * @module
 */

export {
  RestateEngine,
  type RestateEngineOptions,
  type RestateRegistration,
} from "./restate_engine.ts";
