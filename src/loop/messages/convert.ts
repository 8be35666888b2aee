/**
 * Converts messages for the provider.
 *
 * @module
 */

import { type ConvertToLlm, omitCustomMessages } from "../../core/context/context.ts";
import { refusePromise } from "../../core/errors/refuse_promise.ts";
import { findMessageProblem } from "../../core/messages/check_message.ts";
import type { AgentMessage, LlmMessage } from "../../core/messages/message.ts";
import { toHookError } from "../callbacks/hook_error.ts";
import { hasMediaFile } from "./media_files.ts";

/** Converted messages. */
export interface ConvertedMessages {
  /** The messages for the provider. */
  readonly messages: LlmMessage[];
  /** Whether any of them has a block whose source is a file. */
  readonly hasFiles: boolean;
}

/** Converts a growing history; each call converts only the messages that were appended since the last one. */
export class HistoryConverter {
  readonly #convert: ConvertToLlm;
  readonly #messages: LlmMessage[] = [];
  #convertedCount = 0;
  #hasFiles = false;

  constructor(convert: ConvertToLlm) {
    this.#convert = convert;
  }

  /**
   * Returns the converted history as a new array.
   *
   * @throws {AgentError} If `convertToLlm` throws.
   */
  convert(history: readonly AgentMessage[]): ConvertedMessages {
    for (const message of history.slice(this.#convertedCount)) {
      const converted = convertMessage(this.#convert, message);
      if (converted) this.#messages.push(converted);
      if (converted && hasMediaFile(converted)) this.#hasFiles = true;
      this.#convertedCount++;
    }
    return { messages: this.#messages.slice(), hasFiles: this.#hasFiles };
  }
}

/** Converts any list of messages; caches the result by message object. */
export class MessageConverter {
  readonly #convert: ConvertToLlm;
  readonly #results = new WeakMap<AgentMessage, LlmMessage | null>();

  constructor(convert: ConvertToLlm) {
    this.#convert = convert;
  }

  /**
   * Returns the converted messages.
   *
   * @throws {AgentError} If a message is invalid, or `convertToLlm` throws.
   */
  convert(history: readonly AgentMessage[]): ConvertedMessages {
    const messages: LlmMessage[] = [];
    for (const message of history) {
      const converted = this.#convertCached(message);
      if (converted) messages.push(converted);
    }
    return { messages, hasFiles: messages.some(hasMediaFile) };
  }

  #convertCached(message: AgentMessage): LlmMessage | null {
    const cached = this.#results.get(message);
    if (cached !== undefined) return cached;
    checkTransformed(message);
    const result = convertMessage(this.#convert, message);
    this.#results.set(message, result);
    return result;
  }
}

/** Checks a message, which `transformContext` may have made. */
function checkTransformed(message: AgentMessage): void {
  const problem = findMessageProblem(message);
  if (problem === undefined) return;
  throw toHookError(
    "transformContext",
    new TypeError(`it returned an invalid message: ${problem}`),
  );
}

function convertMessage(convert: ConvertToLlm, message: AgentMessage): LlmMessage | null {
  try {
    const converted = convert(message) ?? null;
    if (converted !== null && convert !== omitCustomMessages) assertLlmMessage(converted);
    return converted;
  } catch (thrown) {
    throw toHookError("convertToLlm", thrown);
  }
}

function assertLlmMessage(message: LlmMessage): void {
  refusePromise(message, "convertToLlm");
  const problem = findMessageProblem(message);
  if (problem) throw new TypeError(problem);
  if ((message as AgentMessage).role === "custom") {
    throw new TypeError("it must return null for a custom message, or convert it");
  }
}
