/**
 * Agents whose runs survive the end of their process.
 *
 * {@linkcode durableAgent} makes an agent whose effects are steps of a workflow. An engine records each step, and another
 * process continues the workflow from the last one: {@linkcode InProcessEngine} keeps runs in a session store;
 * `@swink/agent/durable/dbos` and `@swink/agent/durable/restate` run them on DBOS (Postgres) and on Restate.
 *
 * @example
 * ```ts
 * import { defineTool } from "@swink/agent";
 * import { InProcessEngine, durableAgent } from "@swink/agent/durable";
 * import { InMemorySessionStore } from "@swink/agent/memory";
 * import { reply, scriptedStream, toolCall } from "@swink/agent/testing";
 *
 * const streamFn = scriptedStream([reply([toolCall("pay", { euros: 5 })]), reply("Paid.")]);
 * const pay = defineTool({
 *   name: "pay",
 *   description: "Pays an amount; never executed twice.",
 *   parameters: { type: "object", properties: { euros: { type: "number" } }, required: ["euros"] },
 *   execute: ({ euros }, { idempotencyKey }) => `paid ${euros} with key ${idempotencyKey}`,
 * });
 *
 * await using engine = new InProcessEngine({ store: new InMemorySessionStore() });
 * const order = engine.register("order", async (steps, prompt: string) => {
 *   const agent = durableAgent({ model: "any/model", streamFn, tools: [pay] }, steps);
 *   return (await agent.prompt(prompt)).text;
 * });
 * await engine.start(); // continues the runs that an earlier process has left
 * const run = await order.start("Pay 5 euros", { id: "order-1" });
 * await run.result(); // "Paid."
 * ```
 *
 * @module
 */

export type * from "../core/durable/durable_engine.ts";
export type * from "../core/durable/durable_steps.ts";
export { DivergenceError } from "../core/errors/divergence_error.ts";
export { durableAgent } from "./agent/durable_agent.ts";
export {
  type DurableSession,
  type DurableSessionOptions,
  openDurableSession,
  type SavedPosition,
} from "./agent/durable_session.ts";
export { workflowTool, type WorkflowToolOptions } from "./agent/workflow_tool.ts";
export { type ExecutedRun, executeRun } from "./engine/execute_run.ts";
export type { DurableOutcome } from "./engine/run_outcome.ts";
export type { EventContent, StoredEvent } from "./events/event_storage.ts";
export type { RunEvents } from "./events/run_events.ts";
export { DetachedError, type RunInbox, type StepJournal } from "./steps/step_journal.ts";
export { InProcessEngine, type InProcessEngineOptions } from "./in_process/in_process_engine.ts";
