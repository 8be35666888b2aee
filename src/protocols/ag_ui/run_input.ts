/**
 * The input of a run, as a client sends it.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import {
  findLostDigits,
  findParsedProblem,
  restoreDigits,
} from "../../core/json/parsed_problem.ts";
import { type ContentBlock, extractToolCalls } from "../../core/messages/content.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { zeroCost, zeroUsage } from "../../core/models/usage.ts";
import type { ClientTool } from "../web_client/client_input.ts";
import { parseObject, readText } from "../web_client/client_json.ts";
import type { AgUiMessage } from "./ag_ui_event.ts";
import { joinReplies } from "./reply_parts.ts";

/** A tool that the client runs. */
export type AgUiTool = ClientTool;

/** The input of a run. Everything in it is written by the client. */
export interface AgUiRunInput {
  /** Id of the conversation. */
  readonly threadId: string;
  /** Id of the run. */
  readonly runId: string;
  /**
   * The conversation as the client has it; messages of the roles `system`, `developer` and `activity` are left out, and so
   * are those of sub-agents, which are not part of the history.
   */
  readonly messages: readonly AgentMessage[];
  /** The same messages as the client wrote them. */
  readonly clientMessages: readonly AgUiMessage[];
  /** The tools of the client. */
  readonly tools: readonly AgUiTool[];
  /** Facts about what the user sees. */
  readonly context: readonly { readonly description: string; readonly value: string }[];
  /** The decisions on pending approvals, by the id of the tool call. */
  readonly approvals: Readonly<Record<string, ApprovalDecision>>;
  /** State of the client, any JSON value. */
  readonly state: unknown;
  /** Properties for the application, any JSON value. */
  readonly forwardedProps: unknown;
}

/**
 * Parses the JSON of a run input.
 *
 * @throws {BadRequestError} If it is invalid.
 */
export function parseRunInput(text: string, now: number): AgUiRunInput {
  const input = parseObject(text);
  const clientMessages = readList(input, "messages");
  return {
    threadId: readText(input, "threadId"),
    runId: readText(input, "runId"),
    clientMessages: clientMessages as unknown as AgUiMessage[],
    messages: nameResults(joinReplies(
      clientMessages.flatMap((message, index) =>
        toMessage(message, { path: `messages[${index}]`, now })
      ),
    )),
    tools: readList(input, "tools").map((tool, index) => ({
      name: readText(tool, "name", `tools[${index}].`),
      description: readText(tool, "description", `tools[${index}].`),
      parameters: isJsonObject(tool["parameters"])
        ? tool["parameters"]
        : { type: "object", properties: {} },
    })),
    context: readList(input, "context").map((entry, index) => ({
      description: readText(entry, "description", `context[${index}].`),
      value: readText(entry, "value", `context[${index}].`),
    })),
    approvals: readDecisions(input, text),
    state: input["state"],
    forwardedProps: input["forwardedProps"],
  };
}

/** Returns the objects of an optional list. */
function readList(object: JsonObject, name: string): JsonObject[] {
  const { [name]: value } = object;
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((entry) => isJsonObject(entry))) return value;
  throw new BadRequestError(`${name} must be a list of objects`);
}

/** Returns the decisions of the user; of two for the same call, neither is certain. */
function readDecisions(input: JsonObject, text: string): Record<string, ApprovalDecision> {
  const decisions = new Map<string, ApprovalDecision>();
  for (const [index, entry] of readList(input, "resume").entries()) {
    const [id, decision] = toDecision(entry, { index, text });
    if (decisions.has(id)) {
      throw new BadRequestError(`resume[${index}].interruptId is that of an earlier answer`);
    }
    decisions.set(id, decision);
  }
  return Object.fromEntries(decisions);
}

/** An answer in a text. */
interface AnswerPosition {
  readonly index: number;
  readonly text: string;
}

/** An answer without `approved` is a refusal. */
function toDecision(
  entry: JsonObject,
  { index, text }: AnswerPosition,
): [string, ApprovalDecision] {
  const id = readText(entry, "interruptId", `resume[${index}].`);
  const answer = isJsonObject(entry["payload"]) ? entry["payload"] : {};
  const { approved, reason } = answer;
  if (entry["status"] === "resolved" && approved === true) {
    return [id, { type: "approved", ...readEdits(answer, { index, text }) }];
  }
  return [id, { type: "denied", ...(typeof reason === "string" && { reason }) }];
}

/** Names of the arguments with the changes of the user. */
const EDITS = ["editedArgs", "arguments"];

/**
 * Returns the arguments with which a call is approved; none if the user has not changed them.
 *
 * @throws {BadRequestError} If they are invalid: the call must not run as the user did not want it.
 */
function readEdits(
  answer: JsonObject,
  { index, text }: AnswerPosition,
): { readonly arguments?: JsonObject } {
  const name = EDITS.find((name) => (answer[name] ?? undefined) !== undefined);
  if (name === undefined) return {};
  const path = `resume[${index}].payload.${name}`;
  const { [name]: edits } = answer;
  if (!isJsonObject(edits)) throw new BadRequestError(`${path} must be an object`);
  const value = findParsedProblem(edits);
  if (value !== undefined) throw new BadRequestError(`${path} is ${value}`);
  const problem = findLostDigits(restoreDigits(JSON.stringify(edits), text));
  if (problem !== undefined) throw new BadRequestError(`${path}: ${problem}`);
  return { arguments: edits };
}

interface Position {
  readonly path: string;
  readonly now: number;
}

function toMessage(message: JsonObject, { path, now }: Position): AgentMessage[] {
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

function toBlocks(content: unknown, path: string): ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw new BadRequestError(`${path} must be a text or a list`);
  return content.map((part: unknown, index) => toBlock(part, `${path}[${index}]`));
}

function toBlock(part: unknown, path: string): ContentBlock {
  if (!isJsonObject(part)) throw new BadRequestError(`${path} must be an object`);
  const { type, source } = part;
  if (type === "text") return { type, text: readText(part, "text", `${path}.`) };
  if (!isJsonObject(source)) throw new BadRequestError(`${path} has an unsupported type`);
  const { type: kind, mimeType = "" } = source;
  const value = readText(source, "value", `${path}.source.`);
  const mediaType = typeof mimeType === "string" ? mimeType : "";
  // Files are those of a provider, never of the server.
  const provider = typeof source["provider"] === "string" ? source["provider"] : "";
  const media = kind === "data"
    ? { type: "base64", data: value } as const
    : kind === "url"
    ? { type: "url", url: value } as const
    : { type: "provider_file", provider, id: value } as const;
  switch (type) {
    case "image":
      return media.type === "base64"
        ? { type, source: { ...media, mediaType } }
        : { type, source: media };
    case "audio":
    case "document":
      return { type, mediaType, source: media };
    default:
      throw new BadRequestError(`${path} has the type ${String(type)}, which is not supported`);
  }
}
