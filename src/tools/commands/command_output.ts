/**
 * The output of a command: truncated for the model, complete in a file.
 *
 * @module
 */

import { TextCollector } from "../../core/text/output_limit.ts";
import type { SystemFile } from "../../platform/file_calls.ts";
import { system } from "../../platform/system.ts";
import { toPlainOutput } from "../text/plain_output.ts";

/** Maximum size of the file, so that an endless command does not fill the disk. */
const MAX_FILE_BYTES = 200_000_000;

/** Maximum output held in memory before it goes to a file. */
const MAX_BUFFERED_BYTES = 1_000_000;

/** Collects the output of one command. */
export class CommandOutput implements AsyncDisposable {
  readonly #choosePath: () => Promise<string>;
  readonly #decoder = new TextDecoder();
  readonly #collector = new TextCollector();
  #buffered: Uint8Array[] | undefined = [];
  #bufferedBytes = 0;
  #path: string | undefined;
  #file: SystemFile | undefined;
  #fileBytes = 0;

  /** Creates a collector. Calls `choosePath` when the output needs a file. */
  constructor(choosePath: () => Promise<string>) {
    this.#choosePath = choosePath;
  }

  /** Path of the file with the complete output, if one was written. */
  get file(): string | undefined {
    return this.#path;
  }

  /** Adds the next bytes and returns them as text, without an incomplete character at the end. */
  async push(chunk: Uint8Array): Promise<string> {
    const text = this.#decoder.decode(chunk, { stream: true });
    this.#collector.push(text);
    this.#buffered?.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#buffered === undefined) await this.#writeToFile(chunk);
    else if (this.#bufferedBytes > MAX_BUFFERED_BYTES) await this.#spill();
    return text;
  }

  /** Returns the truncated text and, if it was truncated, the file with the complete output. */
  async finish(): Promise<{ readonly text: string; readonly file?: string }> {
    this.#collector.push(this.#decoder.decode());
    if (this.#collector.isOverLimit && this.#buffered !== undefined) await this.#spill();
    const isTruncated = this.#fileBytes >= MAX_FILE_BYTES;
    const hint = this.#path &&
      `${isTruncated ? "first 200 MB" : "complete output"} in ${this.#path}`;
    const { text } = this.#collector.finish(hint);
    return { text: toPlainOutput(text), ...(this.#path !== undefined && { file: this.#path }) };
  }

  async #spill(): Promise<void> {
    const chunks = this.#buffered ?? [];
    this.#buffered = undefined;
    try {
      this.#path = await this.#choosePath();
      this.#file = await system.open(this.#path, { write: true, create: true, truncate: true });
    } catch {
      // Without a file, for example on a full disk, the command still has its truncated result.
      this.#path = undefined;
    }
    for (const chunk of chunks) await this.#writeToFile(chunk);
  }

  async #writeToFile(chunk: Uint8Array): Promise<void> {
    if (!this.#file || this.#fileBytes >= MAX_FILE_BYTES) return;
    try {
      this.#fileBytes += chunk.length;
      for (let offset = 0; offset < chunk.length;) {
        offset += await this.#file.write(chunk.subarray(offset));
      }
    } catch {
      this.#fileBytes = MAX_FILE_BYTES;
    }
  }

  /** Closes the file. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#file?.close();
    this.#file = undefined;
    return Promise.resolve();
  }
}
