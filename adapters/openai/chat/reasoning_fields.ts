/**
 * Reasoning of earlier replies in requests.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import { extractToolCalls, type ThinkingBlock } from "../../../src/core/messages/content.ts";
import type { AssistantMessage, LlmMessage } from "../../../src/core/messages/message.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import { isOwnReply } from "../../kit/request/history.ts";
import { createUnsignedDetails } from "./call_signatures.ts";
import { toContentParts } from "./content_parts.ts";
import type { ChatDialect } from "./dialect.ts";
import { isReasoningDetails } from "./replay_rules.ts";
import { REASONING_CONTENT, REASONING_DETAILS, type WireReasoningDetail } from "./wire.ts";

/** Reasoning of a reply without any, for servers that require some. They reject an empty text. */
const NO_REASONING = " ";

/**
 * Returns the indexes of the replies whose `reasoning_content` is sent back: those since the last user message, and those
 * between two user messages with a tool call between them. DeepSeek and Moonshot reject the conversation otherwise; the
 * reasoning of other replies is of no use to the model.
 */
export function findThoughtfulReplies(messages: readonly LlmMessage[]): ReadonlySet<number> {
  const found = new Set<number>();
  let replies: number[] = [];
  let hasCalls = false;
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant") {
      replies.push(index);
      hasCalls ||= extractToolCalls(message.content).length > 0;
    } else if (message.role === "user") {
      if (hasCalls) { for (const reply of replies) found.add(reply); }
      replies = [];
      hasCalls = false;
    }
  }
  for (const reply of replies) found.add(reply);
  return found;
}

/** Options for `toReasoningFields()`. */
export interface ReasoningFieldsOptions {
  /** Model of the request. */
  readonly model: ModelSpec;
  /** Dialect of the server. */
  readonly dialect: ChatDialect;
  /** Whether the `reasoning_content` of the reply is sent back. */
  readonly keepsReasoning: boolean;
  /** Encodes the id of a tool call. */
  readonly encodeCallId: (id: string) => string;
}

/** Returns the reasoning of a reply in the field in which it was received, or in the one that the server requires. */
export function toReasoningFields(
  message: AssistantMessage,
  options: ReasoningFieldsOptions,
): JsonObject {
  const { model, dialect, keepsReasoning } = options;
  const isOwn = isOwnReply(message, model);
  const { content } = message;
  if (dialect.hasThinkingParts) return isOwn ? toContentParts(content) : {};
  const thinking = content.filter((block): block is ThinkingBlock =>
    isOwn && block.type === "thinking"
  );
  const details = (isOwn ? findDetails(message) : undefined) ?? createDetails(message, options);
  const isRequired = dialect.requiresReasoning?.(model) ?? false;
  const reasoning = joinThinking(
    isRequired ? thinking : thinking.filter(({ signature }) => signature === REASONING_CONTENT),
  );
  return {
    ...(isRequired
      ? { reasoning_content: reasoning.trim() === "" ? NO_REASONING : reasoning }
      : keepsReasoning && reasoning !== "" && { reasoning_content: reasoning }),
    ...(details && { reasoning_details: details }),
  };
}

function findDetails({ content }: AssistantMessage): readonly JsonObject[] | undefined {
  const item = content.findLast((block) =>
    block.type === "extension" && block.typeName === REASONING_DETAILS
  );
  return item?.type === "extension" && isReasoningDetails(item.data) ? item.data : undefined;
}

/** Creates the details of a reply that has none, for a model that requires the signatures of calls. */
function createDetails(
  { content }: AssistantMessage,
  { model, dialect, encodeCallId }: ReasoningFieldsOptions,
): readonly WireReasoningDetail[] | undefined {
  const [call] = extractToolCalls(content);
  if (!call || !dialect.requiresSignatures?.(model.modelId)) return undefined;
  return createUnsignedDetails(encodeCallId(call.id));
}

function joinThinking(blocks: readonly ThinkingBlock[]): string {
  return blocks.map(({ thinking }) => thinking).join("");
}
