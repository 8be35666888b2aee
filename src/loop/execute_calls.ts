/**
 * Executes the tool calls of a batch: schedules them, and cancels them on abort and steering.
 *
 * @module
 */

import { AbortedError } from "../core/errors.ts";
import type { AgentToolResult } from "../core/tool.ts";
import { CallExecution } from "./call_execution.ts";
import { ABORTED_TEXT, type ReadyCall } from "./prepared_call.ts";
import type { RunServices } from "./run_services.ts";

/** The results of a batch. */
export interface BatchExecution {
  /** The result of each call, in call order. */
  readonly results: readonly AgentToolResult[];
  /** Whether steering interrupted the batch. */
  readonly interrupted: boolean;
}

const USER_STEERING_TEXT = "tool call cancelled: user requested steering interrupt";
const STEERING_TEXT = "tool call cancelled: steering interrupt";

/** Runs the calls, emits their start and end, and cancels them on abort and steering. */
export async function executeCalls(
  run: RunServices,
  ready: readonly ReadyCall[],
): Promise<BatchExecution> {
  if (ready.length === 0) return { results: [], interrupted: false };
  const executions = ready.map((call) => new CallExecution(run, call));
  for (const { block: { id, name }, arguments: args } of ready) {
    await run.events.emit({ type: "tool_execution_start", id, name, arguments: args });
  }
  await run.events.untilDelivered();
  const pending = executions.map((execution) => emitToolEnd(run, execution));
  const interruption = new Interruption(run, executions);
  await startScheduled(executions);
  const results = await Promise.all(pending);
  interruption.dispose();
  return { results, interrupted: interruption.interrupted };
}

/** Emits the end of a call once it has settled; resolves to its result. */
async function emitToolEnd(
  { events }: RunServices,
  { settled, call: { block: { id, name } } }: CallExecution,
): Promise<AgentToolResult> {
  const result = await settled;
  const isError = result.isError ?? false;
  await events.emit({ type: "tool_execution_end", id, name, result, isError });
  return result;
}

/** Cancels the calls of a batch on abort and steering. */
class Interruption {
  readonly #run: RunServices;
  readonly #executions: readonly CallExecution[];
  readonly #unsubscribe: readonly (() => void)[];
  #interrupted = false;

  constructor(run: RunServices, executions: readonly CallExecution[]) {
    this.#run = run;
    this.#executions = executions;
    this.#unsubscribe = [
      run.cancellation.onAbort(() => cancelAll(executions, ABORTED_TEXT)),
      run.steering.onArrival(() => this.#onSteering()),
    ];
    if (run.steering.arrived) this.#onSteering();
  }

  get interrupted(): boolean {
    return this.#interrupted;
  }

  dispose(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #onSteering(): void {
    const { interrupt } = this.#run.config;
    if (interrupt === "after_batch") return;
    const [first] = this.#run.steering.peek();
    this.#interrupted = true;
    const cancellable = this.#executions.filter(({ started, call }) =>
      !started || (interrupt === "cancel" && call.tool.interruptible !== false)
    );
    cancelAll(cancellable, first?.role === "user" ? USER_STEERING_TEXT : STEERING_TEXT);
  }
}

function cancelAll(executions: readonly CallExecution[], text: string): void {
  const reason = new AbortedError(text);
  for (const execution of executions) execution.cancel(reason);
}

/**
 * Starts the calls in call order. A sequential tool waits for all calls before it, and all calls after it wait for it;
 * calls with the same concurrency key run one after the other; all others run concurrently.
 */
async function startScheduled(executions: readonly CallExecution[]): Promise<void> {
  const lastByKey = new Map<string, Promise<unknown>>();
  let concurrent: CallExecution[] = [];
  for (const execution of executions) {
    if (execution.call.tool.sequential) {
      await Promise.all(concurrent.map(({ settled }) => settled));
      concurrent = [];
      execution.start();
      await execution.settled;
    } else {
      concurrent.push(execution);
      startAfterSameKey(execution, lastByKey);
    }
  }
}

function startAfterSameKey(
  execution: CallExecution,
  lastByKey: Map<string, Promise<unknown>>,
): void {
  const key = getConcurrencyKey(execution.call);
  const previous = key === undefined ? undefined : lastByKey.get(key);
  if (key !== undefined) lastByKey.set(key, execution.settled);
  if (previous) void previous.then(() => execution.start());
  else execution.start();
}

/** Returns the concurrency key of a call; a key function that throws counts as no key. */
function getConcurrencyKey({ tool, arguments: args }: ReadyCall): string | undefined {
  try {
    return tool.concurrencyKey?.(args);
  } catch {
    return undefined;
  }
}
