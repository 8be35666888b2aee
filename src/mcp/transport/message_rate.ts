/**
 * Limits how fast messages are read, so that a server that sends them without end gets no more than a part of the time
 * of this program.
 *
 * @module
 */

import type { Clock } from "../../core/ports/ports.ts";

/** Maximum number of messages in a window. */
const MAX_MESSAGES = 1_000;
/** Maximum length of the messages in a window, which may take a third of its time; one message may be longer. */
const MAX_LENGTH = 4 * 1024 * 1024;
const WINDOW_MS = 1_000;

/** Counts the messages of a connection. */
export class MessageRate {
  readonly #clock: Clock;
  #windowStart: number;
  #count = 0;
  #length = 0;

  /** Creates a counter. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#windowStart = clock.now();
  }

  /** Counts a message of a length. The returned promise, if there is one, resolves when the next message may be read. */
  count(length: number, signal: AbortSignal): Promise<void> | undefined {
    this.#length += length;
    if (++this.#count < MAX_MESSAGES && this.#length < MAX_LENGTH) return undefined;
    return this.#waitForWindow(signal);
  }

  async #waitForWindow(signal: AbortSignal): Promise<void> {
    const remaining = this.#windowStart + WINDOW_MS - this.#clock.now();
    if (remaining > 0) await this.#clock.sleep(remaining, signal);
    this.#windowStart = this.#clock.now();
    this.#count = 0;
    this.#length = 0;
  }
}
