/**
 * Lines that somebody types.
 *
 * @module
 */

import type { Input } from "./terminal.ts";

/** Reads what is typed as lines. */
export class LineReader {
  readonly #input: Pick<Input, "bytes">;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #decoder = new TextDecoder();
  #pending: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;
  #text = "";
  #ended = false;

  /** Makes a reader; nothing is read before the first line is asked for. */
  constructor(input: Pick<Input, "bytes">) {
    this.#input = input;
  }

  /** The next line, without its end; `undefined` at the end of the input, and when the signal fires. */
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

  /** Waits for bytes. A read that the signal leaves behind is taken up by the next line. */
  async #readMore(signal: AbortSignal): Promise<void> {
    const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
    const give = () => resolve(undefined);
    signal.addEventListener("abort", give, { once: true });
    this.#reader ??= this.#input.bytes.getReader();
    this.#pending ??= this.#reader.read();
    try {
      const read = await Promise.race([this.#pending, aborted]);
      if (!read) return;
      this.#pending = undefined;
      this.#text += this.#decoder.decode(read.value, { stream: !read.done });
      this.#ended = read.done;
    } finally {
      signal.removeEventListener("abort", give);
    }
  }
}
