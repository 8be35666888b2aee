/**
 * Executes the tool calls of a batch: schedules them, and cancels them on abort and steering.
 *
 * @module
 */

import { AbortedError, getErrorMessage, StreamError } from "../../core/errors/errors.ts";
import { refusePromise } from "../../core/errors/refuse_promise.ts";
import { cloneJson } from "../../core/json/json.ts";
import { copyResult } from "../../core/messages/copy_message.ts";
import type { AgentToolResult } from "../../core/messages/tool_result.ts";
import type { TurnContext } from "../run/turn_context.ts";
import { CallExecution } from "./call_execution.ts";
import { getAbortText, getSteeringText } from "./cancel_text.ts";
import { applyPostDispatch } from "./post_dispatch.ts";
import type { ReadyCall } from "./prepared_call.ts";

/** The results of a batch. */
export interface BatchExecution {
  /** The result of each call, in call order. */
  readonly results: readonly AgentToolResult[];
  /** Whether steering interrupted the batch. */
  readonly interrupted: boolean;
}

/** Runs the calls, emits their start and end, and cancels them on abort and steering. */
export async function executeCalls(
  turn: TurnContext,
  ready: readonly ReadyCall[],
): Promise<BatchExecution> {
  if (ready.length === 0) return { results: [], interrupted: false };
  const { events, startedCalls } = turn.run;
  const executions = ready.map((call) => new CallExecution(turn, call));
  for (const { block, arguments: args, idempotencyKey } of ready) {
    const { id, name } = block;
    startedCalls.add(block);
    const started = events.emit({
      type: "tool_execution_start",
      id,
      name,
      arguments: cloneJson(args),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
    if (started) await started;
  }
  const delivered = turn.run.untilDelivered();
  if (delivered) await delivered;
  const scheduled = executions.map((execution) => ({
    execution,
    ended: execution.settled.then((result) => emitToolEnd(turn, execution, result)),
  }));
  turn.monitor?.watchCalls(executions);
  let interruption: Interruption | undefined;
  try {
    interruption = new Interruption(turn, executions);
    const [first] = scheduled;
    const results = scheduled.length === 1 && first
      ? [await startAlone(first)]
      : await startScheduled(scheduled);
    return { results, interrupted: interruption.interrupted };
  } catch (thrown) {
    await endFailedCalls(scheduled, thrown);
    throw thrown;
  } finally {
    interruption?.dispose();
  }
}

/** Ends the calls of a batch that has failed, since each start has an end. */
async function endFailedCalls(calls: readonly ScheduledCall[], thrown: unknown): Promise<void> {
  const message = `Tool call failed: ${getErrorMessage(thrown)}`;
  const reason = new StreamError(message, { cause: thrown });
  for (const { execution } of calls) execution.cancel(reason);
  await Promise.allSettled(calls.map(({ ended }) => ended));
}

/** Applies the `postDispatch` policies to the result of a call and emits the end of the call; returns the result. */
function emitToolEnd(
  turn: TurnContext,
  { call, durationMs }: CallExecution,
  returned: AgentToolResult,
): AgentToolResult | Promise<AgentToolResult> {
  return turn.run.config.policies.length === 0
    ? emitResult(turn, call, returned)
    : applyPostDispatch(turn, call, { result: returned, durationMs })
      .then((result) => emitResult(turn, call, result));
}

function emitResult(
  { run: { events, steering } }: TurnContext,
  { block: { id, name } }: ReadyCall,
  result: AgentToolResult,
): AgentToolResult | Promise<AgentToolResult> {
  const isError = result.isError ?? false;
  const copy = copyResult(result);
  const ended = events.emit({ type: "tool_execution_end", id, name, result: copy, isError });
  const polled = ended ? ended.then(() => steering.poll()) : steering.poll();
  return polled ? polled.then(() => result) : result;
}

/** Cancels the calls of a batch on abort and steering. */
class Interruption {
  readonly #turn: TurnContext;
  readonly #executions: readonly CallExecution[];
  readonly #unsubscribe: readonly (() => void)[];
  #interrupted = false;

  constructor(turn: TurnContext, executions: readonly CallExecution[]) {
    const { run: { steering }, cancellation } = turn;
    this.#turn = turn;
    this.#executions = executions;
    this.#unsubscribe = [
      cancellation.onAbort(() => this.#cancel(executions, getAbortText(turn))),
      steering.onArrival(() => this.#onSteering()),
    ];
    if (steering.hasArrived) this.#onSteering();
  }

  get interrupted(): boolean {
    return this.#interrupted;
  }

  dispose(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #onSteering(): void {
    const { run: { config: { interrupt }, steering } } = this.#turn;
    // A listener may have taken the message back before it could interrupt anything.
    if (this.#interrupted || interrupt === "after_batch" || !steering.hasArrived) return;
    this.#interrupted = true;
    const cancellable = this.#executions.filter(({ isWaiting, call }) =>
      isWaiting || (interrupt === "cancel" && call.tool.interruptible !== false)
    );
    this.#cancel(cancellable, getSteeringText(this.#turn));
  }

  #cancel(executions: readonly CallExecution[], text: string): void {
    const reason = new AbortedError(text, { cause: this.#turn.cancellation.reason });
    for (const execution of executions) execution.cancel(reason);
  }
}

/** A call that starts when those before it allow it. */
interface ScheduledCall {
  readonly execution: CallExecution;
  /** Resolves when the end of the call is emitted, so that steering may still cancel the calls that wait for it. */
  readonly ended: Promise<AgentToolResult>;
}

/** Starts a call that is the only one. */
function startAlone({ execution, ended }: ScheduledCall): Promise<AgentToolResult> {
  execution.start();
  return ended;
}

/**
 * Starts the calls in call order, and resolves to their results. A sequential tool waits for all calls before it, and all
 * calls after it wait for it; calls with the same concurrency key run one after the other; all others run concurrently.
 */
async function startScheduled(calls: readonly ScheduledCall[]): Promise<AgentToolResult[]> {
  const lastByKey = new Map<string, Promise<unknown>>();
  let concurrent: Promise<unknown>[] = [];
  for (const scheduled of calls) {
    const { execution, ended } = scheduled;
    if (execution.call.tool.sequential) {
      await Promise.all(concurrent);
      concurrent = [];
      execution.start();
      await ended;
    } else {
      concurrent.push(ended);
      startAfterSameKey(scheduled, lastByKey);
    }
  }
  return await Promise.all(calls.map(({ ended }) => ended));
}

function startAfterSameKey(
  { execution, ended }: ScheduledCall,
  lastByKey: Map<string, Promise<unknown>>,
): void {
  const key = getConcurrencyKey(execution.call);
  const previous = key === undefined ? undefined : lastByKey.get(key);
  if (key !== undefined) lastByKey.set(key, ended);
  if (previous) void previous.then(() => execution.start());
  else execution.start();
}

/** Returns the concurrency key of a call; a key function that throws counts as no key. */
function getConcurrencyKey({ tool, arguments: args }: ReadyCall): string | undefined {
  try {
    const key: unknown = tool.concurrencyKey?.(cloneJson(args));
    refusePromise(key, "concurrencyKey");
    return key === undefined ? undefined : String(key);
  } catch {
    return undefined;
  }
}
