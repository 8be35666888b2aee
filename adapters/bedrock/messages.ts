/**
 * Converts a conversation to the messages of Bedrock's API.
 *
 * @module
 */

import type { ContentBlock, ImageBlock, TextBlock } from "../../src/core/content.ts";
import { isJsonObject } from "../../src/core/json.ts";
import type { LlmMessage, ToolResultMessage } from "../../src/core/message.ts";
import { findCachedTurns, toTurns, type TurnsOptions } from "../anthropic/turns.ts";
import { getTextAndImages, hasText, toResultText } from "../kit/request/history.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { CALL_ID_RULE, TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import type { ModelFamily } from "./families.ts";
import { toWireImage } from "./images.ts";
import { EXTENSION_PREFIX } from "./response.ts";
import type { WireBlock, WireMessage } from "./wire.ts";

/** Options for `toWireMessages()`. */
export interface MessagesOptions extends TurnsOptions {
  /** The model's family. */
  readonly family: ModelFamily;
  /** The cache mark for the last messages. Default: none. */
  readonly cachePoint?: WireBlock | undefined;
}

/** Converts a conversation, and marks its newest messages for the cache. */
export function toWireMessages(
  messages: readonly LlmMessage[],
  { family, cachePoint, ...options }: MessagesOptions,
  sink: WarningSink,
): WireMessage[] {
  const turns = toTurns<WireBlock>(messages, options, {
    toUserBlock: (block) => toTextOrImage(block, sink),
    toResultBlock: (message) => toResultBlock(message, family, sink),
    toReplyBlock,
    isThinking,
  });
  if (cachePoint === undefined) return turns;
  for (const { content } of findCachedTurns(turns)) content.push(cachePoint);
  return turns;
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
