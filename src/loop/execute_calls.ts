/**
 * Runs the ready calls of a batch: together, or in turn where they ask for it.
 *
 * @module
 */

import { AbortedError } from "../core/errors.ts";
import type { AgentToolResult } from "../core/tool.ts";
import { ABORTED_TEXT, type ReadyCall } from "./prepared_call.ts";
import type { RunContext } from "./run_context.ts";
import { ToolCall } from "./tool_call.ts";

/** What came of the ready calls. */
export interface BatchExecution {
  /** The result of each call, in call order. */
  readonly results: readonly AgentToolResult[];
  /** Whether steering cut in. */
  readonly interrupted: boolean;
}

const USER_STEERING_TEXT = "tool call cancelled: user requested steering interrupt";
const STEERING_TEXT = "tool call cancelled: steering interrupt";

/** Starts the calls, tells of their ends as they come, and cancels them on abort and steering. */
export async function executeCalls(
  run: RunContext,
  ready: readonly ReadyCall[],
): Promise<BatchExecution> {
  if (ready.length === 0) return { results: [], interrupted: false };
  const calls = ready.map((call) => new ToolCall(run, call));
  for (const call of calls) await emitToolStart(run, call);
  await run.untilDelivered();
  const ends = calls.map((call) => emitToolEnd(run, call));
  const interruption = new Interruption(run, calls);
  await startScheduled(calls);
  const results = await Promise.all(ends);
  interruption.dispose();
  return { results, interrupted: interruption.interrupted };
}

function emitToolStart(run: RunContext, { call: ready }: ToolCall): Promise<void> | undefined {
  const { block: { id, name }, arguments: args } = ready;
  return run.emit({ type: "tool_execution_start", id, name, arguments: args });
}

async function emitToolEnd(run: RunContext, call: ToolCall): Promise<AgentToolResult> {
  const result = await call.settled;
  const { id, name } = call.call.block;
  const isError = result.isError ?? false;
  await run.emit({ type: "tool_execution_end", id, name, result, isError });
  return result;
}

/** Abort and steering, while a batch runs. */
class Interruption {
  readonly #run: RunContext;
  readonly #calls: readonly ToolCall[];
  readonly #stopAbort: () => void;
  readonly #stopSteering: () => void;
  #interrupted = false;

  constructor(run: RunContext, calls: readonly ToolCall[]) {
    this.#run = run;
    this.#calls = calls;
    this.#stopAbort = run.cancellation.onAbort(() => this.#cancel(calls, ABORTED_TEXT));
    this.#stopSteering = run.steering.onArrival(() => this.#onSteering());
    if (run.steering.arrived) this.#onSteering();
  }

  get interrupted(): boolean {
    return this.#interrupted;
  }

  dispose(): void {
    this.#stopAbort();
    this.#stopSteering();
  }

  #onSteering(): void {
    const { interrupt } = this.#run.config;
    if (interrupt === "after_batch") return;
    const [first] = this.#run.steering.peek();
    const text = first?.role === "user" ? USER_STEERING_TEXT : STEERING_TEXT;
    this.#interrupted = true;
    const mayCancel = (call: ToolCall) =>
      !call.started || (interrupt === "cancel" && call.call.tool.interruptible !== false);
    this.#cancel(this.#calls.filter(mayCancel), text);
  }

  #cancel(calls: readonly ToolCall[], text: string): void {
    const reason = new AbortedError(text);
    for (const call of calls) call.cancel(reason);
  }
}

/**
 * Starts the calls in call order. A sequential tool waits for all before it, and all after it wait for it;
 * calls of one concurrency key follow each other; everything else runs together.
 */
async function startScheduled(calls: readonly ToolCall[]): Promise<void> {
  const lastOfKey = new Map<string, Promise<unknown>>();
  let together: ToolCall[] = [];
  for (const call of calls) {
    if (call.call.tool.sequential) {
      await Promise.all(together.map(({ settled: ended }) => ended));
      together = [];
      call.start();
      await call.settled;
    } else {
      together.push(call);
      startAfterSameKey(call, lastOfKey);
    }
  }
}

function startAfterSameKey(call: ToolCall, lastOfKey: Map<string, Promise<unknown>>): void {
  const key = getConcurrencyKey(call);
  const before = key === undefined ? undefined : lastOfKey.get(key);
  if (key !== undefined) lastOfKey.set(key, call.settled);
  if (before) void before.then(() => call.start());
  else call.start();
}

/** A key that cannot be told is no key: the tool's own failure will say why. */
function getConcurrencyKey({ call: { tool, arguments: args } }: ToolCall): string | undefined {
  try {
    return tool.concurrencyKey?.(args);
  } catch {
    return undefined;
  }
}
