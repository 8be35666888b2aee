/**
 * The agent loop: runs turns until the model calls no tools and no messages are queued.
 *
 * @module
 */

import type { ApprovalDecisions, PendingBatch } from "../core/approval/approval.ts";
import { checkMisspellings } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import type { AgentContext } from "../core/context/context.ts";
import { InvalidContinueError, NoMessagesError } from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import { repairHistory } from "../core/messages/history.ts";
import { type AgentMessage, checkMessages, type LlmMessage } from "../core/messages/message.ts";
import { checkTools } from "../core/tools/check_tool.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import type { MessageSource } from "./queues/message_source.ts";
import {
  checkLoopNames,
  checkOptions,
  checkSignal,
  checkSystemPrompt,
} from "./run/check_config.ts";
import type { AgentLoopConfig, RunConfig } from "./run/config.ts";
import type { TurnInput } from "./run/turn_input.ts";
import { startRun, type StartRunOptions } from "./start_run.ts";
import { checkPending, getPendingIds, resolveApprovals } from "./tool_calls/pending_batch.ts";

/** Options for one run. */
export interface LoopOptions {
  /** Aborts the run. */
  readonly signal?: AbortSignal | undefined;
  /** The tool calls of the last reply that wait for approvals, from the outcome of the previous run. Default: none. */
  readonly pending?: PendingBatch | undefined;
}

/** Options for a run that continues a history. */
export interface ContinueLoopOptions extends LoopOptions {
  /** The decisions on the pending approvals. */
  readonly approvals?: ApprovalDecisions | undefined;
}

/**
 * Starts a run with new messages and returns its events.
 *
 * The run starts immediately; cancelling the stream aborts it. `context` and `messages` are not modified; the
 * `agent_end` event has the messages that the run appended. Pending tool calls are answered as not approved.
 *
 * @throws {NoMessagesError} If both `messages` and the history are empty.
 * @throws {BadRequestError} If an option is invalid.
 *
 * @example
 * ```ts
 * import { agentLoop, modelSpec, userMessage } from "@swink/agent";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const history = [userMessage("Hello", 0)];
 * const context = { systemPrompt: "", messages: [], tools: [] };
 * const config = { model: modelSpec("any/model"), streamFn: scriptedStream([reply("Hi!")]) };
 * for await (const event of agentLoop(history, context, config)) {
 *   if (event.type === "agent_end") event.messages.length; // 2: the prompt and the reply
 * }
 * ```
 */
export function agentLoop<Tool extends AgentTool<never> = AgentTool>(
  messages: readonly AgentMessage[],
  context: AgentContext<Tool>,
  config: AgentLoopConfig<Tool>,
  options: LoopOptions = {},
): ReadableStream<AgentEvent> {
  checkLoopNames(config);
  checkMessages(messages);
  const { pending, ...repaired } = repairContext(context, options);
  if (repaired.context.messages.length === 0 && !hasValidMessages(messages)) {
    throw new NoMessagesError();
  }
  const input = { messages, declined: pending };
  // The run needs no type for a context that the tools and `approve` accept.
  const copy = { ...config } as unknown as RunConfig;
  return startRun({ input, ...repaired, config: copy, signal: options.signal }).createStream();
}

/**
 * Starts a run without new messages and returns its events.
 *
 * The history must end with a user message, a tool result or an unfinished reply, or messages must be queued; or the
 * options must have the decisions on the pending tool calls, which then run first.
 *
 * @throws {NoMessagesError} If the history is empty and nothing is queued.
 * @throws {InvalidContinueError} If the last reply is finished and nothing is queued.
 * @throws {BadRequestError} If an option is invalid, or a decision is missing.
 *
 * @example
 * ```ts
 * import { agentLoopContinue, modelSpec, userMessage } from "@swink/agent";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * // The history ends with a prompt whose run failed.
 * const context = { systemPrompt: "", messages: [userMessage("Hello", 0)], tools: [] };
 * const config = { model: modelSpec("any/model"), streamFn: scriptedStream([reply("Hi!")]) };
 * for await (const event of agentLoopContinue(context, config)) {
 *   if (event.type === "agent_end") event.messages.length; // 1: the reply
 * }
 * ```
 */
export function agentLoopContinue<Tool extends AgentTool<never> = AgentTool>(
  context: AgentContext<Tool>,
  config: AgentLoopConfig<Tool>,
  options: ContinueLoopOptions = {},
): ReadableStream<AgentEvent> {
  checkLoopNames(config);
  const { pending, ...repaired } = repairContext(context, options);
  const sources = { ...config, ...options, pending };
  const input = createContinueInput(repaired.context.messages, sources);
  // The run needs no type for a context that the tools and `approve` accept.
  const copy = { ...config } as unknown as RunConfig;
  return startRun({ input, ...repaired, config: copy, signal: options.signal }).createStream();
}

const OPTION_NAMES: readonly (keyof ContinueLoopOptions)[] = ["signal", "pending", "approvals"];

function repairContext(
  context: AgentContext<AgentTool<never>>,
  options: LoopOptions,
): Pick<StartRunOptions, "context" | "repairs" | "pendingCalls"> & Pick<LoopOptions, "pending"> {
  checkObject(context, 'Pass the context as { systemPrompt: "", messages: [], tools: [] }');
  checkObject(options, "Pass options such as { signal }");
  checkMisspellings(options, OPTION_NAMES, "the options");
  checkOptions(options, { signal: checkSignal });
  const { systemPrompt = "" } = context;
  checkSystemPrompt(systemPrompt);
  checkMessages(context.messages);
  // Only callers need the type of the run's context.
  const tools = checkTools(context.tools as readonly AgentTool[]);
  const pending = checkPending(options.pending, context.messages);
  const pendingCalls = getPendingIds(pending);
  const { messages, repairs } = repairHistory(context.messages, { pendingCalls });
  return { context: { ...context, systemPrompt, messages, tools }, repairs, pendingCalls, pending };
}

/** Whether any message is left after the repair of invalid ones. */
export function hasValidMessages(messages: readonly AgentMessage[]): boolean {
  return repairHistory(messages).messages.length > 0;
}

/** Sources of the first input of a run that continues a history. */
export interface ContinueSources
  extends
    Pick<AgentLoopConfig, "steering" | "followUp">,
    Pick<ContinueLoopOptions, "pending" | "approvals"> {}

/**
 * Creates the input of a run that continues a history: the pending tool calls if there are decisions, no messages if the
 * history needs a reply, otherwise queued ones.
 *
 * @throws {NoMessagesError} If the history is empty and nothing is queued.
 * @throws {InvalidContinueError} If the last reply is finished and nothing is queued, or approvals are pending.
 * @throws {BadRequestError} If a decision is missing.
 */
export function createContinueInput(
  history: readonly AgentMessage[],
  { steering, followUp, pending, approvals }: ContinueSources,
): TurnInput {
  const batch = pending ?? { pendingApprovals: [] };
  if (approvals) return { messages: [], batch: resolveApprovals(batch, approvals) };
  if (pending && pending.pendingApprovals.length === 0) {
    return { messages: [], batch: { ...pending, decisions: new Map() } };
  }
  const input: TurnInput = { messages: [], declined: pending };
  const last = history.findLast((message): message is LlmMessage => message.role !== "custom");
  if (last && !pending && needsReply(last)) return input;
  if (hasMessages(steering)) return input;
  if (hasMessages(followUp)) return { ...input, queue: followUp };
  if (pending) {
    throw new InvalidContinueError(
      "Approvals are pending: pass a decision for each, as approvals: { [toolCallId]: true }",
    );
  }
  throw last ? new InvalidContinueError() : new NoMessagesError();
}

/** Whether a queue has messages; a function cannot be asked before the run. */
function hasMessages(source: AgentLoopConfig["steering"]): source is MessageSource {
  return typeof source === "object" && source.peek().length > 0;
}

function needsReply(message: LlmMessage): boolean {
  if (message.role !== "assistant") return true;
  return message.stopReason !== "stop" && message.stopReason !== "tool_use";
}
