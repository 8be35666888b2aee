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
  hasWords,
  imageUrl,
  isOwnReply,
  resultText,
  shownBlocks,
} from "../../kit/request/history.ts";
import { jsonBody } from "../../kit/request/json_body.ts";
import { CALL_ID_RULE, TOOL_NAME_RULE, wireName } from "../../kit/request/wire_names.ts";
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
export function responsesInput(messages: readonly LlmMessage[], model: ModelSpec): JsonObject[] {
  const callId = (id: string) => wireName(id, CALL_ID_RULE);
  return messages.flatMap((message) => {
    switch (message.role) {
      case "user":
        return promptItem(message.content);
      case "tool_result":
        return [resultItem(message, callId)];
      case "assistant":
        return replyItems(message, { isOwn: isOwnReply(message, model), callId });
    }
  });
}

/** The id of a call on the wire. */
type WireId = (id: string) => string;

interface ReplyOptions {
  /** Whether the model that is asked gave the reply. */
  readonly isOwn: boolean;
  readonly callId: WireId;
}

function promptItem(content: readonly ContentBlock[]): JsonObject[] {
  const shown = shownBlocks(content);
  return shown.length > 0 ? [{ role: "user", content: shown.map(inputPart) }] : [];
}

function inputPart(block: TextBlock | ImageBlock): JsonObject {
  return block.type === "text"
    ? { type: "input_text", text: block.text }
    : { type: "input_image", image_url: imageUrl(block), detail: "auto" };
}

function resultItem(message: ToolResultMessage, callId: WireId): JsonObject {
  const images = shownBlocks(message.content).filter(({ type }) => type === "image");
  const text = resultText(message);
  return {
    type: "function_call_output",
    call_id: callId(message.toolCallId),
    output: images.length === 0 ? text : [{ type: "input_text", text }, ...images.map(inputPart)],
  };
}

function replyItems({ content }: AssistantMessage, options: ReplyOptions): JsonObject[] {
  const items = content.map((block) => replyItem(block, options)).filter((item) =>
    item !== undefined
  );
  // Reasoning whose outcome was cut off is refused.
  while (items.at(-1)?.["type"] === "reasoning") items.pop();
  return items;
}

function replyItem(
  block: ContentBlock,
  { isOwn, callId }: ReplyOptions,
): JsonObject | undefined {
  switch (block.type) {
    case "text":
      if (!hasWords(block)) return undefined;
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
        name: wireName(block.name, TOOL_NAME_RULE),
        arguments: jsonBody(block.arguments),
      };
    case "extension":
      return isOwn && REPLAYED_ITEMS.some((type) => block.typeName === ITEM_PREFIX + type)
        ? itemOf(block.data)
        : undefined;
    case "thinking":
    case "image":
      return undefined;
  }
}

/** An item goes back as it came, but for its status, which only replies have. */
function itemOf(data: unknown): JsonObject | undefined {
  if (!isJsonObject(data)) return undefined;
  const { status: _status, ...item } = data;
  return item;
}
