/**
 * Messages become what the provider gets; each is converted once.
 *
 * @module
 */

import type { ConvertToLlm } from "../core/context.ts";
import type { AgentMessage, LlmMessage } from "../core/message.ts";
import { hasFile } from "./image_files.ts";
import { hookError } from "./hook_error.ts";

/** Converted messages. */
export interface Converted {
  /** What the provider gets. */
  readonly messages: LlmMessage[];
  /** Whether any of them holds an image that is still a file. */
  readonly hasFiles: boolean;
}

/**
 * A growing history as the provider gets it. Only what is new is converted, so that a turn costs the same
 * however long the run has been.
 */
export class ConvertedHistory {
  readonly #convert: ConvertToLlm;
  readonly #messages: LlmMessage[] = [];
  #taken = 0;
  #hasFiles = false;

  /** Makes an empty one. */
  constructor(convert: ConvertToLlm) {
    this.#convert = convert;
  }

  /** The whole history converted, as an array of the caller's own. */
  of(history: readonly AgentMessage[]): Converted {
    for (const message of history.slice(this.#taken)) {
      const converted = convertOne(this.#convert, message);
      if (converted) this.#messages.push(converted);
      if (converted && hasFile(converted)) this.#hasFiles = true;
      this.#taken++;
    }
    return { messages: this.#messages.slice(), hasFiles: this.#hasFiles };
  }
}

/** Converts any choice of messages, such as a transform makes, and remembers what became of each. */
export class MessageConverter {
  readonly #convert: ConvertToLlm;
  readonly #results = new WeakMap<AgentMessage, LlmMessage | null>();

  /** Makes one that has converted nothing yet. */
  constructor(convert: ConvertToLlm) {
    this.#convert = convert;
  }

  /** Converts messages. */
  of(chosen: readonly AgentMessage[]): Converted {
    const messages: LlmMessage[] = [];
    for (const message of chosen) {
      const converted = this.#resultOf(message);
      if (converted) messages.push(converted);
    }
    return { messages, hasFiles: messages.some(hasFile) };
  }

  #resultOf(message: AgentMessage): LlmMessage | null {
    const known = this.#results.get(message);
    if (known !== undefined) return known;
    const result = convertOne(this.#convert, message);
    this.#results.set(message, result);
    return result;
  }
}

function convertOne(convert: ConvertToLlm, message: AgentMessage): LlmMessage | null {
  try {
    return convert(message) ?? null;
  } catch (thrown) {
    throw hookError("convertToLlm", thrown);
  }
}
