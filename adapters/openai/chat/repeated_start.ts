/**
 * Replies that repeat the start that the request gave them.
 *
 * @module
 */

import { extractText, extractToolCalls } from "../../../src/core/messages/content.ts";
import type { LlmMessage } from "../../../src/core/messages/message.ts";

/** Returns the text of a reply at the end of a conversation, which the model continues; empty without such a reply. */
export function getContinuedText(messages: readonly LlmMessage[]): string {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || extractToolCalls(last.content).length > 0) return "";
  const text = extractText(last.content);
  return text.trim() === "" ? "" : text;
}

/** Omits the start of a reply where it is a given text; the pieces of a reply that starts otherwise are unchanged. */
export class RepeatedStart {
  readonly #text: string;
  #matched = 0;

  /** Creates a filter for a reply that may start with a text. */
  constructor(text: string) {
    this.#text = text;
  }

  /** Returns what is new in the next piece of the reply. */
  take(piece: string): string {
    const missing = this.#text.slice(this.#matched);
    if (missing === "") return piece;
    if (missing.startsWith(piece)) {
      this.#matched += piece.length;
      return "";
    }
    const isRepeated = piece.startsWith(missing);
    const news = isRepeated ? piece.slice(missing.length) : this.end() + piece;
    this.#matched = this.#text.length;
    return news;
  }

  /** Returns the pieces that were held back, at the end of a reply that did not repeat the whole text. */
  end(): string {
    return this.#matched < this.#text.length ? this.#text.slice(0, this.#matched) : "";
  }
}
