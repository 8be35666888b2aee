/**
 * The messages of a client as those of an agent.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { findParsedProblem } from "../../core/json/parsed_problem.ts";
import { type ContentBlock, extractToolCalls } from "../../core/messages/content.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { zeroCost, zeroUsage } from "../../core/models/usage.ts";
import { checkReadable, readList, readText } from "../web_client/client_json.ts";
import { toBlocks } from "./from_client_content.ts";
import { joinReplies } from "./reply_parts.ts";

/**
 * Converts the messages of a client. A further text of a reply is part of it.
 *
 * @throws {BadRequestError} If one is invalid.
 */
export function toHistory(messages: readonly JsonObject[], now: number): AgentMessage[] {
  const converted = messages.flatMap((message, index) =>
    toMessage(message, { path: `messages[${index}]`, now })
  );
  return nameResults(joinReplies(converted));
}

/** Where a message is in the request, and when the request has arrived. */
interface Position {
  readonly path: string;
  readonly now: number;
}

function toMessage(message: JsonObject, { path, now }: Position): AgentMessage[] {
  checkReadable(message, path);
  const { role } = message;
  const common = { id: readText(message, "id", `${path}.`), timestamp: now };
  // The agent has the report of a sub-agent as the result of its call.
  if (typeof message["subagentRunId"] === "string") return [];
  switch (role) {
    case "user":
      return [{ role, ...common, content: toBlocks(message["content"], `${path}.content`) }];
    case "assistant":
      return [{
        role,
        ...common,
        content: [...toText(message["content"]), ...toCalls(message, path)],
        provider: "client",
        modelId: "unknown",
        usage: zeroUsage(),
        cost: zeroCost(),
        stopReason: toCalls(message, path).length > 0 ? "tool_use" : "stop",
      }];
    case "tool":
      return [{
        role: "tool_result",
        ...common,
        toolCallId: readText(message, "toolCallId", `${path}.`),
        toolName: "",
        ...toResult(message, path),
      }];
    // A client must not instruct the model in the name of the application.
    case "system":
    case "developer":
    case "activity":
    case "reasoning":
      return [];
    default:
      throw new BadRequestError(`${path}.role is unknown`);
  }
}

/** Returns the content of a result; that of a failed call without one is its error. */
function toResult({ content, error, metadata }: JsonObject, path: string) {
  const hasError = typeof error === "string";
  const isEmpty = content === undefined || content === "";
  return {
    content: toBlocks(hasError && isEmpty ? error : content, `${path}.content`),
    isError: hasError || isMarkedAsError(metadata),
  };
}

/** Whether metadata are those of a result of a failed call, which the client has kept. */
function isMarkedAsError(metadata: unknown): boolean {
  if (!isJsonObject(metadata)) return false;
  const { swink } = metadata;
  return isJsonObject(swink) && swink["isError"] === true;
}

/** Returns the messages with the name of the tool in each result, which a client does not send. */
function nameResults(messages: readonly AgentMessage[]): AgentMessage[] {
  const names = new Map<string, string>();
  return messages.map((message) => {
    if (message.role === "assistant") {
      for (const { id, name } of extractToolCalls(message.content)) names.set(id, name);
    }
    if (message.role !== "tool_result") return message;
    return { ...message, toolName: names.get(message.toolCallId) ?? "" };
  });
}

function toText(content: unknown): ContentBlock[] {
  return typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
}

function toCalls(message: JsonObject, path: string): ContentBlock[] {
  return readList(message, "toolCalls").map((call, index) => {
    const { function: called } = call;
    if (!isJsonObject(called)) {
      throw new BadRequestError(`${path}.toolCalls[${index}].function must be an object`);
    }
    const position = `${path}.toolCalls[${index}].`;
    return {
      type: "tool_call",
      id: readText(call, "id", position),
      name: readText(called, "name", position),
      arguments: parseArguments(readText(called, "arguments", position)),
    };
  });
}

/** Returns no arguments for those that were cut off, or that have numbers out of range. */
function parseArguments(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && findParsedProblem(value) === undefined ? value : {};
  } catch {
    return {};
  }
}
