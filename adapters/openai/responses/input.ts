/**
 * Conversion of messages for the Responses API, whose input is a flat list of items.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import type { ContentBlock, TextBlock } from "../../../src/core/messages/content.ts";
import type {
  AssistantMessage,
  LlmMessage,
  ToolResultMessage,
} from "../../../src/core/messages/message.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import type { ToolSpec } from "../../../src/core/streams/stream.ts";
import {
  getTextAndMedia,
  hasText,
  isMedia,
  isOwnReply,
  MISSING_PROMPT,
  toResultText,
} from "../../kit/request/history.ts";
import { serializeJson } from "../../kit/request/json_body.ts";
import { getFileName, type MediaBlock, toMediaUrl } from "../../kit/request/media.ts";
import { toClaudeInput } from "../../kit/request/property_names.ts";
import { CALL_ID_RULE, TOOL_NAME_RULE, toWireName } from "../../kit/request/wire_names.ts";
import { isClaude } from "../chat/claude.ts";
import { isReplayedItem, PHASE } from "./replay_rules.ts";

/** Options for `toResponsesInput()`. */
export interface ResponsesInputOptions {
  /** Model of the request. */
  readonly model: ModelSpec;
  /** Tools of the request. */
  readonly tools: readonly ToolSpec[];
}

/** Converts the conversation, without the system prompt. */
export function toResponsesInput(
  messages: readonly LlmMessage[],
  { model, tools }: ResponsesInputOptions,
): JsonObject[] {
  const renamedTools = isClaude(model) ? tools : [];
  const items = messages.flatMap((message) => {
    switch (message.role) {
      case "user":
        return toUserItems(message.content);
      case "tool_result":
        return [toResultItem(message)];
      case "assistant":
        return toReplyItems(message, { isOwn: isOwnReply(message, model), renamedTools });
    }
  });
  return items.length > 0 ? items : [{ role: "user", content: MISSING_PROMPT }];
}

function toUserItems(content: readonly ContentBlock[]): JsonObject[] {
  const blocks = getTextAndMedia(content);
  return blocks.length > 0 ? [{ role: "user", content: blocks.map(toInputPart) }] : [];
}

function toInputPart(block: TextBlock | MediaBlock): JsonObject {
  if (block.type === "text") return { type: "input_text", text: block.text };
  const { source } = block;
  const file = source.type === "provider_file" ? { file_id: source.id } : undefined;
  switch (block.type) {
    case "image":
      return {
        type: "input_image",
        ...(file ?? { image_url: toMediaUrl(block) }),
        detail: "auto",
      };
    case "document":
    case "audio":
      if (file) return { type: "input_file", ...file };
      if (source.type === "url") return { type: "input_file", file_url: source.url };
      return {
        type: "input_file",
        filename: block.type === "document" ? getFileName(block) : "audio",
        file_data: toMediaUrl(block),
      };
  }
}

function toResultItem(message: ToolResultMessage): JsonObject {
  const media = message.content.filter(isMedia);
  const text = toResultText(message);
  return {
    type: "function_call_output",
    call_id: toWireName(message.toolCallId, CALL_ID_RULE),
    output: media.length === 0 ? text : [{ type: "input_text", text }, ...media.map(toInputPart)],
  };
}

interface ReplyItemsOptions {
  /** Whether the model of the request created the reply. */
  readonly isOwn: boolean;
  /** Tools whose parameters may have other names in requests. */
  readonly renamedTools: readonly ToolSpec[];
}

function toReplyItems({ content }: AssistantMessage, options: ReplyItemsOptions): JsonObject[] {
  const items = content.map((block) => toReplyItem(block, options)).filter((item) =>
    item !== undefined
  );
  // The API rejects reasoning without a following item, as in a truncated reply.
  while (items.at(-1)?.["type"] === "reasoning") items.pop();
  return items;
}

function toReplyItem(
  block: ContentBlock,
  { isOwn, renamedTools }: ReplyItemsOptions,
): JsonObject | undefined {
  switch (block.type) {
    case "text":
      if (!hasText(block)) return undefined;
      return {
        type: "message",
        role: "assistant",
        content: block.text,
        ...(isOwn && PHASE.test(block.signature ?? "") && { phase: block.signature }),
      };
    case "tool_call": {
      const tool = renamedTools.find(({ name }) => name === block.name);
      return {
        type: "function_call",
        call_id: toWireName(block.id, CALL_ID_RULE),
        name: toWireName(block.name, TOOL_NAME_RULE),
        arguments: serializeJson(toClaudeInput(block.arguments, tool)),
      };
    }
    case "extension":
      return isOwn && isReplayedItem(block.typeName, block.data)
        ? toReplayedItem(block.data)
        : undefined;
    case "thinking":
    case "image":
    case "document":
    case "audio":
      return undefined;
  }
}

/** Returns an item as it was received. Only reasoning must not have its status, and the API requires that of all calls. */
function toReplayedItem(data: JsonObject): JsonObject {
  const { status, ...item } = data;
  return item["type"] === "reasoning" || (status ?? null) === null ? item : data;
}
