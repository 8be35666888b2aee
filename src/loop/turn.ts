/**
 * Runs one turn: appends the input, calls the model, runs its tool calls, and determines the next step.
 *
 * @module
 */

import type { AgentError } from "../core/errors/errors.ts";
import type { TurnEndReason } from "../core/events/event.ts";
import type { StoppedBy } from "../core/events/stopped_by.ts";
import type { PreTurnContext } from "../core/hooks/policy.ts";
import { describeTurnLimit } from "../core/hooks/turn_limit.ts";
import { cloneJson } from "../core/json/json.ts";
import { copyMessage } from "../core/messages/copy_message.ts";
import type { AgentMessage, AssistantMessage } from "../core/messages/message.ts";
import { callModel, type ModelReply } from "./model_call/model_call.ts";
import type { SteeringCheck } from "./queues/steering.ts";
import { runPostTurn, runPreTurn, type SlotVerdict } from "./run/policy_slots.ts";
import { getPrices } from "./run/price.ts";
import type { ResumedBatch } from "./run/resumed_batch.ts";
import { addSpending, type RunProgress } from "./run/run_progress.ts";
import type { RunServices } from "./run/run_services.ts";
import { createPolicyContext, type TurnContext } from "./run/turn_context.ts";
import type { TurnInput } from "./run/turn_input.ts";
import { TurnMonitor } from "./run/turn_monitor.ts";
import {
  type BatchOutcome,
  NO_CALLS,
  resumeToolBatch,
  runToolBatch,
} from "./tool_calls/tool_batch.ts";

/** The step that follows a turn. */
export type NextStep =
  /** Another turn, to send the tool results. */
  | { readonly type: "next_turn"; readonly injected: readonly AgentMessage[] }
  /** Another turn if messages are queued or injected, otherwise the end of the run. */
  | { readonly type: "complete"; readonly injected: readonly AgentMessage[] }
  /** The end of the run after a failure, an abort, or with pending approvals. */
  | { readonly type: "end" }
  /** The end of the run because a policy has stopped it before or after a turn. */
  | { readonly type: "stopped" };

/** The result of a turn. */
export interface TurnResult {
  /** The progress of the run. */
  readonly progress: RunProgress;
  /** The step that follows. */
  readonly next: NextStep;
}

/** Runs one turn. */
export async function runTurn(
  run: RunServices,
  progress: RunProgress,
  input: TurnInput,
): Promise<TurnResult> {
  const admission = admitTurn(run, progress) ?? await applyPreTurn(run, progress, input);
  if (admission.type === "refused") {
    await run.history.emitRepaired(input.messages);
    const { stoppedBy } = admission;
    const stopped = { ...progress, stoppedBy, ...(input.batch && { pending: input.batch }) };
    return { progress: stopped, next: { type: "stopped" } };
  }
  if (hasNothingToSend(run, progress, input, admission) && admission.injected.length === 0) {
    return { progress, next: { type: "complete", injected: [] } };
  }
  const turn = createTurn(run, progress);
  const started = run.events.emit({ type: "turn_start", turn: turn.progress.turn });
  // Before listeners that take time, in which a message may be taken back.
  const queued = input.batch ? [] : takeQueuedMessages(run, input, admission);
  if (started) await started;
  const actions = input.batch
    ? await resumeBatch(turn, input.batch, admission.injected)
    : await appendAndReply(turn, [...input.messages, ...queued, ...admission.injected]);
  const verdict = run.config.policies.some(({ postTurn }) => postTurn)
    ? await applyPostTurn(turn, actions)
    : NO_VERDICT;
  const reason = getTurnEndReason(turn, actions);
  const ended = emitTurnEnd(turn, actions, reason);
  if (ended) await ended;
  const result = finishTurn(turn, actions, { reason, verdict });
  turn.monitor?.stop();
  if (turn.cancellation !== run.cancellation) turn.cancellation.dispose();
  return result;
}

/** A turn that the policies admit. */
interface AdmittedTurn extends SteeringCheck {
  readonly type: "admitted";
  readonly injected: readonly AgentMessage[];
}

type TurnAdmission =
  | AdmittedTurn
  | { readonly type: "refused"; readonly stoppedBy: StoppedBy };

/** Checks the turn limit; returns `undefined` if the policies decide. */
function admitTurn({ config }: RunServices, { turn }: RunProgress): TurnAdmission | undefined {
  const { maxTurns, policies } = config;
  if (turn < maxTurns) {
    const isChecked = policies.some(({ preTurn }) => preTurn);
    return isChecked ? undefined : { type: "admitted", injected: [] };
  }
  return {
    type: "refused",
    stoppedBy: { policy: "max_turns", reason: describeTurnLimit(maxTurns) },
  };
}

async function applyPreTurn(
  run: RunServices,
  progress: RunProgress,
  input: TurnInput,
): Promise<TurnAdmission> {
  const { arrivals } = run.steering;
  const queued = input.batch
    ? []
    : [...(input.queue?.peek() ?? []), ...run.steering.peekUnchecked()];
  const newMessages = run.history.copyAll([...input.messages, ...queued]);
  const settings = run.getSettings();
  let checked: ReadonlySet<AgentMessage> | undefined;
  const context = Object.defineProperty(
    createPolicyContext({ run, settings, progress }),
    "newMessages",
    {
      enumerable: true,
      get() {
        checked ??= new Set(queued);
        run.areMessagesChecked = true;
        return newMessages;
      },
    },
  );
  // The property completes the type.
  const { stoppedBy, injected } = await runPreTurn(run, context as PreTurnContext);
  if (stoppedBy) return { type: "refused", stoppedBy };
  run.areMessagesChecked ??= false;
  return { type: "admitted", injected, ...(checked && { checked, arrivals }) };
}

/**
 * Whether the messages for which a turn was due have been taken back, or wait for their check, so that a reply would follow
 * a complete reply, or nothing.
 */
function hasNothingToSend(
  { history, steering }: RunServices,
  { turn }: RunProgress,
  { messages, queue, batch }: TurnInput,
  { checked }: AdmittedTurn,
): boolean {
  if (batch || messages.length > 0) return false;
  if ((queue?.peek(checked).length ?? 0) + steering.peek(checked).length > 0) return false;
  const last = history.messages.findLast(({ role }) => role !== "custom");
  if (last?.role !== "assistant") return !last;
  // The first turn of a run may continue a reply that was cut off.
  return turn > 0 || last.stopReason === "stop" || last.stopReason === "tool_use";
}

/** Creates the context of a turn, with the settings as the `preTurn` policies leave them. */
function createTurn(run: RunServices, previous: RunProgress): TurnContext {
  const settings = run.getSettings();
  const progress = { ...previous, turn: previous.turn + 1 };
  if (!run.config.policies.some(({ onDelta }) => onDelta)) {
    return { run, settings, progress, cancellation: run.cancellation };
  }
  const cancellation = run.cancellation.child();
  const { model } = settings;
  const prices = getPrices(run, run.config.streamFn);
  const monitor = new TurnMonitor(run, cancellation, { model, prices, progress });
  return { run, settings, progress, cancellation, monitor };
}

/** Takes the queued messages for a turn; none if the run was aborted, so that they stay queued. */
function takeQueuedMessages(
  { cancellation, steering }: RunServices,
  { queue }: TurnInput,
  admission: AdmittedTurn,
): readonly AgentMessage[] {
  if (cancellation.aborted) return [];
  return [...(queue?.take(admission.checked) ?? []), ...steering.take(admission)];
}

/** The actions of a turn, before its `postTurn` policies. */
interface TurnActions {
  /** The reply. */
  readonly message: AssistantMessage;
  /** A copy of the reply, for events. Default: none yet. */
  readonly copy?: AssistantMessage;
  /** The progress of the run. */
  readonly progress: RunProgress;
  /** The error of the reply, if it failed or was aborted. */
  readonly error?: AgentError;
  /** The policy that stopped the reply, if one did. */
  readonly stoppedBy?: StoppedBy;
  /** The tool calls that ran. */
  readonly batch: BatchOutcome;
}

/** Appends the messages of the turn, calls the model and runs the tool calls of its reply. */
async function appendAndReply(
  turn: TurnContext,
  messages: readonly AgentMessage[],
): Promise<TurnActions> {
  const { run } = turn;
  if (messages.length > 0) await run.history.emitRepaired(messages);
  const reply = await callModel(turn);
  const batch = reply.calls.length === 0
    ? NO_CALLS
    : await runToolBatch(withReply(turn, reply), reply);
  return { ...reply, progress: batch.spending.reduce(addSpending, reply.progress), batch };
}

/** Returns the context of the tool calls of a reply; the tools are those that the reply may call. */
function withReply(turn: TurnContext, { progress, tools, hiddenTools }: ModelReply): TurnContext {
  return { ...turn, progress, settings: { ...turn.settings, tools, hiddenTools } };
}

/**
 * Runs the tool calls of the last reply, whose approvals were pending. Messages that are queued or injected are left to
 * the next turn, since the results must follow their calls.
 */
async function resumeBatch(
  turn: TurnContext,
  resumed: ResumedBatch,
  injected: readonly AgentMessage[],
): Promise<TurnActions> {
  const { progress, run } = turn;
  const message = run.history.getLastReply();
  const batch = await resumeToolBatch(turn, message, resumed);
  return {
    message,
    progress: batch.spending.reduce(addSpending, progress),
    batch: { ...batch, injected: [...injected, ...batch.injected] },
  };
}

const NO_VERDICT: SlotVerdict = { injected: [] };

function applyPostTurn(
  turn: TurnContext,
  { message, progress, batch: { toolResults } }: TurnActions,
): Promise<SlotVerdict> {
  const { history } = turn.run;
  const context = createPolicyContext({ ...turn, progress }, {
    message: history.copy(message),
    toolResults: history.copyAll(toolResults),
  });
  return runPostTurn(turn.run, context);
}

/** Emits the end of a turn; returns a promise if the caller should wait. */
function emitTurnEnd(
  { run, progress: { turn } }: TurnContext,
  { message, copy = copyMessage(message), batch: { copies, pending } }: TurnActions,
  reason: TurnEndReason,
): Promise<void> | undefined {
  return run.events.emit({
    type: "turn_end",
    turn,
    message: copy,
    toolResults: [...copies],
    reason,
    ...cloneJson(pending),
  });
}

interface TurnEnd {
  readonly reason: TurnEndReason;
  readonly verdict: SlotVerdict;
}

function finishTurn(
  { run, monitor }: TurnContext,
  actions: TurnActions,
  { reason, verdict }: TurnEnd,
): TurnResult {
  const { message, progress, batch } = actions;
  const error = batch.error ?? actions.error;
  const stoppedBy = actions.stoppedBy ?? batch.stoppedBy ?? monitor?.stoppedBy ?? verdict.stoppedBy;
  const isAborted = reason === "aborted" && run.cancellation.aborted;
  const finished: RunProgress = {
    ...progress,
    stopReason: isAborted ? "aborted" : message.stopReason,
    ...(reason === "error" && error && { error }),
    ...(stoppedBy && { stoppedBy }),
    ...(batch.pending && { pending: batch.pending }),
  };
  const injected = [...batch.injected, ...verdict.injected];
  return { progress: finished, next: getNextStep(reason, injected, stoppedBy !== undefined) };
}

function getNextStep(
  reason: TurnEndReason,
  injected: readonly AgentMessage[],
  isStopped: boolean,
): NextStep {
  switch (reason) {
    case "error":
    case "aborted":
    case "approval_pending":
      return { type: "end" };
    case "complete":
      return isStopped ? { type: "stopped" } : { type: "complete", injected };
    case "tools_executed":
    case "steering_interrupt":
      return isStopped ? { type: "stopped" } : { type: "next_turn", injected };
  }
}

function getTurnEndReason(
  { cancellation }: TurnContext,
  { message, batch }: TurnActions,
): TurnEndReason {
  if (message.stopReason === "error" || batch.error) return "error";
  if (batch.pending) return "approval_pending";
  if (message.stopReason === "aborted" || cancellation.aborted) return "aborted";
  if (batch.toolResults.length === 0) return "complete";
  return batch.interrupted ? "steering_interrupt" : "tools_executed";
}
