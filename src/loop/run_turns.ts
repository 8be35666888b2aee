/**
 * Runs the turns of a run. This code and all that it calls is loaded by the first run, so that a page starts sooner.
 *
 * @module
 */

import type { RunOutcome } from "../core/events/event.ts";
import type { HistoryRepair } from "../core/messages/history.ts";
import { realSleep } from "../core/ports/ports.ts";
import { type NextInput, nextInput, untilBackgroundEnded } from "./run/next_input.ts";
import { runPostLoop } from "./run/policy_slots.ts";
import { copyOutcome, createOutcome } from "./run/run_outcome.ts";
import { createProgress, type RunProgress } from "./run/run_progress.ts";
import type { RunServices } from "./run/run_services.ts";
import { createPolicyContext } from "./run/turn_context.ts";
import type { TurnInput } from "./run/turn_input.ts";
import { appendUntaken, reportUntaken } from "./run/untaken_messages.ts";
import { addDeclinedResults } from "./tool_calls/decline_batch.ts";
import { type NextStep, runTurn } from "./turn.ts";

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

/**
 * Turns in a row that do not start, since their messages wait for the policies. A queue may always have others when the
 * policies have read those of a turn, so that the run would never end.
 */
const MAX_WAITING_TURNS = 100;

/** Runs turns until the run is complete or ended, and ends its background work. */
export async function runTurns(run: RunServices, start: FirstTurn): Promise<RunProgress> {
  let progress = await runUntilEnd(run, start);
  // The work continues while a person decides about other calls.
  if (progress.pending && run.background.isPending) {
    progress = await untilBackgroundEnded(run, progress);
  }
  queueBackgroundMessages(run);
  await reportUntaken(run);
  await run.background.close();
  return run.lateSpending.addTo(progress);
}

/**
 * Queues the messages of background work that has ended after the last turn, for the next run. Those of a run that was
 * aborted are dropped, since `reset()` may have begun another conversation.
 */
function queueBackgroundMessages(
  { background, cancellation, followUp, config }: RunServices,
): void {
  if (cancellation.aborted) return;
  for (const message of background.take()) {
    followUp?.requeue?.({ ...message, id: message.id ?? config.newId("message") });
  }
}

/** Runs turns while one has a next step, messages are queued, or background work has not ended. */
async function runUntilEnd(run: RunServices, start: FirstTurn): Promise<RunProgress> {
  await warnAboutRepairs(run, start.repairs);
  let progress = createProgress(start.overflowed ?? false);
  let input = createFirstInput(run, start.input);
  let waiting = 0;
  // Nothing can follow calls that may wait for approvals again.
  if (!input.batch) await run.steering.poll();
  while (true) {
    const result = await runTurn(run, progress, input);
    const isStarted = result.progress.turn > progress.turn;
    progress = run.lateSpending.addTo(result.progress);
    const { next } = result;
    if (next.type === "end") return progress;
    if (next.type === "stopped") {
      await appendUntaken(run);
      return progress;
    }
    waiting = isStarted ? 0 : waiting + 1;
    if (waiting === MAX_WAITING_TURNS) {
      await warnAboutQueue(run);
      return progress;
    }
    const polled = run.steering.poll();
    if (polled) await polled;
    if (!isStarted || progress.turn % TURNS_BEFORE_TIMERS === 0) await realSleep(0);
    const following = await getFollowingInput(run, progress, next);
    if (following.type !== "input") return endProgress(progress, following);
    input = following.input;
  }
}

/** Returns the input of the first turn. */
function createFirstInput(run: RunServices, input: TurnInput): TurnInput {
  const queue = input.queue && run.followUp;
  return addDeclinedResults(run, { ...input, ...(queue && { queue }) });
}

/** The step after a turn that has not ended the run. */
type FollowingStep = Exclude<NextStep, { readonly type: "end" | "stopped" }>;

/** Returns the input of the turn after one that has not ended the run, as soon as there is any. */
async function getFollowingInput(
  run: RunServices,
  progress: RunProgress,
  { type, injected }: FollowingStep,
): Promise<NextInput> {
  const { steering, background, cancellation } = run;
  const isIdle = type === "complete" && injected.length === 0 && steering.peek().length === 0;
  // The run is not complete while it waits for background work, so that an abort then has an effect.
  const isWaiting = isIdle && background.isPending;
  const following: NextInput = isIdle
    ? await nextInput(run, progress)
    : { type: "input", input: { messages: injected } };
  const isAbortable = following.type === "input" || following.type === "complete" && isWaiting;
  return isAbortable && cancellation.aborted ? { type: "aborted" } : following;
}

/** Returns the progress of a run that no further turn follows. */
function endProgress(
  progress: RunProgress,
  following: Exclude<NextInput, { readonly type: "input" }>,
): RunProgress {
  switch (following.type) {
    case "complete":
      return progress;
    case "stopped":
      return { ...progress, stoppedBy: following.stoppedBy };
    case "aborted":
      return { ...progress, stopReason: "aborted" };
  }
}

async function warnAboutQueue({ events }: RunServices): Promise<void> {
  const text =
    `The run ends without the messages of a queue, which has changed during ${MAX_WAITING_TURNS} checks by the policies: ` +
    "let its peek() and take() return only those of the messages that they are passed";
  await events.warn("message_source_failed", text);
}

async function warnAboutRepairs(
  run: RunServices,
  repairs: readonly HistoryRepair[] = [],
): Promise<void> {
  if (repairs.length === 0) return;
  await run.events.warn("history_repaired", "The history was invalid and was repaired", repairs);
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
