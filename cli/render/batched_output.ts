/**
 * Small writes, combined into larger ones.
 *
 * @module
 */

import type { Output } from "../host/terminal.ts";

/** Characters that may be pending before a write waits. */
const MAX_PENDING_CHARACTERS = 65_536;

/** Combines everything that arrives during a write into the next one. */
export class BatchedOutput {
  readonly #output: Pick<Output, "write">;
  #pending = "";
  #writing: Promise<void> | undefined;

  constructor(output: Pick<Output, "write">) {
    this.#output = output;
  }

  /** Adds text. Waits when 64 KiB are pending, and rejects then if an earlier write failed. */
  async write(text: string): Promise<void> {
    this.#pending += text;
    this.#writing ??= this.#startWriting();
    if (this.#pending.length > MAX_PENDING_CHARACTERS) await this.#writing;
  }

  /** Waits until everything is written. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  #startWriting(): Promise<void> {
    const writing = this.#writePending();
    // The next call that waits reports a failure.
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
