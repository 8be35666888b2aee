/**
 * One turn: say what waits, ask the model, run its tools, and tell what follows.
 *
 * @module
 */

import type { TurnEndReason } from "../core/event.ts";
import type { AgentMessage, ToolResultMessage } from "../core/message.ts";
import type { StoppedBy } from "../core/policy.ts";
import type { TurnSettings } from "./config.ts";
import type { TurnInput } from "./message_source.ts";
import { callModel, type ModelReply } from "./model_call.ts";
import { runPostTurn, runPreTurn } from "./policy_slots.ts";
import type { RunContext } from "./run_context.ts";
import { type BatchOutcome, runToolBatch } from "./tool_batch.ts";

/**
 * What follows a turn: another one because tools have answered, a stop unless something waits, or the end.
 */
export type TurnOutcome =
  | { readonly type: "next_turn"; readonly injected: readonly AgentMessage[] }
  | { readonly type: "complete"; readonly injected: readonly AgentMessage[] }
  | { readonly type: "end" };

const END: TurnOutcome = { type: "end" };

/** Takes one turn with the messages that come in. */
export async function runTurn(run: RunContext, incoming: TurnInput): Promise<TurnOutcome> {
  const settings = run.settings();
  const entry = await admitTurn(run, settings, incoming);
  if (entry.type === "refused") return stop(run, entry.stoppedBy);
  run.turn++;
  await run.emit({ type: "turn_start", turn: run.turn });
  await run.appendRepaired([
    ...incoming.messages,
    ...takeQueuedMessages(run, incoming),
    ...entry.injected,
  ]);
  const reply = await callModel(run, settings);
  const batch = reply.calls.length > 0
    ? await runToolBatch(run, settings, reply.calls)
    : EMPTY_BATCH;
  return await finishTurn(run, settings, { reply, batch });
}

/** What is queued stays queued when the run was aborted before the turn could take it. */
function takeQueuedMessages(run: RunContext, { queue }: TurnInput): readonly AgentMessage[] {
  if (run.cancellation.aborted) return [];
  return [...(queue?.take() ?? []), ...run.steering.take()];
}

const EMPTY_BATCH: BatchOutcome = { toolResults: [], interrupted: false, injected: [] };

type TurnAdmission =
  | { readonly type: "open"; readonly injected: readonly AgentMessage[] }
  | { readonly type: "refused"; readonly stoppedBy: StoppedBy };

/** Whether the turn may begin: within the limit, and past the policies. */
async function admitTurn(
  run: RunContext,
  { model }: TurnSettings,
  { messages, queue }: TurnInput,
): Promise<TurnAdmission> {
  const { maxTurns, policies } = run.config;
  if (run.turn >= maxTurns) {
    const reason = `The run reached its limit of ${maxTurns} turns`;
    return { type: "refused", stoppedBy: { policy: "max_turns", reason } };
  }
  if (policies.length === 0) return { type: "open", injected: [] };
  const newMessages = [...messages, ...(queue?.peek() ?? []), ...run.steering.peek()];
  const verdict = await runPreTurn(run, { ...run.policyContext(model), newMessages });
  if (verdict.stoppedBy) return { type: "refused", stoppedBy: verdict.stoppedBy };
  return { type: "open", injected: verdict.injected };
}

interface TurnRecord {
  readonly reply: ModelReply;
  readonly batch: BatchOutcome;
}

async function finishTurn(
  run: RunContext,
  settings: TurnSettings,
  { reply, batch }: TurnRecord,
): Promise<TurnOutcome> {
  const { message } = reply;
  const { toolResults } = batch;
  const verdict = await afterTurn(run, settings, { message, toolResults });
  const reason = getTurnEndReason(run, reply, batch);
  run.stopReason = message.stopReason;
  if (reason === "error") run.error = reply.error;
  await run.emit({ type: "turn_end", turn: run.turn, message, toolResults, reason });
  const stoppedBy = reply.stoppedBy ?? batch.stoppedBy ?? verdict.stoppedBy;
  if (stoppedBy) return stop(run, stoppedBy);
  const injected = [...batch.injected, ...verdict.injected];
  switch (reason) {
    case "error":
    case "aborted":
      return END;
    case "complete":
      return { type: "complete", injected };
    case "tools_executed":
    case "steering_interrupt":
      return { type: "next_turn", injected };
  }
}

function afterTurn(
  run: RunContext,
  { model }: TurnSettings,
  said: {
    readonly message: ModelReply["message"];
    readonly toolResults: readonly ToolResultMessage[];
  },
): ReturnType<typeof runPostTurn> {
  return runPostTurn(run, { ...run.policyContext(model), ...said });
}

function getTurnEndReason(
  run: RunContext,
  { message }: ModelReply,
  batch: BatchOutcome,
): TurnEndReason {
  if (message.stopReason === "error") return "error";
  if (message.stopReason === "aborted" || run.cancellation.aborted) return "aborted";
  if (batch.toolResults.length === 0) return "complete";
  return batch.interrupted ? "steering_interrupt" : "tools_executed";
}

function stop(run: RunContext, stoppedBy: StoppedBy): TurnOutcome {
  run.stoppedBy = stoppedBy;
  return END;
}
