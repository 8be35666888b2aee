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
export interface Execution {
  /** The result of each call, in call order. */
  readonly results: readonly AgentToolResult[];
  /** Whether steering cut in. */
  readonly interrupted: boolean;
}

const STEERED_BY_USER_TEXT = "tool call cancelled: user requested steering interrupt";
const STEERED_TEXT = "tool call cancelled: steering interrupt";

/** Starts the calls, tells of their ends as they come, and cancels them on abort and steering. */
export async function executeCalls(
  run: RunContext,
  ready: readonly ReadyCall[],
): Promise<Execution> {
  if (ready.length === 0) return { results: [], interrupted: false };
  const calls = ready.map((call) => new ToolCall(run, call));
  for (const call of calls) await tellStart(run, call);
  await run.heard();
  const ends = calls.map((call) => tellEnd(run, call));
  const interruption = new Interruption(run, calls);
  await startInTurn(calls);
  const results = await Promise.all(ends);
  interruption.end();
  return { results, interrupted: interruption.happened };
}

function tellStart(run: RunContext, { ready }: ToolCall): Promise<void> | undefined {
  const { block: { id, name }, arguments: args } = ready;
  return run.emit({ type: "tool_execution_start", id, name, arguments: args });
}

async function tellEnd(run: RunContext, call: ToolCall): Promise<AgentToolResult> {
  const result = await call.ended;
  const { id, name } = call.ready.block;
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
  #happened = false;

  constructor(run: RunContext, calls: readonly ToolCall[]) {
    this.#run = run;
    this.#calls = calls;
    this.#stopAbort = run.cancellation.onAbort(() => this.#cancel(calls, ABORTED_TEXT));
    this.#stopSteering = run.steering.onArrival(() => this.#steer());
    if (run.steering.arrived) this.#steer();
  }

  get happened(): boolean {
    return this.#happened;
  }

  end(): void {
    this.#stopAbort();
    this.#stopSteering();
  }

  #steer(): void {
    const { interrupt } = this.#run.config;
    if (interrupt === "after_batch") return;
    const [first] = this.#run.steering.peek();
    const text = first?.role === "user" ? STEERED_BY_USER_TEXT : STEERED_TEXT;
    this.#happened = true;
    const mayCancel = (call: ToolCall) =>
      !call.started || (interrupt === "cancel" && call.ready.tool.interruptible !== false);
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
async function startInTurn(calls: readonly ToolCall[]): Promise<void> {
  const lastOfKey = new Map<string, Promise<unknown>>();
  let together: ToolCall[] = [];
  for (const call of calls) {
    if (call.ready.tool.sequential) {
      await Promise.all(together.map(({ ended }) => ended));
      together = [];
      call.start();
      await call.ended;
    } else {
      together.push(call);
      startAfterKey(call, lastOfKey);
    }
  }
}

function startAfterKey(call: ToolCall, lastOfKey: Map<string, Promise<unknown>>): void {
  const key = keyOf(call);
  const before = key === undefined ? undefined : lastOfKey.get(key);
  if (key !== undefined) lastOfKey.set(key, call.ended);
  if (before) void before.then(() => call.start());
  else call.start();
}

/** A key that cannot be told is no key: the tool's own failure will say why. */
function keyOf({ ready: { tool, arguments: args } }: ToolCall): string | undefined {
  try {
    return tool.concurrencyKey?.(args);
  } catch {
    return undefined;
  }
}
