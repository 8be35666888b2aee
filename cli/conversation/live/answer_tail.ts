/**
 * The keys with which a user completes the answer to a question, although its first letter has answered it.
 *
 * @module
 */

import type { KeyEvent } from "../../keys/key_event.ts";
import { formatKey } from "../../keys/key_notation.ts";

/** Time within which the next key of an answer is typed, in milliseconds. */
const NEXT_KEY_MS = 1_000;

/**
 * Removes Enter, or the rest of the word and Enter, behind an answer: `yes` and Enter would otherwise send `es` with the
 * line that was set aside. Other keys are passed on, in order.
 */
export class AnswerTail {
  #rest: string;
  #held: KeyEvent[] = [];
  #endsAt: number;

  /** @param now Time of the answer, in milliseconds. */
  constructor(answer: string, now: number) {
    this.#rest = answer.slice(1);
    this.#endsAt = now + NEXT_KEY_MS;
  }

  /** Returns the keys that are not part of the answer: none, or this one and those that were held back before it. */
  filter(event: KeyEvent, now: number): readonly KeyEvent[] {
    const isInTime = now < this.#endsAt;
    const isWord = this.#held.length === 0 || this.#rest === "";
    if (isInTime && event.type === "character" && this.#rest.startsWith(event.text)) {
      this.#rest = this.#rest.slice(event.text.length);
      this.#held.push(event);
      this.#endsAt = now + NEXT_KEY_MS;
      return [];
    }
    const held = this.#held;
    this.#held = [];
    this.#endsAt = -Infinity;
    const isEnter = event.type === "key" && formatKey(event) === "enter";
    return isInTime && isEnter && isWord ? [] : [...held, event];
  }
}
