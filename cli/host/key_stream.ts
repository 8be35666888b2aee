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
export class KeyStream {
  /** The bytes. */
  readonly bytes: ReadableStream<Uint8Array>;
  #stdin: ReadStream | undefined;
  #isPaused = false;
  #isRequested = false;

  constructor() {
    this.bytes = new ReadableStream(
      { pull: (controller) => this.#read(controller) },
      { highWaterMark: 0 },
    );
  }

  /** Leaves input to other programs. A request that is pending waits for `resume()`. */
  pause(): void {
    this.#isPaused = true;
    this.#stdin?.pause();
  }

  /** Reads again. */
  resume(): void {
    this.#isPaused = false;
    if (this.#isRequested) this.#stdin?.resume();
  }

  async #read(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#isRequested = true;
    const stdin = this.#stdin ??= await openStdin();
    const { promise, resolve } = Promise.withResolvers<void>();
    const onData = (chunk: Uint8Array) => {
      controller.enqueue(new Uint8Array(chunk));
      resolve();
    };
    // A terminal that has been closed fails to read, which is the end of its input.
    const onEnd = () => {
      controller.close();
      resolve();
    };
    stdin.once("data", onData).once("end", onEnd).once("close", onEnd).once("error", onEnd);
    if (!this.#isPaused) stdin.resume();
    await promise;
    this.#isRequested = false;
    stdin.pause();
    stdin.off("data", onData).off("end", onEnd).off("close", onEnd).off("error", onEnd);
  }
}

async function openStdin(): Promise<ReadStream> {
  const { default: process } = await import("node:process");
  // Later errors are those of a terminal that has been closed.
  return process.stdin.on("error", () => {});
}
