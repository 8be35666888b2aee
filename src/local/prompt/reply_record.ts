/**
 * The texts of replies as the model has written them.
 *
 * A template would write a reply in another form, with other spaces in the arguments of a call or without its thinking, so
 * that everything after it had to be evaluated again.
 *
 * @module
 */

import type { ContentBlock } from "../../core/messages/content.ts";

/** Most replies that are kept. */
const MAX_REPLIES = 256;
/** Most characters of all replies together. */
const MAX_CHARACTERS = 8_000_000;

/** Keeps the text of replies by their content. */
export class ReplyRecord {
  readonly #replies = new Map<string, string>();
  #characters = 0;

  /** Keeps the text of a reply, and forgets the oldest ones. */
  add(content: readonly ContentBlock[], text: string): void {
    const key = toKey(content);
    this.#remove(key);
    this.#replies.set(key, text);
    this.#characters += key.length + text.length;
    for (const oldest of this.#replies.keys()) {
      if (this.#replies.size <= MAX_REPLIES && this.#characters <= MAX_CHARACTERS) break;
      this.#remove(oldest);
    }
  }

  /** Returns the text of a reply; `undefined` if the model has not written it in this process. */
  find(content: readonly ContentBlock[]): string | undefined {
    return this.#replies.get(toKey(content));
  }

  #remove(key: string): void {
    const text = this.#replies.get(key);
    if (text === undefined) return;
    this.#replies.delete(key);
    this.#characters -= key.length + text.length;
  }
}

/** Ids of calls may be replaced by the loop, so that they are not part of the key. */
function toKey(content: readonly ContentBlock[]): string {
  return JSON.stringify(content.map((block) => {
    switch (block.type) {
      case "text":
        return ["text", block.text];
      case "thinking":
        return ["thinking", block.thinking];
      case "tool_call":
        return ["call", block.name, block.arguments];
      default:
        return [block.type];
    }
  }));
}
