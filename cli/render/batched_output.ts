/**
 * Many small pieces, written together.
 *
 * @module
 */

import type { Output } from "../terminal.ts";

/** As much may wait to be written, in characters, before whoever writes has to wait. */
const MAX_PENDING_CHARACTERS = 65_536;

/** Writes what comes while a write is under way with the next one. */
export class BatchedOutput {
  readonly #output: Pick<Output, "write">;
  #pending = "";
  #writing: Promise<void> | undefined;

  /** Makes a batch that goes to an output. */
  constructor(output: Pick<Output, "write">) {
    this.#output = output;
  }

  /** Adds a piece. Waits, and rejects for what was not written, once a lot is waiting. */
  async write(piece: string): Promise<void> {
    this.#pending += piece;
    this.#writing ??= this.#startWriting();
    if (this.#pending.length > MAX_PENDING_CHARACTERS) await this.#writing;
  }

  /** Waits until everything is written. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  #startWriting(): Promise<void> {
    const writing = this.#writePending();
    // Whoever waits next is told of a failure.
    writing.catch(() => {});
    return writing;
  }

  async #writePending(): Promise<void> {
    while (this.#pending !== "") {
      const batch = this.#pending;
      this.#pending = "";
      await this.#output.write(batch);
    }
    this.#writing = undefined;
  }
}
