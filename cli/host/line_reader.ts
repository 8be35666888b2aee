/**
 * Lines of standard input.
 *
 * @module
 */

import type { Input } from "./terminal.ts";

/** Reads lines as they are typed. Reads no input before the first call. */
export class LineReader {
  readonly #input: Pick<Input, "bytes">;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #decoder = new TextDecoder();
  #pending: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;
  #text = "";
  #ended = false;

  constructor(input: Pick<Input, "bytes">) {
    this.#input = input;
  }

  /** Returns the next line without its line break; `undefined` at the end of the input or when the signal is aborted. */
  async readLine(signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      const end = this.#text.indexOf("\n");
      if (end >= 0) return this.#takeLine(end);
      if (this.#ended) return this.#text === "" ? undefined : this.#takeLine(this.#text.length);
      await this.#readMore(signal);
    }
    return undefined;
  }

  #takeLine(end: number): string {
    const line = this.#text.slice(0, end).replace(/\r$/, "");
    this.#text = this.#text.slice(end + 1);
    return line;
  }

  /** Waits for bytes. A read that is pending when the signal is aborted is reused by the next call. */
  async #readMore(signal: AbortSignal): Promise<void> {
    const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
    const onAbort = () => resolve(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#reader ??= this.#input.bytes.getReader();
    this.#pending ??= this.#reader.read();
    try {
      const read = await Promise.race([this.#pending, aborted]);
      if (!read) return;
      this.#pending = undefined;
      this.#text += this.#decoder.decode(read.value, { stream: !read.done });
      this.#ended = read.done;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}
