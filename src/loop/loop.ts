/**
 * The agent loop: runs turns until the model calls no tools and no messages are queued.
 *
 * @module
 */

import type { AgentContext } from "../core/context.ts";
import { InvalidContinueError, NoMessagesError } from "../core/errors.ts";
import type { AgentEvent } from "../core/event.ts";
import { repairHistory } from "../core/history.ts";
import type { AgentMessage, LlmMessage } from "../core/message.ts";
import type { AgentLoopConfig } from "./config.ts";
import type { TurnInput } from "./message_source.ts";
import { startRun, type StartRunOptions } from "./start_run.ts";

/** Options for one run. */
export interface LoopOptions {
  /** Aborts the run. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a run with new messages and returns its events.
 *
 * The run starts immediately; cancelling the stream aborts it. `context` and `messages` are not modified; the
 * `agent_end` event has the messages that the run appended.
 *
 * @throws {NoMessagesError} If both `messages` and the history are empty.
 * @throws {BadRequestError} If an option is invalid.
 */
export function agentLoop(
  messages: readonly AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  options: LoopOptions = {},
): ReadableStream<AgentEvent> {
  const repaired = repairContext(context);
  if (repaired.context.messages.length === 0 && !hasValidMessages(messages)) {
    throw new NoMessagesError();
  }
  return startRun({ input: { messages }, ...repaired, config, ...options }).stream;
}

/**
 * Starts a run without new messages and returns its events.
 *
 * The history must end with a user message, a tool result or an unfinished reply, or messages must be queued.
 *
 * @throws {NoMessagesError} If the history is empty and nothing is queued.
 * @throws {InvalidContinueError} If the last reply is finished and nothing is queued.
 * @throws {BadRequestError} If an option is invalid.
 */
export function agentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  options: LoopOptions = {},
): ReadableStream<AgentEvent> {
  const repaired = repairContext(context);
  const input = createContinueInput(repaired.context.messages, config);
  return startRun({ input, ...repaired, config, ...options }).stream;
}

function repairContext(context: AgentContext): Pick<StartRunOptions, "context" | "repairs"> {
  const { messages, repairs } = repairHistory(context.messages);
  return { context: { ...context, messages }, repairs };
}

/** Whether any message is left after the repair of invalid ones. */
export function hasValidMessages(messages: readonly AgentMessage[]): boolean {
  return repairHistory(messages).messages.length > 0;
}

/**
 * Creates the input of a run that continues a history: no messages if the history needs a reply, otherwise queued ones.
 *
 * @throws {NoMessagesError} If the history is empty and nothing is queued.
 * @throws {InvalidContinueError} If the last reply is finished and nothing is queued.
 */
export function createContinueInput(
  history: readonly AgentMessage[],
  { steering, followUp }: Pick<AgentLoopConfig, "steering" | "followUp">,
): TurnInput {
  const last = history.findLast((message): message is LlmMessage => message.role !== "custom");
  if (last && needsReply(last)) return { messages: [] };
  if (steering && steering.peek().length > 0) return { messages: [] };
  if (followUp && followUp.peek().length > 0) return { messages: [], queue: followUp };
  throw last ? new InvalidContinueError() : new NoMessagesError();
}

function needsReply(message: LlmMessage): boolean {
  if (message.role !== "assistant") return true;
  return message.stopReason !== "stop" && message.stopReason !== "tool_use";
}
