/**
 * Converts a conversation to the messages of Bedrock's API.
 *
 * @module
 */

import { isJsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock, TextBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage, ToolResultMessage } from "../../src/core/messages/message.ts";
import type { ToolSpec } from "../../src/core/streams/stream.ts";
import {
  findCachedTurns,
  type ResultBlocks,
  toTurns,
  type TurnsOptions,
} from "../anthropic/turns.ts";
import {
  CONTINUE,
  createMediaTitle,
  getTextAndMedia,
  hasText,
  isMedia,
  toResultText,
} from "../kit/request/history.ts";
import type { MediaBlock } from "../kit/request/media.ts";
import { toClaudeInput } from "../kit/request/property_names.ts";
import { CALL_ID_RULE, TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import type { ModelFamily } from "./families.ts";
import { MediaConverter } from "./media.ts";
import { isReplayedItem } from "./replay_rules.ts";
import type { WireBlock, WireMessage } from "./wire.ts";

/** Options for `toWireMessages()`. */
export interface MessagesOptions extends TurnsOptions {
  /** The model's family. */
  readonly family: ModelFamily;
  /** The cache mark for the last messages. Default: none. */
  readonly cachePoint?: WireBlock | undefined;
  /** The tools of the request. */
  readonly tools: readonly ToolSpec[];
  /** Whether the model cites documents. */
  readonly citesDocuments: boolean;
  /** Whether the request has tools; without any, the API rejects calls of system tools, too. */
  readonly hasTools: boolean;
}

/** Converts a conversation, and marks its newest messages for the cache. */
export function toWireMessages(
  messages: readonly LlmMessage[],
  { family, cachePoint, tools, citesDocuments, hasTools, ...options }: MessagesOptions,
): WireMessage[] {
  const media = new MediaConverter({ citesDocuments });
  const renamedTools = family.thinking === "claude" ? tools : [];
  const mixedTurns = toTurns<WireBlock>(messages, options, {
    toUserBlock: (block) => toContentBlock(block, media),
    toResult: (message) => toResult(message, family, media),
    toReplyBlock: (block, isOwn) => toReplyBlock(block, isOwn, renamedTools),
    isThinking,
    omitLostCalls: (blocks) =>
      hasTools ? omitUnansweredTools(blocks) : blocks.filter((block) => !isToolBlock(block)),
  });
  const turns = mixedTurns.flatMap((turn) =>
    canMix(turn, family) ? [turn] : separateToolBlocks(turn)
  );
  for (const { content } of turns) addDocumentText(content);
  if (cachePoint === undefined) return turns;
  for (const { content } of findCachedTurns(turns)) addCachePoint(content, cachePoint);
  return turns;
}

/**
 * Adds a cache point to the end of a message, but before documents that the API converts to text, which are all but PDF: it
 * rejects a cache point after one with "messages.0.content.2.type: Field required".
 */
function addCachePoint(content: WireBlock[], cachePoint: WireBlock): void {
  const index = content.findLastIndex((block) => !isConvertedDocument(block)) + 1;
  if (index > 0) content.splice(index, 0, cachePoint);
}

function isConvertedDocument({ document }: WireBlock): boolean {
  return isJsonObject(document) && document["format"] !== "pdf";
}

/**
 * Whether a message may contain calls or results together with its other content. With a document, Claude reports that
 * "`tool_use` ids were found without `tool_result` blocks".
 */
function canMix({ content }: WireMessage, { mixedTurns }: ModelFamily): boolean {
  switch (mixedTurns) {
    case "any":
      return true;
    case "no_documents":
      return !content.some((block) => block["document"] !== undefined);
    case "none":
      return false;
  }
}

/** Splits a message with calls or results and other content, with a message of the other role between the parts. */
function separateToolBlocks({ role, content }: WireMessage): WireMessage[] {
  const toolBlocks = content.filter(isToolBlock);
  const others = content.filter((block) => !isToolBlock(block) && !isThinking(block));
  if (toolBlocks.length === 0) return [{ role, content }];
  if (others.length === 0) return [{ role, content: toolBlocks }];
  return role === "assistant"
    ? [
      { role, content: others },
      { role: "user", content: [{ text: CONTINUE }] },
      { role, content: toolBlocks },
    ]
    : [
      { role, content: toolBlocks },
      { role: "assistant", content: [{ text: "Noted." }] },
      { role, content: others },
    ];
}

function isToolBlock(block: WireBlock): boolean {
  return block["toolUse"] !== undefined || block["toolResult"] !== undefined;
}

function toContentBlock(block: TextBlock | MediaBlock, media: MediaConverter): WireBlock {
  return block.type === "text" ? { text: block.text } : media.convert(block);
}

/** Adds the text that the API requires in a message with documents. */
function addDocumentText(content: WireBlock[]): void {
  const hasDocument = content.some((block) => block["document"] !== undefined);
  if (!hasDocument || content.some((block) => block["text"] !== undefined)) return;
  content.push({ text: "(see the documents)" });
}

/** Converts a result; media follow the results where the result must have only text, as that of a failed call. */
function toResult(
  message: ToolResultMessage,
  family: ModelFamily,
  converter: MediaConverter,
): ResultBlocks<WireBlock> {
  const { toolCallId, content, isError } = message;
  const accepted = getTextAndMedia(content);
  const canHaveMedia = family.resultMedia && !isError;
  const isInResult = (block: TextBlock | MediaBlock) =>
    block.type === "text" || (canHaveMedia && converter.canBeInResult(block));
  const inResult = accepted.filter(isInResult);
  const media = accepted.filter(isMedia).filter((block) => !isInResult(block));
  const blocks = family.resultStatus && inResult.length > 0
    ? inResult.map((block) => toContentBlock(block, converter))
    : [{ text: toResultText(message) }];
  const attachments: (TextBlock | MediaBlock)[] = media.length > 0
    ? [createMediaTitle(media, message), ...media]
    : [];
  return {
    result: {
      toolResult: {
        toolUseId: toWireName(toolCallId, CALL_ID_RULE),
        content: blocks,
        ...(family.resultStatus && isError && { status: "error" }),
      },
    },
    attachments: attachments.map((block) => toContentBlock(block, converter)),
  };
}

function toReplyBlock(
  block: ContentBlock,
  isOwn: boolean,
  renamedTools: readonly ToolSpec[],
): WireBlock | undefined {
  switch (block.type) {
    case "text":
      return hasText(block) ? { text: block.text } : undefined;
    case "tool_call": {
      const tool = renamedTools.find(({ name }) => name === block.name);
      return {
        toolUse: {
          toolUseId: toWireName(block.id, CALL_ID_RULE),
          name: toWireName(block.name, TOOL_NAME_RULE),
          input: toClaudeInput(block.arguments, tool),
        },
      };
    }
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
      return isOwn && isReplayedItem(typeName, data) ? data : undefined;
    }
    case "image":
    case "document":
    case "audio":
      return undefined;
  }
}

/** Omits calls of system tools without a result, as in a reply that was cut off, and results without a call. */
function omitUnansweredTools(blocks: readonly WireBlock[]): WireBlock[] {
  const called = new Set(blocks.map(({ toolUse }) => getToolUseId(toolUse)));
  const answered = new Set(blocks.map(({ toolResult }) => getToolUseId(toolResult)));
  return blocks.filter(({ toolUse, toolResult }) => {
    if (toolResult !== undefined) return called.has(getToolUseId(toolResult));
    const isSystemTool = isJsonObject(toolUse) && toolUse["type"] === "server_tool_use";
    return !isSystemTool || answered.has(getToolUseId(toolUse));
  });
}

function getToolUseId(block: unknown): unknown {
  return isJsonObject(block) ? block["toolUseId"] : undefined;
}

/** Whether a block is thinking, readable or redacted. */
export function isThinking(block: WireBlock | undefined): boolean {
  return block?.["reasoningContent"] !== undefined;
}
