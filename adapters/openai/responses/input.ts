/**
 * The conversation as the Responses API takes it: a flat list of items.
 *
 * @module
 */

import type { ContentBlock, ImageBlock, TextBlock } from "../../../src/core/content.ts";
import { isJsonObject, type JsonObject } from "../../../src/core/json.ts";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "../../../src/core/message.ts";
import type { ModelSpec } from "../../../src/core/model.ts";
import {
  getTextAndImages,
  hasText,
  isOwnReply,
  toImageUrl,
  toResultText,
} from "../../kit/request/history.ts";
import { serializeJson } from "../../kit/request/json_body.ts";
import { CALL_ID_RULE, TOOL_NAME_RULE, toWireName } from "../../kit/request/wire_names.ts";
import { ITEM_PREFIX } from "./response.ts";

/** Items that the API did or thought by itself. Others wait for an answer that we do not have. */
const REPLAYED_ITEMS = [
  "reasoning",
  "compaction",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "mcp_list_tools",
  "mcp_call",
];

/** Writes the conversation, without the system prompt. */
export function toResponsesInput(messages: readonly LlmMessage[], model: ModelSpec): JsonObject[] {
  const callId = (id: string) => toWireName(id, CALL_ID_RULE);
  return messages.flatMap((message) => {
    switch (message.role) {
      case "user":
        return toUserItems(message.content);
      case "tool_result":
        return [toResultItem(message, callId)];
      case "assistant":
        return toReplyItems(message, { isOwn: isOwnReply(message, model), encodeCallId: callId });
    }
  });
}

/** The id of a call on the wire. */
type CallIdEncoder = (id: string) => string;

interface ReplyOptions {
  /** Whether the model that is asked gave the reply. */
  readonly isOwn: boolean;
  readonly encodeCallId: CallIdEncoder;
}

function toUserItems(content: readonly ContentBlock[]): JsonObject[] {
  const shown = getTextAndImages(content);
  return shown.length > 0 ? [{ role: "user", content: shown.map(toInputPart) }] : [];
}

function toInputPart(block: TextBlock | ImageBlock): JsonObject {
  return block.type === "text"
    ? { type: "input_text", text: block.text }
    : { type: "input_image", image_url: toImageUrl(block), detail: "auto" };
}

function toResultItem(message: ToolResultMessage, callId: CallIdEncoder): JsonObject {
  const images = getTextAndImages(message.content).filter(({ type }) => type === "image");
  const text = toResultText(message);
  return {
    type: "function_call_output",
    call_id: callId(message.toolCallId),
    output: images.length === 0 ? text : [{ type: "input_text", text }, ...images.map(toInputPart)],
  };
}

function toReplyItems({ content }: AssistantMessage, options: ReplyOptions): JsonObject[] {
  const items = content.map((block) => toReplyItem(block, options)).filter((item) =>
    item !== undefined
  );
  // Reasoning whose outcome was cut off is refused.
  while (items.at(-1)?.["type"] === "reasoning") items.pop();
  return items;
}

function toReplyItem(
  block: ContentBlock,
  { isOwn, encodeCallId: callId }: ReplyOptions,
): JsonObject | undefined {
  switch (block.type) {
    case "text":
      if (!hasText(block)) return undefined;
      return {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: block.text }],
        ...(isOwn && block.signature && { phase: block.signature }),
      };
    case "tool_call":
      return {
        type: "function_call",
        call_id: callId(block.id),
        name: toWireName(block.name, TOOL_NAME_RULE),
        arguments: serializeJson(block.arguments),
      };
    case "extension":
      return isOwn && REPLAYED_ITEMS.some((type) => block.typeName === ITEM_PREFIX + type)
        ? toReplayedItem(block.data)
        : undefined;
    case "thinking":
    case "image":
      return undefined;
  }
}

/** An item goes back as it came, but for its status, which only replies have. */
function toReplayedItem(data: unknown): JsonObject | undefined {
  if (!isJsonObject(data)) return undefined;
  const { status: _status, ...item } = data;
  return item;
}
