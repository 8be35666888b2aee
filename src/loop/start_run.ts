/**
 * Runs turns from the start to the end of a run.
 *
 * @module
 */

import type { PendingBatch } from "../core/approval.ts";
import type { AgentContext } from "../core/context.ts";
import { copyMessage } from "../core/copy_message.ts";
import type { AgentEvent, RunOutcome } from "../core/event.ts";
import type { HistoryRepair } from "../core/history.ts";
import { cloneJson } from "../core/json.ts";
import type { AgentMessage } from "../core/message.ts";
import { Cancellation } from "./cancellation.ts";
import { type AgentLoopConfig, resolveConfig } from "./config.ts";
import { EventChannel } from "./event_channel.ts";
import { EventPipe } from "./event_pipe.ts";
import type { TurnInput } from "./message_source.ts";
import { runPostLoop } from "./policy_slots.ts";
import { createProgress, type RunProgress } from "./run_progress.ts";
import { RunServices } from "./run_services.ts";
import type { NextStep } from "./turn.ts";
import { createPolicyContext } from "./turn_context.ts";

/** Options for `startRun()`. */
export interface StartRunOptions {
  /** Aborts the run. */
  readonly signal?: AbortSignal;
  /** The messages of the first turn. */
  readonly input: TurnInput;
  /** The system prompt, tools and history; the history must be valid. */
  readonly context: AgentContext;
  /** Repairs of the history, reported as a `warning` event. Default: none. */
  readonly repairs?: readonly HistoryRepair[];
  /** The configuration. */
  readonly config: AgentLoopConfig;
  /** Whether the previous run over this history ended in a context overflow. Default: `false`. */
  readonly overflowed?: boolean;
  /** Ids of calls of the last reply that wait for an approval. Default: none. */
  readonly pendingCalls?: ReadonlySet<string>;
  /** Models whose missing price has been reported; the run adds to it. Default: empty. */
  readonly unpricedModels?: Set<string>;
  /** The run starts when this promise resolves, and fails when it rejects. */
  readonly after?: Promise<void>;
  /**
   * Called with every event before the stream gets it; a returned promise is awaited before the next event. Must not
   * throw or reject, and must await promises of the application only through `withGrace`.
   */
  readonly observe?: (event: AgentEvent, observed: ObservedRun) => Promise<void> | undefined;
  /** Called when the run is over, before the stream closes, with its progress; `undefined` if it did not start. */
  readonly onSettled?: (progress: RunProgress | undefined) => void;
}

/** The part of a run that an observer needs. */
export interface ObservedRun {
  /** The history of the run, including messages whose events are not delivered yet. */
  readonly messages: readonly AgentMessage[];
  /** Awaits a promise; rejects if it has not settled 100 ms after an abort. */
  readonly withGrace: WithGrace;
}

/** Awaits a promise; rejects if it has not settled 100 ms after an abort. */
export type WithGrace = (work: Promise<void>) => Promise<void>;

/** A run that was started. */
export interface StartedRun {
  /** Stream of the events of the run. */
  readonly stream: ReadableStream<AgentEvent>;
  /** Discards the events of the stream, which then only ends. */
  readonly discard: () => void;
  /** Aborts the run. */
  readonly abort: (reason?: unknown) => void;
  /** Delivers the events of the run, and those that are emitted after its end. */
  readonly pipe: EventPipe;
  /** Resolves when the run is over. Never rejects. */
  readonly settled: Promise<void>;
  /** Resolves to the summary of the run when it is over; rejects if the run did not start. */
  readonly summary: Promise<RunSummary>;
}

/** The outcome of a run, with its id and length. The messages are those of the history, which must not be changed. */
export interface RunSummary extends RunOutcome {
  /** Id of the run. */
  readonly runId: string;
  /** Number of turns. */
  readonly turns: number;
}

/** Starts a run. */
export function startRun(start: StartRunOptions): StartedRun {
  const config = resolveConfig(start.config);
  const cancellation = new Cancellation({ signal: start.signal, sleep: config.sleep });
  const channel: EventChannel = new EventChannel({
    onCancel: (reason) => {
      cancellation.abort(reason);
      return settled;
    },
  });
  cancellation.onAbort(() => channel.release());
  const withGrace: WithGrace = (work) => cancellation.withGrace(work);
  const { observe, context, unpricedModels = new Set(), pendingCalls = new Set() } = start;
  const pipe: EventPipe = new EventPipe({
    channel,
    observe: observe && ((event) => observe(event, observed)),
  });
  const run = new RunServices({
    context,
    config,
    pipe,
    cancellation,
    unpricedModels,
    pendingCalls,
  });
  const observed: ObservedRun = { messages: run.history.messages, withGrace };
  const summary = executeRun(run, start, { pipe, channel });
  const settled = summary.then(() => {}, () => {});
  return {
    stream: channel.stream(),
    discard: () => channel.discard(),
    abort: (reason) => cancellation.abort(reason),
    pipe,
    settled,
    summary,
  };
}

interface RunOutput {
  readonly pipe: EventPipe;
  readonly channel: EventChannel;
}

async function executeRun(
  run: RunServices,
  start: StartRunOptions,
  { pipe, channel }: RunOutput,
): Promise<RunSummary> {
  let progress: RunProgress | undefined;
  const settle = (): void => {
    pipe.abandon();
    start.onSettled?.(progress);
    run.dispose();
  };
  try {
    await start.after;
    await pipe.begin({ type: "agent_start", runId: run.runId });
    await warnAboutRepairs(run, start.repairs);
    progress = await runTurns(run, start);
    const outcome = await finishRun(run, progress);
    settle();
    channel.close();
    return { ...outcome, runId: run.runId, turns: progress.turn };
  } catch (error) {
    settle();
    channel.fail(error);
    throw error;
  }
}

/** Runs turns until the run is complete or ended. Their code is loaded by the first run, so that a page starts sooner. */
async function runTurns(run: RunServices, start: StartRunOptions): Promise<RunProgress> {
  const { runTurn } = await import("./turn.ts");
  let progress = createProgress(start.overflowed ?? false);
  let input: TurnInput | undefined = start.input;
  if (!run.cancellation.aborted) await run.steering.poll();
  while (input) {
    const result = await runTurn(run, progress, input);
    progress = result.progress;
    input = await getNextInput(run, result.next);
    if (input && run.cancellation.aborted) return { ...progress, stopReason: "aborted" };
  }
  return progress;
}

async function warnAboutRepairs(
  run: RunServices,
  repairs: readonly HistoryRepair[] = [],
): Promise<void> {
  if (repairs.length === 0) return;
  await run.events.warn("history_repaired", "The history was invalid and was repaired", repairs);
}

/** Returns the input of the next turn; `undefined` if the run is complete. */
async function getNextInput(run: RunServices, next: NextStep): Promise<TurnInput | undefined> {
  if (next.type === "end") return undefined;
  const messages = next.injected;
  const polled = run.steering.poll();
  if (polled) await polled;
  if (next.type === "next_turn" || messages.length > 0) return { messages };
  if (run.steering.peek().length > 0) return { messages };
  const { followUp } = run;
  const followUpPolled = followUp?.poll?.();
  if (followUpPolled) await followUpPolled;
  return followUp && followUp.peek().length > 0 ? { messages, queue: followUp } : undefined;
}

async function finishRun(run: RunServices, progress: RunProgress): Promise<RunOutcome> {
  const outcome = createOutcome(run, progress);
  const { stopReason, error } = outcome;
  const context = createPolicyContext({ run, settings: run.getSettings(), progress });
  await runPostLoop(run, { ...context, stopReason, ...(error && { error }) });
  await run.events.emit({ type: "agent_end", ...copyOutcome(outcome) });
  return outcome;
}

function createOutcome(run: RunServices, progress: RunProgress): RunOutcome {
  const { usage, cost, error, stoppedBy, pending } = progress;
  const { aborted, reason } = run.cancellation;
  const stopReason = error ? "error" : progress.stopReason;
  // An abort after the last turn was complete had no effect.
  const isIncomplete = stopReason === "aborted" || stopReason === "error";
  return {
    messages: run.history.newMessages,
    stopReason,
    usage,
    cost,
    ...(error && { error }),
    ...(stoppedBy && { stoppedBy }),
    ...(aborted && isIncomplete && { abortReason: reason }),
    ...(pending && pickPending(pending)),
  };
}

/** Returns a copy for the last event, so that a listener changes neither the history nor the result. */
function copyOutcome(outcome: RunOutcome): RunOutcome {
  const { messages, error: _error, abortReason: _abortReason, ...data } = outcome;
  return {
    ...outcome,
    ...cloneJson(data),
    messages: messages.map((message) => copyMessage(message)),
  };
}

function pickPending({ pendingApprovals, decidedCalls }: PendingBatch): PendingBatch {
  return { pendingApprovals, ...(decidedCalls && { decidedCalls }) };
}
