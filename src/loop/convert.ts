/**
 * Messages become what the provider gets; each is converted once.
 *
 * @module
 */

import type { ConvertToLlm } from "../core/context.ts";
import type { AgentMessage, LlmMessage } from "../core/message.ts";
import { hasImageFile } from "./image_files.ts";
import { toHookError } from "./hook_error.ts";

/** Converted messages. */
export interface ConvertedMessages {
  /** What the provider gets. */
  readonly messages: LlmMessage[];
  /** Whether any of them holds an image that is still a file. */
  readonly hasFiles: boolean;
}

/**
 * A growing history as the provider gets it. Only what is new is converted, so that a turn costs the same
 * however long the run has been.
 */
export class HistoryConverter {
  readonly #convert: ConvertToLlm;
  readonly #messages: LlmMessage[] = [];
  #convertedCount = 0;
  #hasFiles = false;

  /** Makes an empty one. */
  constructor(convert: ConvertToLlm) {
    this.#convert = convert;
  }

  /** The whole history converted, as an array of the caller's own. */
  convert(history: readonly AgentMessage[]): ConvertedMessages {
    for (const message of history.slice(this.#convertedCount)) {
      const converted = convertMessage(this.#convert, message);
      if (converted) this.#messages.push(converted);
      if (converted && hasImageFile(converted)) this.#hasFiles = true;
      this.#convertedCount++;
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
  convert(chosen: readonly AgentMessage[]): ConvertedMessages {
    const messages: LlmMessage[] = [];
    for (const message of chosen) {
      const converted = this.#convertCached(message);
      if (converted) messages.push(converted);
    }
    return { messages, hasFiles: messages.some(hasImageFile) };
  }

  #convertCached(message: AgentMessage): LlmMessage | null {
    const known = this.#results.get(message);
    if (known !== undefined) return known;
    const result = convertMessage(this.#convert, message);
    this.#results.set(message, result);
    return result;
  }
}

function convertMessage(convert: ConvertToLlm, message: AgentMessage): LlmMessage | null {
  try {
    return convert(message) ?? null;
  } catch (thrown) {
    throw toHookError("convertToLlm", thrown);
  }
}
