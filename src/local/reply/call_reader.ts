/**
 * Reads the JSON text of a tool call that arrives in parts.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import { parseJsonOrUndefined } from "../../core/json/parse_json.ts";
import { restoreDigits } from "../../core/json/parsed_problem.ts";

/** Receives a tool call. */
export interface CallWriter {
  /** The call starts. */
  open(name: string): void;
  /** A part of the JSON text of its arguments. */
  writeArguments(text: string): void;
  /** The call is complete. */
  close(): void;
}

/** The start of a call whose name precedes its arguments. */
const CALL_START =
  /^\s*\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\{)/;
/** Longest text before the arguments that can be such a start. */
const MAX_START = 1_000;

/** Reads one call: an object with a name and arguments. */
export class CallReader {
  readonly #writer: CallWriter;
  readonly #names: readonly string[] | undefined;
  #text = "";
  #arguments: JsonObjectEnd | undefined;
  #isComplete = false;

  /**
   * @param names Names that a call without arguments can have. Default: any.
   */
  constructor(writer: CallWriter, names?: readonly string[]) {
    this.#writer = writer;
    this.#names = names;
  }

  /** Whether the name of the call was written. */
  get isOpen(): boolean {
    return this.#arguments !== undefined;
  }

  /** The text before the arguments, and until they have begun, all of it. */
  get text(): string {
    return this.#text;
  }

  /** Whether the call has no text. */
  get isBlank(): boolean {
    return this.#arguments === undefined && this.#text.trim() === "";
  }

  /** Whether the text has ended within a text of the arguments. */
  get isInString(): boolean {
    return this.#arguments?.isInString === true;
  }

  /** Adds a part of the text of the call. */
  add(text: string): void {
    if (this.#arguments) return this.#writeArguments(text);
    this.#text += text;
    if (this.#text.length > MAX_START) return;
    const [start = "", name = ""] = CALL_START.exec(this.#text) ?? [];
    if (start === "") return;
    const parsed = parseJsonOrUndefined(name);
    if (typeof parsed !== "string") return;
    this.#writer.open(parsed);
    this.#arguments = new JsonObjectEnd();
    this.#writeArguments(this.#text.slice(start.length));
  }

  /** Handles the end of the call; returns its text if it is no call. */
  end(): string | undefined {
    if (this.#arguments) {
      if (!this.#isComplete) this.#writer.close();
      return undefined;
    }
    const call = parseJsonOrUndefined(this.#text);
    if (!isJsonObject(call) || typeof call.name !== "string") return this.#text;
    const args = call.arguments ?? call.parameters;
    if (args === undefined && this.#names?.includes(call.name) === false) return this.#text;
    this.#writer.open(call.name);
    this.#writer.writeArguments(
      typeof args === "string" ? args : restoreDigits(JSON.stringify(args ?? {}), this.#text),
    );
    this.#writer.close();
    return undefined;
  }

  #writeArguments(text: string): void {
    if (this.#isComplete) return;
    const length = this.#arguments?.find(text);
    this.#writer.writeArguments(length === undefined ? text : text.slice(0, length));
    if (length === undefined) return;
    this.#isComplete = true;
    this.#writer.close();
  }
}

/** Finds the end of a JSON object in parts of a text. */
export class JsonObjectEnd {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** Whether the object has begun and not ended. */
  get isInside(): boolean {
    return this.#depth > 0;
  }

  /** Whether a text of the object has begun and not ended. */
  get isInString(): boolean {
    return this.#isInString;
  }

  /** Returns the number of characters of a part up to the end of the object; `undefined` if it does not end there. */
  find(text: string): number | undefined {
    for (let index = 0; index < text.length; index++) {
      if (this.#isEnd(text.charAt(index))) return index + 1;
    }
    return undefined;
  }

  #isEnd(character: string): boolean {
    if (this.#isEscaped) {
      this.#isEscaped = false;
    } else if (this.#isInString) {
      if (character === "\\") this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
    } else if (character === '"') {
      this.#isInString = true;
    } else if (character === "{" || character === "[") {
      this.#depth++;
    } else if (character === "}" || character === "]") {
      this.#depth--;
      return this.#depth === 0;
    }
    return false;
  }
}
