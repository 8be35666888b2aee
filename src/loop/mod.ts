/**
 * Building blocks for hosts of the agent loop: its configuration, message queues, history repair, token estimates, ports
 * (clock, ids, files), and the types of all events.
 *
 * `agentLoop()` of `@swink/agent` runs turns over a history that the caller keeps: it takes a context and a
 * configuration, modifies neither, and returns a stream of events whose last one has the messages that the run appended.
 * With the same ports and the same model, two runs emit identical events.
 *
 * @example
 * ```ts
 * import { agentLoop, userMessage } from "@swink/agent";
 * import { MessageQueue } from "@swink/agent/loop";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const followUp = new MessageQueue();
 * followUp.add(userMessage("And now in French", 0));
 * const context = { systemPrompt: "", tools: [], messages: [] };
 * const config = {
 *   model: { provider: "any", modelId: "model", thinkingLevel: "off" },
 *   streamFn: scriptedStream([reply("Hello!"), reply("Bonjour !")]),
 *   followUp,
 * } as const;
 * for await (const event of agentLoop([userMessage("Greet me", 0)], context, config)) {
 *   if (event.type === "agent_end") event.messages.length; // 4: two prompts and two replies
 * }
 * ```
 *
 * @module
 */

export type { AgentLoopConfig, GetApiKey, InterruptPolicy, TurnSettings } from "./run/config.ts";
export type { ContinueLoopOptions, LoopOptions } from "./loop.ts";
export { MessageQueue, type MessageQueueOptions, type QueueMode } from "./queues/message_queue.ts";
export type { MessageSource } from "./queues/message_source.ts";
export type { GetMessages } from "./queues/polled_source.ts";
export {
  type HistoryRepair,
  type RepairedHistory,
  repairHistory,
  type RepairOptions,
} from "../core/messages/history.ts";
export {
  type AgentContext,
  omitCustomMessages,
  type TransformInput,
  type TransformOutput,
  type TransformRequest,
} from "../core/context/context.ts";
export type { DecidedCall, InterruptedCall, PendingBatch } from "../core/approval/approval.ts";
export type { IgnoredKeyword } from "../core/json_schema/ignored_keyword.ts";
export type { MessageAttributes } from "../core/messages/message.ts";
export {
  type Clock,
  defaultPorts,
  type IdKind,
  type Ports,
  type ReadFile,
  type Sleep,
} from "../core/ports/ports.ts";
export { estimateTextTokens, estimateTokens, estimateToolTokens } from "../core/streams/tokens.ts";
export { priceUsage } from "../core/models/price_usage.ts";
export { unknownCost, zeroCost, zeroUsage } from "../core/models/usage.ts";
export type {
  AgentEndEvent,
  AgentEventBody,
  AgentStartEvent,
  ContextCompactedEvent,
  CustomEvent,
  MessageEndEvent,
  MessageStartEvent,
  MessageUpdateEvent,
  ModelCallEndEvent,
  ModelCallStartEvent,
  ModelChangedEvent,
  ModelFallbackEvent,
  QueueChangedEvent,
  RetryEvent,
  SubAgentEvent,
  ToolApprovalRequestedEvent,
  ToolApprovalResolvedEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
  TurnEndEvent,
  TurnStartEvent,
  WarningEvent,
} from "../core/events/event.ts";
