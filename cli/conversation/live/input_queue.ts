/**
 * The inputs that wait to be read.
 *
 * @module
 */

import type { ConversationInput } from "../view/conversation_input.ts";

/** Keeps inputs in order until they are read. */
export class InputQueue {
  readonly #inputs: ConversationInput[] = [];
  #waiting: ((input: ConversationInput) => void) | undefined;
  #isEnded = false;
  #isRead = false;

  /** Whether inputs have been read. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Adds an input. */
  push(input: ConversationInput): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(input);
    else this.#inputs.push(input);
  }

  /** Ends the input: reading returns the end once all inputs are read. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#waiting) this.push({ type: "end" });
  }

  /** Returns the next input. */
  read(): Promise<ConversationInput> {
    this.#isRead = true;
    const input = this.#inputs.shift();
    if (input) return Promise.resolve(input);
    if (this.#isEnded) return Promise.resolve({ type: "end" });
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}
