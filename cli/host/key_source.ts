/**
 * The bytes of a terminal on standard input, which can be left to another program.
 *
 * @module
 */

import type { ReadStream } from "node:tty";

/**
 * Reads standard input only while bytes are requested.
 *
 * A read of `Deno.stdin` cannot be canceled: it would take the next key from an editor that the program starts. Node's
 * stream waits for input without reading it.
 */
export class KeySource {
  readonly #stdin: ReadStream;
  #isPaused = false;
  #isRequested = false;

  constructor(stdin: ReadStream) {
    this.#stdin = stdin;
    // Errors are those of a terminal that has been closed.
    stdin.on("error", () => {});
  }

  /** Returns the next bytes; `undefined` at the end of the input. One call at a time. */
  async read(): Promise<Uint8Array | undefined> {
    const stdin = this.#stdin;
    const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>();
    const onData = (chunk: Uint8Array) => resolve(new Uint8Array(chunk));
    const onEnd = () => resolve(undefined);
    stdin.once("data", onData).once("end", onEnd).once("close", onEnd).once("error", onEnd);
    this.#isRequested = true;
    if (!this.#isPaused) stdin.resume();
    const bytes = await promise;
    this.#isRequested = false;
    stdin.pause();
    stdin.off("data", onData).off("end", onEnd).off("close", onEnd).off("error", onEnd);
    return bytes;
  }

  /** Leaves input to other programs. A read that is pending waits for `resume()`. */
  pause(): void {
    this.#isPaused = true;
    this.#stdin.pause();
  }

  /** Reads again. */
  resume(): void {
    this.#isPaused = false;
    if (this.#isRequested) this.#stdin.resume();
  }
}

/** Opens standard input. */
export async function openKeySource(): Promise<KeySource> {
  const { default: process } = await import("node:process");
  return new KeySource(process.stdin);
}
