/**
 * Sessions over HTTP whose runs survive the end of their process.
 *
 * `durableRunner()` runs the sessions of `createAgentServer()` on an engine of `@swink/agent/durable`: any process serves any
 * session, and continues the runs of a process that has ended.
 *
 * @example
 * ```ts
 * import { durableAgent } from "@swink/agent/durable";
 * import { DbosEngine } from "@swink/agent/durable/dbos";
 * import { PostgresSessionStore } from "@swink/agent/memory/postgres";
 * import { bearerTokens, createAgentServer } from "@swink/agent/server";
 * import { durableRunner } from "@swink/agent/server/durable";
 *
 * async function startWorker(databaseUrl: string, token: string) {
 *   const engine = new DbosEngine({ databaseUrl });
 *   const store = new PostgresSessionStore({ connection: databaseUrl });
 *   const runner = durableRunner({
 *     engine,
 *     store,
 *     createAgent: (_session, steps) =>
 *       durableAgent({ model: "anthropic/claude-sonnet-5-5" }, steps),
 *   });
 *   await engine.start(); // continues the runs of workers that have ended
 *   const authenticate = bearerTokens([{ token, tenant: "acme" }]);
 *   return createAgentServer({ store, runner, authenticate });
 * }
 * ```
 *
 * @module
 */

export { durableRunner, type DurableRunnerOptions } from "./durable_runner.ts";
export type { CreateDurableAgent } from "./session_workflow.ts";
