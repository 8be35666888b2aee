/**
 * Reads the output of processes.
 *
 * @module
 */

import { settlesWithin } from "./process_group.ts";

/** Time without output after the end of a process, in turns of the event loop, each of which also reads what is there. */
const IDLE_TURNS = 4;
const TURN_MS = 50;

/** Maximum number of such turns with output, which another process may write for ever. */
const MAX_TURNS = 20;

/** Reads an output to its end. */
export class OutputReading {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #chunks = 0;
  /** Resolves at the end of the output. Rejects with the error of the stream or of the function that gets the chunks. */
  readonly finished: Promise<void>;

  /** @param onChunk Called with each chunk; a returned promise is awaited. */
  constructor(
    output: ReadableStream<Uint8Array>,
    onChunk: (chunk: Uint8Array) => void | Promise<void>,
  ) {
    this.#reader = output.getReader();
    this.finished = this.#read(onChunk);
    this.finished.catch(() => {}); // reported by drain()
  }

  async #read(onChunk: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return;
      await onChunk(value);
      this.#chunks++;
    }
  }

  /**
   * Waits, after the end of a process, for the output that it has left, and stops reading. Another process may hold the output
   * open: without output for 200 ms, or after a second, the wait ends.
   */
  async drain(): Promise<void> {
    let idleTurns = 0;
    for (let turn = 0; turn < MAX_TURNS && idleTurns < IDLE_TURNS; turn++) {
      const before = this.#chunks;
      if (await settlesWithin(TURN_MS, this.finished.catch(() => {}))) break;
      idleTurns = this.#chunks > before ? 0 : idleTurns + 1;
    }
    await this.#reader.cancel();
    await this.finished;
  }
}
