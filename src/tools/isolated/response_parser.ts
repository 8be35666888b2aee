/**
 * Reads the responses of an isolated tool from the output of its process, in which the code of the tool may print
 * anything.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { copyToolResult } from "../../core/messages/to_tool_result.ts";
import { LineSplitter } from "../../core/text/line_splitter.ts";
import {
  type IsolatedDescription,
  type IsolatedResponse,
  RESPONSE_PREFIX,
} from "./isolated_protocol.ts";

/** Maximum length of a response in characters. */
const MAX_RESPONSE_CHARACTERS = 100_000_000;

/** Options for {@linkcode ResponseParser}. */
export interface ResponseParserOptions {
  /** Called with each response. */
  readonly onResponse: (response: IsolatedResponse) => void;
  /** Maximum length of a response in characters. Default: 100 million. */
  readonly maxCharacters?: number;
}

/** Extracts the responses from the output of a process and skips all other lines. */
export class ResponseParser {
  readonly #onResponse: (response: IsolatedResponse) => void;
  readonly #maxCharacters: number;
  readonly #decoder = new TextDecoder();
  #lines = new LineSplitter();

  constructor({ onResponse, maxCharacters = MAX_RESPONSE_CHARACTERS }: ResponseParserOptions) {
    this.#onResponse = onResponse;
    this.#maxCharacters = maxCharacters;
  }

  /** Reads a part of the output. @throws {BadRequestError} When a response is invalid or too long. */
  push(chunk: Uint8Array): void {
    for (const line of this.#lines.push(this.#decoder.decode(chunk, { stream: true }))) {
      if (line.startsWith(RESPONSE_PREFIX)) {
        this.#onResponse(parseResponse(line.slice(RESPONSE_PREFIX.length)));
      }
    }
    if (this.#lines.pendingLength <= this.#maxCharacters) return;
    if (this.#lines.startsWith(RESPONSE_PREFIX)) {
      throw new BadRequestError("The tool sent a response that is too long");
    }
    // The rest of a long line of other output must not begin a response.
    this.#lines = new LineSplitter();
    this.#lines.push(" ");
  }
}

function parseResponse(text: string): IsolatedResponse {
  try {
    return toResponse(JSON.parse(text));
  } catch (error) {
    throw new BadRequestError(`The tool sent an invalid response: ${getErrorMessage(error)}`);
  }
}

/** Checks a response. @throws {TypeError} When it is invalid. */
function toResponse(value: unknown): IsolatedResponse {
  if (!isJsonObject(value)) throw new TypeError("it is not an object");
  switch (value.type) {
    case "description":
      return { type: "description", description: toDescription(value.description) };
    case "update":
      return typeof value.update === "string"
        ? { type: "update", update: value.update }
        : { type: "update", update: toResult(value.update) };
    case "result":
      return { type: "result", result: toResult(value.result) };
    case "error":
      return { type: "error", message: String(value.message) };
    default:
      throw new TypeError(`its type is ${JSON.stringify(value.type)}`);
  }
}

function toResult(value: unknown) {
  if (isJsonObject(value) && Array.isArray(value.content)) {
    return copyToolResult({ ...value, content: value.content });
  }
  throw new TypeError("a result must be { content: [...] }");
}

function toDescription(value: unknown): IsolatedDescription {
  if (!isJsonObject(value)) throw new TypeError("the description is not an object");
  const { name, description, parameters, label, readOnly } = value;
  if (typeof name !== "string" || typeof description !== "string" || !isJsonObject(parameters)) {
    throw new TypeError("the description lacks name, description or parameters");
  }
  return {
    name,
    description,
    parameters,
    ...(typeof label === "string" && { label }),
    ...(typeof readOnly === "boolean" && { readOnly }),
  };
}
