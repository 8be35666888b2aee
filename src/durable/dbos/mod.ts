/**
 * Durable runs on DBOS, in Postgres.
 *
 * {@linkcode DbosEngine} runs the workflows of `@swink/agent/durable` on `npm:@dbos-inc/dbos-sdk`, which is loaded when the
 * engine starts. A run whose worker has ended is continued by another one within seconds.
 *
 * @example
 * ```ts
 * import { durableAgent } from "@swink/agent/durable";
 * import { DbosEngine } from "@swink/agent/durable/dbos";
 *
 * async function startWorker(databaseUrl: string) {
 *   const engine = new DbosEngine({ databaseUrl });
 *   const support = engine.register("support", async (steps, prompt: string) => {
 *     const agent = durableAgent({ model: "anthropic/claude-sonnet-5-5" }, steps);
 *     return (await agent.prompt(prompt)).text;
 *   });
 *   await engine.start(); // continues the runs of workers that have ended
 *   return { engine, support };
 * }
 * ```
 *
 * @module
 */

export { DbosEngine, type DbosEngineOptions } from "./dbos_engine.ts";
export type { DbosLogger } from "./npm_packages.ts";
