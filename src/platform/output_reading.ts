/**
 * Reads the output of processes.
 *
 * @module
 */

import { settlesWithin } from "./process_group.ts";

/** Time without output after the end of a process, in turns of the event loop, each of which also reads what is there. */
const IDLE_TURNS = 4;
const TURN_MS = 50;

/** Maximum number of turns in which output is waited for: another process may write a little for ever. */
const MAX_TURNS = 20;

/** Maximum size of the output after the end of a process: that of a pipe. */
const MAX_BYTES = 1_048_576;

/** Reads an output to its end. */
export class OutputReading {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #bytes = 0;
  /** Whether a chunk was read and is not handled yet. */
  #isHandling = false;
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
      this.#bytes += value.length;
      this.#isHandling = true;
      await onChunk(value);
      this.#isHandling = false;
    }
  }

  /**
   * Waits, after the end of a process, for the output that it has left, and stops reading. Another process may hold the output
   * open: the wait ends when there is no output for 200 ms, or when more comes than a pipe can hold.
   */
  async drain(): Promise<void> {
    const maxBytes = this.#bytes + MAX_BYTES;
    let turns = 0;
    let idleTurns = 0;
    while (turns < MAX_TURNS && idleTurns < IDLE_TURNS && this.#bytes < maxBytes) {
      const before = this.#bytes;
      if (await settlesWithin(TURN_MS, this.finished.catch(() => {}))) break;
      if (this.#isHandling) continue;
      turns++;
      idleTurns = this.#bytes > before ? 0 : idleTurns + 1;
    }
    await this.stop();
    await this.finished;
  }

  /** Stops reading. What is not read yet is lost. */
  async stop(): Promise<void> {
    await this.#reader.cancel();
    await this.finished.catch(() => {});
  }
}
