/**
 * The output of a command: limited for the model, whole in a file when it is more.
 *
 * @module
 */

import { TextCollector } from "../text/output_limit.ts";
import { toPlainOutput } from "../text/plain_output.ts";

/** Past this the file does not grow: a command that writes without end shall not fill the disk. */
const MAX_FILE_BYTES = 200_000_000;

/** What is kept in memory until the file is needed. */
const MAX_BUFFERED_BYTES = 1_000_000;

/** Collects the output of one command. */
export class CommandOutput implements AsyncDisposable {
  readonly #choosePath: () => Promise<string>;
  readonly #decoder = new TextDecoder();
  readonly #collector = new TextCollector();
  #buffered: Uint8Array[] | undefined = [];
  #bufferedBytes = 0;
  #path: string | undefined;
  #file: Deno.FsFile | undefined;
  #fileBytes = 0;

  /** Makes a collector; the path of the file is asked for when there is more output than will be shown. */
  constructor(choosePath: () => Promise<string>) {
    this.#choosePath = choosePath;
  }

  /** The file with all of the output, when there is one. */
  get file(): string | undefined {
    return this.#path;
  }

  /** Takes the next bytes; returns what they are as text, without half a character at the end. */
  async push(chunk: Uint8Array): Promise<string> {
    const text = this.#decoder.decode(chunk, { stream: true });
    this.#collector.push(text);
    this.#buffered?.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#buffered === undefined) await this.#writeToFile(chunk);
    else if (this.#bufferedBytes > MAX_BUFFERED_BYTES) await this.#spill();
    return text;
  }

  /** The text for the model, and the file that has all of it where that is more. */
  async finish(): Promise<{ readonly text: string; readonly file?: string }> {
    this.#collector.push(this.#decoder.decode());
    if (this.#collector.isOverLimit && this.#buffered !== undefined) await this.#spill();
    const isCut = this.#fileBytes >= MAX_FILE_BYTES;
    const hint = this.#path &&
      `${isCut ? "the first 200 MB are" : "all of it is"} in ${this.#path}`;
    const { text } = this.#collector.finish(hint);
    return { text: toPlainOutput(text), ...(this.#path !== undefined && { file: this.#path }) };
  }

  async #spill(): Promise<void> {
    const held = this.#buffered ?? [];
    this.#buffered = undefined;
    try {
      this.#path = await this.#choosePath();
      this.#file = await Deno.open(this.#path, { write: true, create: true, truncate: true });
    } catch {
      // A full disk costs the file, not the command's result.
      this.#path = undefined;
    }
    for (const chunk of held) await this.#writeToFile(chunk);
  }

  async #writeToFile(chunk: Uint8Array): Promise<void> {
    if (!this.#file || this.#fileBytes >= MAX_FILE_BYTES) return;
    try {
      this.#fileBytes += chunk.length;
      for (let at = 0; at < chunk.length;) at += await this.#file.write(chunk.subarray(at));
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
