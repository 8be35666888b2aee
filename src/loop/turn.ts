/**
 * Runs one turn: appends the input, calls the model, runs its tool calls, and determines the next step.
 *
 * @module
 */

import type { TurnEndReason } from "../core/event.ts";
import type { AgentMessage } from "../core/message.ts";
import type { StoppedBy } from "../core/policy.ts";
import type { TurnInput } from "./message_source.ts";
import { callModel, type ModelReply } from "./model_call.ts";
import { runPostTurn, runPreTurn } from "./policy_slots.ts";
import type { RunProgress } from "./run_progress.ts";
import type { RunServices } from "./run_services.ts";
import { type BatchOutcome, runToolBatch } from "./tool_batch.ts";
import { createPolicyContext, type TurnContext } from "./turn_context.ts";

/** The step that follows a turn. */
export type NextStep =
  /** Another turn, to send the tool results. */
  | { readonly type: "next_turn"; readonly injected: readonly AgentMessage[] }
  /** Another turn if messages are queued or injected, otherwise the end of the run. */
  | { readonly type: "complete"; readonly injected: readonly AgentMessage[] }
  | { readonly type: "end" };

/** The result of a turn. */
export interface TurnResult {
  /** The progress of the run. */
  readonly progress: RunProgress;
  /** The step that follows. */
  readonly next: NextStep;
}

const EMPTY_BATCH: BatchOutcome = { toolResults: [], interrupted: false, injected: [] };

/** Runs one turn. */
export async function runTurn(
  run: RunServices,
  progress: RunProgress,
  input: TurnInput,
): Promise<TurnResult> {
  const settings = run.getSettings();
  const admission = await admitTurn({ run, settings, progress }, input);
  if (admission.type === "refused") return endRun({ ...progress, stoppedBy: admission.stoppedBy });
  const started = { ...progress, turn: progress.turn + 1 };
  await run.events.emit({ type: "turn_start", turn: started.turn });
  const queued = takeQueuedMessages(run, input);
  await run.history.emitRepaired([...input.messages, ...queued, ...admission.injected]);
  const reply = await callModel({ run, settings, progress: started });
  const turn = { run, settings, progress: reply.progress };
  const batch = reply.calls.length > 0 ? await runToolBatch(turn, reply.calls) : EMPTY_BATCH;
  return await finishTurn(turn, reply, batch);
}

type TurnAdmission =
  | { readonly type: "admitted"; readonly injected: readonly AgentMessage[] }
  | { readonly type: "refused"; readonly stoppedBy: StoppedBy };

/** Checks the turn limit and the `preTurn` policies. */
async function admitTurn(turn: TurnContext, input: TurnInput): Promise<TurnAdmission> {
  const { run, progress } = turn;
  const { maxTurns, policies } = run.config;
  if (progress.turn >= maxTurns) {
    const reason = `The run reached its limit of ${maxTurns} turns`;
    return { type: "refused", stoppedBy: { policy: "max_turns", reason } };
  }
  if (policies.length === 0) return { type: "admitted", injected: [] };
  const queued = [...(input.queue?.peek() ?? []), ...run.steering.peek()];
  const newMessages = [...input.messages, ...queued];
  const verdict = await runPreTurn(run, { ...createPolicyContext(turn), newMessages });
  if (verdict.stoppedBy) return { type: "refused", stoppedBy: verdict.stoppedBy };
  return { type: "admitted", injected: verdict.injected };
}

/** Takes the queued messages for a turn; none if the run was aborted, so that they stay queued. */
function takeQueuedMessages(run: RunServices, { queue }: TurnInput): readonly AgentMessage[] {
  if (run.cancellation.aborted) return [];
  return [...(queue?.take() ?? []), ...run.steering.take()];
}

async function finishTurn(
  turn: TurnContext,
  reply: ModelReply,
  batch: BatchOutcome,
): Promise<TurnResult> {
  const { run, progress } = turn;
  const { message, error } = reply;
  const { toolResults } = batch;
  const context = { ...createPolicyContext(turn), message, toolResults };
  const verdict = await runPostTurn(run, context);
  const reason = getTurnEndReason(run, reply, batch);
  await run.events.emit({ type: "turn_end", turn: progress.turn, message, toolResults, reason });
  const stoppedBy = reply.stoppedBy ?? batch.stoppedBy ?? verdict.stoppedBy;
  const finished: RunProgress = {
    ...progress,
    stopReason: message.stopReason,
    ...(reason === "error" && error && { error }),
    ...(stoppedBy && { stoppedBy }),
  };
  if (stoppedBy) return endRun(finished);
  const injected = [...batch.injected, ...verdict.injected];
  switch (reason) {
    case "error":
    case "aborted":
      return endRun(finished);
    case "complete":
      return { progress: finished, next: { type: "complete", injected } };
    case "tools_executed":
    case "steering_interrupt":
      return { progress: finished, next: { type: "next_turn", injected } };
  }
}

function getTurnEndReason(
  run: RunServices,
  { message }: ModelReply,
  batch: BatchOutcome,
): TurnEndReason {
  if (message.stopReason === "error") return "error";
  if (message.stopReason === "aborted" || run.cancellation.aborted) return "aborted";
  if (batch.toolResults.length === 0) return "complete";
  return batch.interrupted ? "steering_interrupt" : "tools_executed";
}

function endRun(progress: RunProgress): TurnResult {
  return { progress, next: { type: "end" } };
}
