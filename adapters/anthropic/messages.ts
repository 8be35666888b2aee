/**
 * Converts a conversation to the messages of Anthropic's API.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock, DocumentBlock, TextBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage, ToolResultMessage } from "../../src/core/messages/message.ts";
import type { ToolSpec } from "../../src/core/streams/stream.ts";
import { decodeBase64Text } from "../kit/request/base64_text.ts";
import {
  createMediaTitle,
  getTextAndMedia,
  hasText,
  isMedia,
  toResultText,
} from "../kit/request/history.ts";
import {
  createUnreadFileError,
  getMediaType,
  type MediaBlock,
  toMediaUrl,
} from "../kit/request/media.ts";
import { toClaudeInput } from "../kit/request/property_names.ts";
import { CALL_ID_RULE, TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import { parseCallSignature } from "./caller.ts";
import { omitLostCitations, toWireCitation } from "./citation_replay.ts";
import { isReplayedItem } from "./replay_rules.ts";
import { findReplayedCalls, omitLostCalls } from "./server_calls.ts";
import {
  type BlockFormat,
  findCachedTurns,
  type ResultBlocks,
  toTurns,
  type TurnsOptions,
} from "./turns.ts";
import { type CacheControl, isWireBlock, type WireBlock, type WireMessage } from "./wire.ts";

/** Maximum length of the title of a document, in characters. */
const MAX_TITLE_LENGTH = 500;

/** Options for `toWireMessages()`. */
export interface MessagesOptions extends TurnsOptions {
  /** The cache mark for the last messages. Default: none. */
  readonly cacheControl?: CacheControl | undefined;
  /** The tools of the request. */
  readonly tools: readonly ToolSpec[];
  /** Maximum number of user messages with the mark. */
  readonly markedMessages: number;
  /** Whether the model cites documents; the API requires the same for all of them. Default: `false`. */
  readonly citesDocuments?: boolean;
  /** Whether the request names the container of earlier replies. Default: `false`. */
  readonly hasContainer?: boolean;
}

/** Converts a conversation, and marks its newest messages for the cache. */
export function toWireMessages(
  messages: readonly LlmMessage[],
  options: MessagesOptions,
): WireMessage[] {
  const { model, prefill, sink, tools, citesDocuments, hasContainer = false } = options;
  const { cacheControl, markedMessages } = options;
  const replayedCalls = findReplayedCalls(messages, { model, hasContainer });
  const toUserBlock = (block: TextBlock | MediaBlock): WireBlock =>
    toContentBlock(block, citesDocuments ?? false);
  const format: BlockFormat<WireBlock> = {
    toUserBlock,
    toResult: (message) => toResult(message, toUserBlock),
    toReplyBlock: (block, isOwn) => toReplyBlock(block, isOwn, tools),
    isThinking,
    omitLostCalls: (blocks) => omitLostCalls(blocks, replayedCalls),
  };
  const turns = toTurns(messages, { model, prefill, sink }, format);
  omitLostCitations(turns);
  if (cacheControl) markForCache(findCachedTurns(turns, markedMessages), cacheControl);
  return turns;
}

/** Converts a result. That of a failed call must not be empty, and has only text: its media follow the results. */
function toResult(
  message: ToolResultMessage,
  toUserBlock: (block: TextBlock | MediaBlock) => WireBlock,
): ResultBlocks<WireBlock> {
  const { toolCallId, content, isError } = message;
  const accepted = getTextAndMedia(content);
  const media = isError ? accepted.filter(isMedia) : [];
  const texts = isError ? accepted.filter(({ type }) => type === "text") : accepted;
  const isEmpty = isError && texts.length === 0;
  const blocks = isEmpty ? [{ type: "text", text: toResultText(message) }] : texts.map(toUserBlock);
  return {
    result: {
      type: "tool_result",
      tool_use_id: toWireName(toolCallId, CALL_ID_RULE),
      ...(blocks.length > 0 && { content: blocks }),
      ...(isError && { is_error: true }),
    },
    attachments: media.length > 0
      ? [createMediaTitle(media, message), ...media].map(toUserBlock)
      : [],
  };
}

function toContentBlock(block: TextBlock | MediaBlock, citesDocuments: boolean): WireBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "document":
      return toDocument(block, citesDocuments);
    case "image":
    case "audio":
      return { type: block.type, source: toSource(block) };
  }
}

function toDocument(block: DocumentBlock, citesDocuments: boolean): WireBlock {
  const { source, name, mediaType } = block;
  const isText = source.type === "base64" && mediaType === "text/plain";
  return {
    type: "document",
    source: isText
      ? { type: "text", media_type: mediaType, data: decodeBase64Text(source.data) }
      : toSource(block),
    ...(name?.trim() && { title: name.slice(0, MAX_TITLE_LENGTH) }),
    ...(citesDocuments && { citations: { enabled: true } }),
  };
}

function toSource(block: MediaBlock): JsonObject {
  const { source } = block;
  switch (source.type) {
    case "url":
      return { type: "url", url: toMediaUrl(block) };
    case "base64":
      return { type: "base64", media_type: getMediaType(block), data: source.data };
    case "provider_file":
      return { type: "file", file_id: source.id };
    case "file":
      throw createUnreadFileError(block, source.path);
  }
}

function toReplyBlock(
  block: ContentBlock,
  isOwn: boolean,
  tools: readonly ToolSpec[],
): WireBlock | undefined {
  switch (block.type) {
    case "text":
      return hasText(block) ? toReplyText(block, isOwn) : undefined;
    case "tool_call":
      return {
        type: "tool_use",
        id: toWireName(block.id, CALL_ID_RULE),
        name: toWireName(block.name, TOOL_NAME_RULE),
        input: toClaudeInput(block.arguments, tools.find(({ name }) => name === block.name)),
        ...(isOwn && parseCallSignature(block.signature)),
      };
    case "thinking": {
      const { thinking, signature, redacted } = block;
      if (!isOwn || !signature) return undefined;
      return redacted
        ? { type: "redacted_thinking", data: signature }
        : { type: "thinking", thinking, signature };
    }
    case "extension": {
      return isOwn && isReplayedItem(block) ? block.data as WireBlock : undefined;
    }
    case "image":
    case "document":
    case "audio":
      return undefined;
  }
}

/** Converts a text with the search results and documents that it cites. */
function toReplyText({ text, citations }: TextBlock, isOwn: boolean): WireBlock {
  // A history from untyped code may have any value.
  const known: readonly unknown[] = Array.isArray(citations) ? citations : [];
  const data = known.map((citation) => isJsonObject(citation) ? citation["data"] : undefined);
  const sources = data.filter(isWireBlock).map(toWireCitation);
  return { type: "text", text, ...(isOwn && sources.length > 0 && { citations: sources }) };
}

/** Whether a block is thinking, readable or redacted. */
export function isThinking(block: WireBlock | undefined): boolean {
  return block?.type === "thinking" || block?.type === "redacted_thinking";
}

function markForCache(turns: readonly WireMessage[], cache_control: CacheControl): void {
  for (const { content } of turns) {
    const last = content.at(-1);
    if (last) content[content.length - 1] = { ...last, cache_control };
  }
}
