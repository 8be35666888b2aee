/**
 * Many small pieces, written together.
 *
 * @module
 */

import type { Output } from "../terminal.ts";

/** As much may wait to be written, in characters, before whoever writes has to wait. */
const MOST_WAITING = 65_536;

/** Writes what comes while a write is under way with the next one. */
export class BatchedOutput {
  readonly #output: Pick<Output, "write">;
  #waiting = "";
  #writing: Promise<void> | undefined;

  /** Makes a batch that goes to an output. */
  constructor(output: Pick<Output, "write">) {
    this.#output = output;
  }

  /** Adds a piece. Waits, and rejects for what was not written, once a lot is waiting. */
  async write(piece: string): Promise<void> {
    this.#waiting += piece;
    this.#writing ??= this.#writeAll();
    if (this.#waiting.length > MOST_WAITING) await this.#writing;
  }

  /** Waits until everything is written. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  #writeAll(): Promise<void> {
    const writing = this.#writeWaiting();
    // Whoever waits next is told of a failure.
    writing.catch(() => {});
    return writing;
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting !== "") {
      const batch = this.#waiting;
      this.#waiting = "";
      await this.#output.write(batch);
    }
    this.#writing = undefined;
  }
}
