/**
 * The messages of a page as those of an agent.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { findParsedProblem } from "../../core/json/parsed_problem.ts";
import type { ContentBlock } from "../../core/messages/content.ts";
import type { AgentMessage, ToolResultMessage } from "../../core/messages/message.ts";
import { zeroCost, zeroUsage } from "../../core/models/usage.ts";
import { checkReadable, readText } from "../web_client/client_json.ts";
import { toClientDetails } from "../web_client/client_results.ts";
import { fromFilePart } from "./from_file_part.ts";
import { describeDenial, formatOutput } from "./to_ui_parts.ts";

/** Where a message is in the request, and when the request has arrived. */
export interface Position {
  /** Path of the message, for errors. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Converts a message of a page. One of an assistant may be several replies with their results; thoughts, sources and data
 * of the application are left out, and so are messages of the role `system`: a page must not instruct the model in the
 * name of the application.
 *
 * @throws {BadRequestError} If it is invalid.
 */
export function fromUiMessage(message: JsonObject, { path, now }: Position): AgentMessage[] {
  const { role, metadata } = message;
  const parts = readParts(message, path);
  switch (role) {
    case "user":
      return [{
        role,
        id: readText(message, "id", `${path}.`),
        ...readMetadata(metadata, path),
        content: toUserContent(parts, path),
        timestamp: now,
      }];
    case "assistant":
      return new ReplyReader(readText(message, "id", `${path}.`), { path, now }).read(parts);
    case "system":
      return [];
    default:
      throw new BadRequestError(`${path}.role must be user, assistant or system`);
  }
}

function readMetadata(metadata: unknown, path: string): { readonly metadata?: JsonObject } {
  if (!isJsonObject(metadata)) return {};
  checkReadable(metadata, `${path}.metadata`);
  return { metadata };
}

function readParts({ parts }: JsonObject, path: string): JsonObject[] {
  if (Array.isArray(parts) && parts.every((part) => isJsonObject(part))) return parts;
  throw new BadRequestError(`${path}.parts must be a list of objects`);
}

function toUserContent(parts: readonly JsonObject[], path: string): ContentBlock[] {
  return parts.flatMap((part, index): ContentBlock[] => {
    const position = `${path}.parts[${index}].`;
    if (part["type"] === "text") return [{ type: "text", text: readText(part, "text", position) }];
    return part["type"] === "file" ? [fromFilePart(part, position)] : [];
  });
}

/** Reads the replies and results of one message of the assistant. */
class ReplyReader {
  readonly #id: string;
  readonly #position: Position;
  readonly #messages: AgentMessage[] = [];
  #content: ContentBlock[] = [];
  #results: ToolResultMessage[] = [];
  #replies = 0;

  constructor(id: string, position: Position) {
    this.#id = id;
    this.#position = position;
  }

  read(parts: readonly JsonObject[]): AgentMessage[] {
    for (const [index, part] of parts.entries()) this.#add(part, index);
    this.#endReply();
    return this.#messages;
  }

  #add(part: JsonObject, index: number): void {
    const path = `${this.#position.path}.parts[${index}]`;
    const { type } = part;
    if (type === "step-start") this.#endReply();
    else if (type === "text") this.#addText(readText(part, "text", `${path}.`));
    else if (type === "steering-message") this.#addSteering(part, path);
    else if (typeof part["toolCallId"] === "string") this.#addCall(part, path);
  }

  #addText(text: string): void {
    if (text !== "") this.#content.push({ type: "text", text });
  }

  #addSteering(part: JsonObject, path: string): void {
    this.#endReply();
    this.#messages.push({
      role: "user",
      id: readText(part, "id", `${path}.`),
      content: toUserContent(readParts(part, path), path),
      timestamp: this.#position.now,
    });
  }

  /** Adds a call with its result, if it has one; calls that were cut off were never made. */
  #addCall(part: JsonObject, path: string): void {
    const { state, type } = part;
    if (state === "input-streaming") return;
    const id = readText(part, "toolCallId", `${path}.`);
    const isDynamic = type === "dynamic-tool" || typeof type !== "string";
    const name = isDynamic ? readText(part, "toolName", `${path}.`) : type.replace(/^tool-/, "");
    this.#content.push({ type: "tool_call", id, name, arguments: readInput(part) });
    const result = readResult(part, path);
    if (!result) return;
    this.#results.push({
      role: "tool_result",
      id: `${this.#id}-result-${id}`,
      toolCallId: id,
      toolName: name,
      content: [{ type: "text", text: result.text }],
      isError: result.isError,
      ...(typeof result.output === "object" && { details: toClientDetails(result.output) }),
      timestamp: this.#position.now,
    });
  }

  #endReply(): void {
    const content = this.#content;
    if (content.length === 0) return;
    this.#replies++;
    const hasCalls = content.some(({ type }) => type === "tool_call");
    this.#messages.push({
      role: "assistant",
      id: this.#replies === 1 ? this.#id : `${this.#id}-${this.#replies}`,
      content,
      provider: "client",
      modelId: "unknown",
      usage: zeroUsage(),
      cost: zeroCost(),
      stopReason: hasCalls ? "tool_use" : "stop",
      timestamp: this.#position.now,
    }, ...this.#results);
    this.#content = [];
    this.#results = [];
  }
}

/** Returns the arguments of a call; none if they are invalid. */
function readInput({ input }: JsonObject): JsonObject {
  return isJsonObject(input) && findParsedProblem(input) === undefined ? input : {};
}

/** A result. */
interface Result {
  /** Its text for the model. */
  readonly text: string;
  /** The output, if the page has one. */
  readonly output?: unknown;
  /** Whether the call failed. */
  readonly isError: boolean;
}

/** Returns the result of a call; `undefined` if there is none, or only a part of it. */
function readResult(part: JsonObject, path: string): Result | undefined {
  switch (part["state"]) {
    case "output-available":
      return part["preliminary"] === true
        ? undefined
        : { text: readOutput(part, path), output: part["output"], isError: false };
    case "output-error":
      return { text: readText(part, "errorText", `${path}.`), isError: true };
    case "output-denied":
      return { text: describeRefusal(part), isError: true };
    case "approval-requested":
      return { text: "Tool call not run: not approved", isError: true };
    default:
      return undefined;
  }
}

function describeRefusal({ approval }: JsonObject): string {
  const reason = isJsonObject(approval) ? approval["reason"] : undefined;
  return describeDenial({ reason: typeof reason === "string" ? reason : undefined });
}

/** Returns the text of an output for the model: that which it has read before, if the output has another one. */
function readOutput({ output, resultProviderMetadata }: JsonObject, path: string): string {
  const own = isJsonObject(resultProviderMetadata) ? resultProviderMetadata["swink"] : undefined;
  if (isJsonObject(own) && typeof own["text"] === "string") return own["text"];
  checkReadable(output, `${path}.output`);
  return formatOutput(output);
}
