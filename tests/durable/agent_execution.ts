/**
 * Runs durable agents over a journal in memory, and again after a crash behind each of their steps.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { Agent } from "../../src/agent/agent.ts";
import type { AgentResult } from "../../src/agent/agent_result.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { DurableSteps } from "../../src/core/durable/durable_steps.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { type AgentTool, defineTool, type ToolContext } from "../../src/core/tools/tool.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { executeRun } from "../../src/durable/engine/execute_run.ts";
import type { DurableOutcome } from "../../src/durable/engine/run_outcome.ts";
import type { ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { ArrayJournal, type RecordedStep } from "./array_journal.ts";

export const parameters = { type: "object", properties: { key: { type: "string" } } } as const;

/** An effect of a tool. */
export interface Effect {
  readonly tool: string;
  readonly key: unknown;
  readonly idempotencyKey: string;
}

/** Creates tools that record their effects. */
export function createTools(effects: Effect[]): AgentTool[] {
  const execute = (tool: string) => async (args: JsonObject, context: ToolContext) => {
    await new Promise((resolve) => setTimeout(resolve, args["key"] === "slow" ? 8 : 1));
    effects.push({ tool, key: args["key"], idempotencyKey: context.idempotencyKey });
    return `${tool} ${args["key"]}`;
  };
  const define = (name: string, options: Partial<AgentTool>) =>
    defineTool({ name, description: name, parameters, execute: execute(name), ...options });
  return [
    define("pay", { sideEffect: "once" }),
    define("put", { sideEffect: "idempotent", concurrencyKey: () => "put" }),
    define("read", { readOnly: true }),
    define("alone", { sideEffect: "idempotent", sequential: true }),
  ];
}

export interface Execution {
  readonly journal: ArrayJournal;
  readonly outcome: DurableOutcome;
  readonly effects: readonly Effect[];
  readonly events: readonly AgentEvent[];
}

/** Options for {@linkcode execute}. */
export interface ExecuteOptions extends Partial<AgentOptions> {
  readonly script: readonly ScriptedStep[];
  readonly records?: readonly RecordedStep[];
  readonly crashAt?: (name: string) => boolean;
  /** Time of the start, in milliseconds since the epoch. Default: long ago. */
  readonly startedAt?: number;
  /** Called with the journal when the run begins. */
  readonly onStart?: (journal: ArrayJournal, agent: Agent) => void;
  readonly prompt?: (agent: Agent, steps: DurableSteps) => Promise<AgentResult>;
}

/** Runs an agent until it ends. */
export async function execute(
  { script, records, crashAt, startedAt, onStart, prompt, ...options }: ExecuteOptions,
): Promise<Execution> {
  const journal = new ArrayJournal(records, crashAt);
  journal.startedAt = startedAt ?? journal.startedAt;
  const effects: Effect[] = [];
  const events: AgentEvent[] = [];
  const calls = countModelCalls(records);
  const streamFn = scriptedStream(script.slice(calls));
  const workflow = async (steps: DurableSteps): Promise<unknown> => {
    const agent = durableAgent({
      model: "test/model",
      streamFn,
      tools: createTools(effects),
      ...options,
    }, steps);
    agent.subscribe((event) => void events.push(structuredClone(event)));
    onStart?.(journal, agent);
    const result = prompt ? await prompt(agent, steps) : await agent.prompt("Work");
    return { messages: result.messages, stopReason: result.stopReason, text: result.text };
  };
  const outcome = await executeRun(journal, { workflow, input: null });
  return { journal, outcome, effects, events };
}

function countModelCalls(records: readonly RecordedStep[] = []): number {
  return records.filter(({ name }) => /model call \d+$/.test(name)).length;
}

/** Asserts that a run has the same outcome wherever it is interrupted, and that no effect of `pay` is repeated. */
export async function assertReplays(options: ExecuteOptions): Promise<Execution> {
  const full = await execute(options);
  const { records } = full.journal;
  for (let count = 0; count <= records.length; count++) {
    const continued = await execute({ ...options, records: records.slice(0, count) });
    const lost = findUnknown(records.slice(0, count));
    if (lost.length > 0) continue; // A call whose intent alone was recorded; tested below.
    const title = `after ${count} steps`;
    assertEquals(withoutTimes(continued.outcome), withoutTimes(full.outcome), title);
    const names = continued.journal.executed.toSorted();
    assertEquals(names, records.slice(count).map(({ name }) => name).toSorted(), title);
    for (const { name } of records.slice(0, count)) {
      assert(!continued.journal.executed.includes(name), `${name} was executed again ${title}`);
    }
  }
  return full;
}

/** Returns the intents whose calls are not recorded. */
function findUnknown(records: readonly RecordedStep[]): string[] {
  const names = new Set(records.map(({ name }) => name));
  return [...names].filter((name) =>
    name.endsWith(": intent") && !names.has(name.replace(": intent", ""))
  );
}

export function withoutTimes(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, member) => name === "timestamp" ? undefined : member),
  );
}
