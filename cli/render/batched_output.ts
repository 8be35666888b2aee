/**
 * Combination of small writes into larger ones.
 *
 * @module
 */

import type { Output } from "../host/terminal.ts";

/** Characters that may be pending before a write waits. */
const MAX_PENDING_CHARACTERS = 65_536;

/** Combines all text that arrives during a write into the next write. */
export class BatchedOutput {
  readonly #output: Pick<Output, "write">;
  #pending = "";
  #writing: Promise<void> | undefined;

  constructor(output: Pick<Output, "write">) {
    this.#output = output;
  }

  /** Adds text. With more than 64 Ki characters pending, waits until they are written and rejects if a write failed. */
  async write(text: string): Promise<void> {
    this.#pending += text;
    this.#writing ??= this.#startWriting();
    if (this.#pending.length > MAX_PENDING_CHARACTERS) await this.#writing;
  }

  /** Waits until all text is written. Rejects if a write failed. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  #startWriting(): Promise<void> {
    const writing = this.#writePending();
    // A failure is reported by the next call that waits.
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
