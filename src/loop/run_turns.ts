/**
 * Runs the turns of a run. This code and all that it calls is loaded by the first run, so that a page starts sooner.
 *
 * @module
 */

import type { PendingBatch } from "../core/approval/approval.ts";
import type { RunOutcome } from "../core/events/event.ts";
import type { StoppedBy } from "../core/events/stopped_by.ts";
import { cloneJson } from "../core/json/json.ts";
import { copyMessage } from "../core/messages/copy_message.ts";
import type { HistoryRepair } from "../core/messages/history.ts";
import { realSleep } from "../core/ports/ports.ts";
import type { Cancellation } from "./callbacks/cancellation.ts";
import { runPostLoop } from "./run/policy_slots.ts";
import { getPrices } from "./run/price.ts";
import { createProgress, pickLateSpending, type RunProgress } from "./run/run_progress.ts";
import type { RunServices } from "./run/run_services.ts";
import { createPolicyContext } from "./run/turn_context.ts";
import type { TurnInput } from "./run/turn_input.ts";
import { TurnMonitor } from "./run/turn_monitor.ts";
import { addDeclinedResults } from "./tool_calls/decline_batch.ts";
import { runTurn } from "./turn.ts";

export { inheritRules } from "./inherit_rules.ts";
export { RunServices } from "./run/run_services.ts";

/** The input of the first turn, and the state of the history that it continues. */
export interface FirstTurn {
  /** The messages of the first turn. */
  readonly input: TurnInput;
  /** Repairs of the history, reported as a `warning` event. Default: none. */
  readonly repairs?: readonly HistoryRepair[];
  /** Whether the previous run over this history ended in a context overflow. Default: `false`. */
  readonly overflowed?: boolean;
}

/**
 * Turns after which timers and signals of the application are handled: a model and tools in memory never wait for anything
 * else, so that no timer could abort an endless run.
 */
const TURNS_BEFORE_TIMERS = 1_000;

/** Runs turns until the run is complete or ended, and ends its background work. */
export async function runTurns(run: RunServices, start: FirstTurn): Promise<RunProgress> {
  const progress = await runUntilEnd(run, start);
  // The work continues while a person decides about other calls.
  if (progress.pending && run.background.isPending) await untilBackgroundEnded(run, progress);
  queueReports(run);
  await run.background.close();
  return run.lateSpending.addTo(progress);
}

/**
 * Queues the messages of background work that has ended after the last turn, for the next run. Those of a run that was
 * aborted are dropped, since `reset()` may have begun another conversation.
 */
function queueReports({ background, cancellation, followUp, config }: RunServices): void {
  if (cancellation.aborted) return;
  for (const message of background.take()) {
    followUp?.requeue?.({ ...message, id: message.id ?? config.newId("message") });
  }
}

/** Runs turns while one has a next step, messages are queued, or background work has not ended. */
async function runUntilEnd(run: RunServices, start: FirstTurn): Promise<RunProgress> {
  await warnAboutRepairs(run, start.repairs);
  let progress = createProgress(start.overflowed ?? false);
  let input: TurnInput | undefined = addDeclinedResults(run, start.input);
  await run.steering.poll();
  while (input) {
    const result = await runTurn(run, progress, input);
    const isStarted = result.progress.turn > progress.turn;
    progress = run.lateSpending.addTo(result.progress);
    const { next } = result;
    if (next.type === "end") return progress;
    const polled = run.steering.poll();
    if (polled) await polled;
    if (!isStarted || progress.turn % TURNS_BEFORE_TIMERS === 0) await realSleep(0);
    const isIdle = next.type === "complete" && next.injected.length === 0 &&
      run.steering.peek().length === 0;
    // The run is not complete while it waits for background work, so that an abort then has an effect.
    const hasWaited = isIdle && run.background.isPending;
    const arrival = isIdle ? await nextInput(run, progress) : { messages: next.injected };
    if (arrival && "policy" in arrival) return { ...progress, stoppedBy: arrival };
    input = arrival;
    if ((input || hasWaited) && run.cancellation.aborted) {
      return { ...progress, stopReason: "aborted" };
    }
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

/**
 * Returns the input that continues an idle run, as soon as there is any; `undefined` if the run is complete, and the policy
 * that stops it while it waits for background work.
 */
async function nextInput(
  run: RunServices,
  progress: RunProgress,
): Promise<TurnInput | StoppedBy | undefined> {
  const input = await takeInput(run);
  if (input || !isWaiting(run)) return input;
  const wait = watchWait(run, progress);
  try {
    while (true) {
      await untilArrival(run, wait.cancellation);
      if (wait.stoppedBy) return wait.stoppedBy;
      const input = await takeInput(run);
      if (input || !isWaiting(run)) return input;
    }
  } finally {
    wait.end();
  }
}

/** Returns what has arrived for an idle run; `undefined` if there is nothing. */
async function takeInput(run: RunServices): Promise<TurnInput | undefined> {
  const followUp = await pollFollowUp(run);
  if (followUp) return followUp;
  const messages = run.background.take();
  return messages.length > 0 || run.steering.peek().length > 0 ? { messages } : undefined;
}

function isWaiting({ background, cancellation }: RunServices): boolean {
  return background.isPending && !cancellation.aborted;
}

/** Resolves when the background work of a run that has no further turn has ended, or a policy ends the wait. */
async function untilBackgroundEnded(run: RunServices, progress: RunProgress): Promise<void> {
  const wait = watchWait(run, progress);
  await run.background.untilEnded(wait.cancellation);
  wait.end();
}

/** A wait for background work. */
interface WatchedWait {
  /** Is aborted with the run, and by the policy that stops it. */
  readonly cancellation: Cancellation;
  readonly stoppedBy: StoppedBy | undefined;
  /** Ends the calls of the policies. */
  readonly end: () => void;
}

/** Calls the policies that limit the duration of a run while it waits for background work. */
function watchWait(run: RunServices, progress: RunProgress): WatchedWait {
  const cancellation = run.cancellation.child();
  const isWatched = run.config.policies.some(({ onDelta }) => onDelta);
  const { model } = run.getSettings();
  const prices = isWatched ? getPrices(run, run.config.streamFn) : undefined;
  const monitor = isWatched
    ? new TurnMonitor(run, cancellation, { model, prices, progress })
    : undefined;
  return {
    cancellation,
    get stoppedBy() {
      return monitor?.stoppedBy;
    },
    end() {
      monitor?.stop();
      cancellation.dispose();
    },
  };
}

/** Resolves when background work ends, a message is queued, or the run or the wait is aborted. */
async function untilArrival(
  { background, steering, followUp }: RunServices,
  cancellation: Cancellation,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const unsubscribe = [steering, followUp].map((queue) => queue?.onArrival?.(end));
    function end(): void {
      for (const stop of unsubscribe) stop?.();
      resolve();
    }
    void background.nextEnd(cancellation).then(end);
  });
}

/** Returns the input of a turn from the queue of follow-ups; `undefined` if it is empty. */
async function pollFollowUp({ followUp }: RunServices): Promise<TurnInput | undefined> {
  await followUp?.poll?.();
  return followUp && followUp.peek().length > 0 ? { messages: [], queue: followUp } : undefined;
}

/** Calls the `postLoop` policies and emits `agent_end`. */
export async function finishRun(run: RunServices, progress: RunProgress): Promise<RunOutcome> {
  const outcome = createOutcome(run, progress);
  const { stopReason, error } = outcome;
  const added = { stopReason, ...(error && { error }) };
  const settings = run.getSettings();
  await runPostLoop(run, createPolicyContext({ run, settings, progress }, added));
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
    ...pickLateSpending(progress),
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

function pickPending(
  { pendingApprovals, decidedCalls, interruptedCalls }: PendingBatch,
): Partial<PendingBatch> {
  return {
    ...(pendingApprovals.length > 0 && { pendingApprovals }),
    ...(decidedCalls && { decidedCalls }),
    ...(interruptedCalls && { interruptedCalls }),
  };
}
