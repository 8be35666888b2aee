/**
 * Messages in the JSON format of `gen_ai.input.messages` and `gen_ai.output.messages`.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { ContentBlock } from "../core/messages/content.ts";
import type { AgentMessage } from "../core/messages/message.ts";
import type { StopReason } from "../core/models/model.ts";

/** Returns messages as JSON. Custom messages, which no model gets, are omitted. */
export function formatMessages(messages: readonly AgentMessage[]): string {
  return `[${messages.map(formatMessage).filter((text) => text !== "").join(",")}]`;
}

/** The JSON of messages, which every request of a run repeats. */
const texts = new WeakMap<AgentMessage, string>();

function formatMessage(message: AgentMessage): string {
  const text = texts.get(message) ?? toMessages(message).map((part) => JSON.stringify(part)).join();
  texts.set(message, text);
  return text;
}

/** Returns a system prompt as JSON, in the format of `gen_ai.system_instructions`. */
export function formatInstructions(systemPrompt: string): string {
  return JSON.stringify([{ type: "text", content: systemPrompt }]);
}

/**
 * Returns the result of a tool as JSON, in the format of `gen_ai.tool.call.result`, which is an object: the text if it is
 * one, else the parts of the content.
 */
export function formatResult(content: readonly ContentBlock[]): string {
  const [first, ...others] = content;
  if (first?.type === "text" && others.length === 0 && isObjectText(first.text)) return first.text;
  return JSON.stringify({ content: content.map(toPart) });
}

function isObjectText(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Returns the reason for the end of a reply, in the words of the conventions. */
export function getFinishReason(stopReason: StopReason, errorCode?: string): string {
  return errorCode === "content_filtered" ? "content_filter" : FINISH_REASONS[stopReason];
}

/** Returns no message for a custom one. */
function toMessages(message: AgentMessage): JsonObject[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", parts: message.content.map(toPart) }];
    case "assistant": {
      const finish_reason = getFinishReason(message.stopReason);
      return [{ role: "assistant", parts: message.content.map(toPart), finish_reason }];
    }
    case "tool_result": {
      const { toolCallId: id, content } = message;
      const response = content.map(toPart);
      return [{ role: "tool", parts: [{ type: "tool_call_response", id, response }] }];
    }
    case "custom":
      return [];
  }
}

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  stop: "stop",
  length: "length",
  tool_use: "tool_call",
  aborted: "error",
  error: "error",
};

/** Returns a part of a message. Media are described by their type and not copied into the trace. */
function toPart(block: ContentBlock): JsonObject {
  switch (block.type) {
    case "text":
      return { type: "text", content: block.text };
    case "thinking":
      return { type: "reasoning", content: block.thinking };
    case "tool_call":
      return { type: "tool_call", id: block.id, name: block.name, arguments: block.arguments };
    case "image":
    case "document":
    case "audio":
      return { type: block.type, source: block.source.type };
    case "extension":
      return { type: block.typeName };
  }
}
