/**
 * Writes the content of a download in large parts.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import type { SystemFile } from "../../platform/file_calls.ts";

/** Bytes that are collected, since a connection may deliver them one by one. */
const BUFFER_BYTES = 256 * 1024;

/** Writes to a file in large parts. */
export class BufferedOutput {
  readonly #file: SystemFile;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #length = 0;

  /** Creates it for an open file, from its position. */
  constructor(file: SystemFile) {
    this.#file = file;
  }

  /** Adds bytes. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; rest.length > 0;) {
      const part = rest.subarray(0, BUFFER_BYTES - this.#length);
      this.#buffer.set(part, this.#length);
      this.#length += part.length;
      rest = rest.subarray(part.length);
      if (this.#length === BUFFER_BYTES) await this.flush();
    }
  }

  /** Writes the collected bytes. */
  async flush(): Promise<void> {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    try {
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await this.#file.write(rest));
    } catch (cause) {
      const problem = "Cannot write the model, for which the disk may be full";
      throw new BadRequestError(`${problem}: ${getErrorMessage(cause)}`, { cause });
    }
  }

  /** Keeps what has arrived before a failure, if that is possible. */
  close(): void {
    try {
      if (this.#length > 0) this.#file.writeSync(this.#buffer.subarray(0, this.#length));
    } catch {
      // The first failure is reported.
    }
  }
}
