/**
 * Converts a conversation to the messages of Anthropic's API.
 *
 * @module
 */

import type { ContentBlock, ImageBlock, TextBlock } from "../../src/core/content.ts";
import { isJsonObject } from "../../src/core/json.ts";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "../../src/core/message.ts";
import type { ModelSpec } from "../../src/core/model.ts";
import {
  createUnreadFileError,
  getTextAndImages,
  hasText,
  isOwnReply,
} from "../kit/request/history.ts";
import { CALL_ID_RULE, TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import { EXTENSION_PREFIX } from "./response.ts";
import type { CacheControl, WireBlock, WireMessage } from "./wire.ts";

/** Options for `toWireMessages()`. */
export interface MessagesOptions {
  /** The requested model. */
  readonly model: ModelSpec;
  /** Whether the model can continue a reply that ends the conversation. */
  readonly prefill: boolean;
  /** The cache mark for the last messages. Default: none. */
  readonly cacheControl?: CacheControl | undefined;
}

/** Number of user messages with a cache mark: the newest, and the one that the previous request marked. */
const CACHED_MESSAGES = 2;

/** Converts a conversation: roles alternate, and tool results come first in the message after their calls. */
export function toWireMessages(
  messages: readonly LlmMessage[],
  { model, prefill, cacheControl }: MessagesOptions,
): WireMessage[] {
  const turns: WireMessage[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    append(turns, { role, content: toWireBlocks(message, model) });
  }
  if (turns[0]?.role !== "user") turns.unshift(createUserMessage("(The conversation goes on.)"));
  if (turns.at(-1)?.role === "assistant") finishLastReply(turns, prefill);
  if (cacheControl) markForCache(turns, cacheControl);
  return turns;
}

/** Ends the request with a user message, or, for a model with prefill, without trailing white space. */
function finishLastReply(turns: WireMessage[], prefill: boolean): void {
  if (!prefill) {
    turns.push(createUserMessage("Continue."));
    return;
  }
  const content = turns.at(-1)?.content ?? [];
  const last = content.at(-1);
  const text = last?.["text"];
  if (last && typeof text === "string") {
    content[content.length - 1] = { ...last, text: text.trimEnd() };
  }
}

function append(turns: WireMessage[], turn: WireMessage): void {
  const last = turns.at(-1);
  if (turn.content.length === 0) return;
  if (last?.role === turn.role) last.content.push(...turn.content);
  else turns.push(turn);
}

function createUserMessage(text: string): WireMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

function toWireBlocks(message: LlmMessage, model: ModelSpec): WireBlock[] {
  switch (message.role) {
    case "user":
      return getTextAndImages(message.content).map(toTextOrImage);
    case "tool_result":
      return [toResultBlock(message)];
    case "assistant":
      return toReplyBlocks(message, model);
  }
}

function toResultBlock({ toolCallId, content, isError }: ToolResultMessage): WireBlock {
  const blocks = getTextAndImages(content).map(toTextOrImage);
  return {
    type: "tool_result",
    tool_use_id: toWireName(toolCallId, CALL_ID_RULE),
    ...(blocks.length > 0 && { content: blocks }),
    ...(isError && { is_error: true }),
  };
}

function toTextOrImage(block: TextBlock | ImageBlock): WireBlock {
  if (block.type === "text") return { type: "text", text: block.text };
  const { source } = block;
  switch (source.type) {
    case "url":
      return { type: "image", source: { type: "url", url: source.url } };
    case "base64": {
      const { mediaType: media_type, data } = source;
      return { type: "image", source: { type: "base64", media_type, data } };
    }
    case "file":
      throw createUnreadFileError(source.path);
  }
}

function toReplyBlocks(message: AssistantMessage, model: ModelSpec): WireBlock[] {
  const isOwn = isOwnReply(message, model);
  const blocks = message.content.flatMap((block) => toReplyBlock(block, isOwn) ?? []);
  // The API refuses a reply that ends with thinking, as one does that was cut off while thinking.
  while (isThinking(blocks.at(-1))) blocks.pop();
  return blocks;
}

function toReplyBlock(block: ContentBlock, isOwn: boolean): WireBlock | undefined {
  switch (block.type) {
    case "text":
      return hasText(block) ? { type: "text", text: block.text } : undefined;
    case "tool_call":
      return {
        type: "tool_use",
        id: toWireName(block.id, CALL_ID_RULE),
        name: toWireName(block.name, TOOL_NAME_RULE),
        input: block.arguments,
      };
    case "thinking": {
      const { thinking, signature, redacted } = block;
      if (!isOwn || !signature) return undefined;
      return redacted
        ? { type: "redacted_thinking", data: signature }
        : { type: "thinking", thinking, signature };
    }
    case "extension": {
      const { typeName, data } = block;
      return isOwn && typeName.startsWith(EXTENSION_PREFIX) && isWireBlock(data) ? data : undefined;
    }
    case "image":
      return undefined;
  }
}

function isWireBlock(data: unknown): data is WireBlock {
  return isJsonObject(data) && typeof data["type"] === "string";
}

/** Whether a block is thinking, readable or redacted. */
export function isThinking(block: WireBlock | undefined): boolean {
  return block?.type === "thinking" || block?.type === "redacted_thinking";
}

function markForCache(turns: readonly WireMessage[], cache_control: CacheControl): void {
  const users = turns.filter(({ role }) => role === "user").slice(-CACHED_MESSAGES);
  for (const { content } of users) {
    const last = content.at(-1);
    if (last) content[content.length - 1] = { ...last, cache_control };
  }
}
