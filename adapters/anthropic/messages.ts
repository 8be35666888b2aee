/**
 * Converts a conversation to the messages of Anthropic's API.
 *
 * @module
 */

import type { ContentBlock, ImageBlock, TextBlock } from "../../src/core/content.ts";
import { isJsonObject } from "../../src/core/json.ts";
import type { LlmMessage, ToolResultMessage } from "../../src/core/message.ts";
import { createUnreadFileError, getTextAndImages, hasText } from "../kit/request/history.ts";
import { CALL_ID_RULE, TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import { EXTENSION_PREFIX } from "./response.ts";
import { type BlockFormat, findCachedTurns, toTurns, type TurnsOptions } from "./turns.ts";
import type { CacheControl, WireBlock, WireMessage } from "./wire.ts";

/** Options for `toWireMessages()`. */
export interface MessagesOptions extends TurnsOptions {
  /** The cache mark for the last messages. Default: none. */
  readonly cacheControl?: CacheControl | undefined;
}

const FORMAT: BlockFormat<WireBlock> = {
  toUserBlock: toTextOrImage,
  toResultBlock,
  toReplyBlock,
  isThinking,
};

/** Converts a conversation, and marks its newest messages for the cache. */
export function toWireMessages(
  messages: readonly LlmMessage[],
  { model, prefill, cacheControl }: MessagesOptions,
): WireMessage[] {
  const turns = toTurns(messages, { model, prefill }, FORMAT);
  if (cacheControl) markForCache(turns, cacheControl);
  return turns;
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
  for (const { content } of findCachedTurns(turns)) {
    const last = content.at(-1);
    if (last) content[content.length - 1] = { ...last, cache_control };
  }
}
