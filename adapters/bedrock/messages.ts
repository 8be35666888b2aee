/**
 * Converts a conversation to the messages of Bedrock's API.
 *
 * @module
 */

import type { ContentBlock, ImageBlock, TextBlock } from "../../src/core/content.ts";
import { isJsonObject } from "../../src/core/json.ts";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "../../src/core/message.ts";
import type { ModelSpec } from "../../src/core/model.ts";
import { getTextAndImages, hasText, isOwnReply, toResultText } from "../kit/request/history.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { CALL_ID_RULE, TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import type { ModelFamily } from "./families.ts";
import { toWireImage } from "./images.ts";
import { EXTENSION_PREFIX } from "./response.ts";
import type { WireBlock, WireMessage } from "./wire.ts";

/** Options for `toWireMessages()`. */
export interface MessagesOptions {
  /** The requested model. */
  readonly model: ModelSpec;
  /** The model's family. */
  readonly family: ModelFamily;
  /** Whether the model can continue a reply that ends the conversation. */
  readonly prefill: boolean;
  /** The cache mark for the last messages. Default: none. */
  readonly cachePoint?: WireBlock | undefined;
}

/** Number of user messages with a cache mark: the newest, and the one that the previous request marked. */
const CACHED_MESSAGES = 2;

/** Converts a conversation: roles alternate, and tool results come first in the message after their calls. */
export function toWireMessages(
  messages: readonly LlmMessage[],
  options: MessagesOptions,
  sink: WarningSink,
): WireMessage[] {
  const turns: WireMessage[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    append(turns, { role, content: toWireBlocks(message, options, sink) });
  }
  if (turns[0]?.role !== "user") turns.unshift(createUserMessage("(The conversation goes on.)"));
  if (turns.at(-1)?.role === "assistant") finishLastReply(turns, options.prefill);
  if (options.cachePoint) markForCache(turns, options.cachePoint);
  return turns;
}

/** Ends the request with a user message, or, for a model with prefill, without trailing white space. */
function finishLastReply(turns: WireMessage[], prefill: boolean): void {
  if (!prefill) {
    turns.push(createUserMessage("Continue."));
    return;
  }
  const content = turns.at(-1)?.content ?? [];
  const text = content.at(-1)?.["text"];
  if (typeof text === "string") content[content.length - 1] = { text: text.trimEnd() };
}

function append(turns: WireMessage[], turn: WireMessage): void {
  const last = turns.at(-1);
  if (turn.content.length === 0) return;
  if (last?.role === turn.role) last.content.push(...turn.content);
  else turns.push(turn);
}

function createUserMessage(text: string): WireMessage {
  return { role: "user", content: [{ text }] };
}

function toWireBlocks(
  message: LlmMessage,
  options: MessagesOptions,
  sink: WarningSink,
): WireBlock[] {
  switch (message.role) {
    case "user":
      return getTextAndImages(message.content).map((block) => toTextOrImage(block, sink));
    case "tool_result":
      return [toResultBlock(message, options.family, sink)];
    case "assistant":
      return toReplyBlocks(message, options.model);
  }
}

function toTextOrImage(block: TextBlock | ImageBlock, sink: WarningSink): WireBlock {
  return block.type === "text" ? { text: block.text } : toWireImage(block, sink);
}

function toResultBlock(
  message: ToolResultMessage,
  family: ModelFamily,
  sink: WarningSink,
): WireBlock {
  const { toolCallId, content, isError } = message;
  const contentBlocks = getTextAndImages(content);
  const images = contentBlocks.filter((block): block is ImageBlock => block.type === "image");
  const blocks = family.resultStatus
    ? contentBlocks.map((block) => toTextOrImage(block, sink))
    : [{ text: toResultText(message) }, ...images.map((image) => toWireImage(image, sink))];
  return {
    toolResult: {
      toolUseId: toWireName(toolCallId, CALL_ID_RULE),
      content: blocks.length > 0 ? blocks : [{ text: toResultText(message) }],
      ...(family.resultStatus && isError && { status: "error" }),
    },
  };
}

function toReplyBlocks(message: AssistantMessage, model: ModelSpec): WireBlock[] {
  const isOwn = isOwnReply(message, model);
  const blocks = message.content.map((block) => toReplyBlock(block, isOwn))
    .filter((block) => block !== undefined);
  // The API refuses a reply that ends with thinking, as one does that was cut off while thinking.
  while (isThinking(blocks.at(-1))) blocks.pop();
  return blocks;
}

function toReplyBlock(block: ContentBlock, isOwn: boolean): WireBlock | undefined {
  switch (block.type) {
    case "text":
      return hasText(block) ? { text: block.text } : undefined;
    case "tool_call":
      return {
        toolUse: {
          toolUseId: toWireName(block.id, CALL_ID_RULE),
          name: toWireName(block.name, TOOL_NAME_RULE),
          input: block.arguments,
        },
      };
    case "thinking": {
      const { thinking: text, signature, redacted } = block;
      if (!isOwn || !signature) return undefined;
      const reasoning = redacted
        ? { redactedContent: signature }
        : { reasoningText: { text, signature } };
      return { reasoningContent: reasoning };
    }
    case "extension": {
      const { typeName, data } = block;
      if (!isOwn || !typeName.startsWith(EXTENSION_PREFIX)) return undefined;
      return isJsonObject(data) ? data : undefined;
    }
    case "image":
      return undefined;
  }
}

/** Whether a block is thinking, readable or redacted. */
export function isThinking(block: WireBlock | undefined): boolean {
  return block?.["reasoningContent"] !== undefined;
}

function markForCache(turns: readonly WireMessage[], cachePoint: WireBlock): void {
  const users = turns.filter(({ role }) => role === "user").slice(-CACHED_MESSAGES);
  for (const { content } of users) content.push(cachePoint);
}
