/**
 * The letters of an answer that are typed although its first one has answered the question.
 *
 * @module
 */

/** Time within which the next letter of a word is typed, in milliseconds. */
const NEXT_KEY_MS = 1_000;

/**
 * The word of an answer: its letters do not answer the next question, which may be there before the word is complete, as
 * the second letter of `cancel` and the third one of `always` otherwise would.
 */
export class AnswerWord {
  readonly #rest: string;
  #typed = "";
  #endsAt: number;

  /** @param now Time of the answer, in milliseconds. */
  constructor(answer: string, now: number) {
    this.#rest = answer.slice(1);
    this.#endsAt = now + NEXT_KEY_MS;
  }

  /** Whether a text continues the word. */
  continues(text: string, now: number): boolean {
    const letters = text.trim().toLowerCase();
    if (letters === "") return false;
    const hasTyped = this.#typed !== "";
    this.#typed += letters;
    // The letters in between may have been read by something else.
    const isRest = this.#rest.startsWith(this.#typed) ||
      (hasTyped && this.#rest.includes(this.#typed));
    const isContinued = isRest && now < this.#endsAt;
    this.#endsAt = this.#rest.includes(this.#typed) ? now + NEXT_KEY_MS : -Infinity;
    return isContinued;
  }
}
