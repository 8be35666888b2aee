/**
 * Runs the turns of a run. This code and all that it calls is loaded by the first run, so that a page starts sooner.
 *
 * @module
 */

import type { PendingBatch } from "../core/approval/approval.ts";
import type { RunOutcome } from "../core/events/event.ts";
import { cloneJson } from "../core/json/json.ts";
import { copyMessage } from "../core/messages/copy_message.ts";
import type { HistoryRepair } from "../core/messages/history.ts";
import type { AgentMessage } from "../core/messages/message.ts";
import { realSleep } from "../core/ports/ports.ts";
import { type NextInput, nextInput, untilBackgroundEnded } from "./run/next_input.ts";
import { runPostLoop } from "./run/policy_slots.ts";
import { createProgress, pickLateSpending, type RunProgress } from "./run/run_progress.ts";
import type { RunServices } from "./run/run_services.ts";
import { createPolicyContext } from "./run/turn_context.ts";
import type { TurnInput } from "./run/turn_input.ts";
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
  queueReports(run);
  await reportUntaken(run);
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
  const queue = start.input.queue && run.followUp;
  let input: TurnInput | undefined = addDeclinedResults(run, {
    ...start.input,
    ...(queue && { queue }),
  });
  let waiting = 0;
  // Nothing can follow calls that may wait for approvals again.
  if (!input.batch) await run.steering.poll();
  while (input) {
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
    const isIdle = next.type === "complete" && next.injected.length === 0 &&
      run.steering.peek().length === 0;
    // The run is not complete while it waits for background work, so that an abort then has an effect.
    const hasWaited = isIdle && run.background.isPending;
    const following = isIdle ? await nextInput(run, progress) : toInput(next.injected);
    if (following.type === "stopped") return { ...progress, stoppedBy: following.stoppedBy };
    input = following.type === "input" ? following.input : undefined;
    if ((input || hasWaited) && run.cancellation.aborted) {
      return { ...progress, stopReason: "aborted" };
    }
  }
  return progress;
}

/**
 * Appends the messages of functions that no turn has taken before the run was stopped, since nothing else has them; unless
 * policies check the messages of the run, which would not see these in the next one. A policy that has stopped the run before
 * its first turn may have kept others from their check.
 */
async function appendUntaken(run: RunServices): Promise<void> {
  const count = run.config.policies.filter(({ preTurn }) => preTurn).length;
  const messages = run.areMessagesChecked ?? count > 1 ? [] : takeUntaken(run);
  if (messages.length > 0) await run.history.emitRepaired(messages);
}

/** Emits a warning with the messages of functions that no turn has taken. */
async function reportUntaken(run: RunServices): Promise<void> {
  const messages = takeUntaken(run);
  if (messages.length === 0) return;
  const text = "The run ended before a turn could take messages of a queue that is a function";
  await run.events.warn("messages_not_delivered", text, cloneJson(messages));
}

/** Removes and returns the messages of functions; queues keep theirs for the next run. */
function takeUntaken({ config, steering, followUp }: RunServices): readonly AgentMessage[] {
  return [
    ...(typeof config.followUp === "function" ? followUp?.take() ?? [] : []),
    ...(typeof config.steering === "function" ? steering.take() : []),
  ];
}

async function warnAboutQueue({ events }: RunServices): Promise<void> {
  const text =
    `The run ends without the messages of a queue, which has changed during ${MAX_WAITING_TURNS} checks by the policies: ` +
    "let its peek() and take() return only those of the messages that they are passed";
  await events.warn("message_source_failed", text);
}

function toInput(messages: readonly AgentMessage[]): NextInput {
  return { type: "input", input: { messages } };
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
