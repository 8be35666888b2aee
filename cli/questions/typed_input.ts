/**
 * Input that the user types to answer questions.
 *
 * @module
 */

import type { Input } from "../host/terminal.ts";

/** Time without input after which all earlier input has been read. */
const QUIET_MS = 200;

/** Maximum length of a discarded text that is returned, of which the end is kept, in characters. */
const MAX_TEXT = 1_024;

/** A terminal that has been closed fails to read, which is the end of its input. */
const END: ReadableStreamReadResult<Uint8Array> = { done: true };

const inputs = new WeakMap<object, TypedInput>();

/** Returns the input of a keyboard that all questions of a run share, since only one reader can have it. */
export function getTypedInput(keyboard: Pick<Input, "bytes">): TypedInput {
  const input = inputs.get(keyboard) ?? new TypedInput(keyboard);
  inputs.set(keyboard, input);
  return input;
}

/** Reads standard input in chunks, and nothing before the first call. */
export class TypedInput implements Disposable {
  readonly #input: Pick<Input, "bytes">;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #pending: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;
  /** The last question. */
  #last: Promise<unknown> = Promise.resolve();
  #questions = 0;
  readonly #listeners = new Set<() => Promise<void>>();

  constructor(input: Pick<Input, "bytes">) {
    this.#input = input;
  }

  /** Leaves later input to other readers. */
  [Symbol.dispose](): void {
    this.#reader?.releaseLock();
  }

  /** Whether a question is open, or waits for others. */
  get isAsking(): boolean {
    return this.#questions > 0;
  }

  /** Resolves when no question is open. */
  async untilAnswered(): Promise<void> {
    while (this.isAsking) await this.#last;
  }

  /** Calls a function before each question, which waits for it; returns a function that ends that. */
  onAsk(listener: () => Promise<void>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks a question when those before it are answered. */
  async runExclusively<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    this.#questions++;
    const answer = this.#last.then(async () => {
      try {
        for (const listener of this.#listeners) await listener();
        return await ask();
      } finally {
        this.#questions--;
      }
    });
    this.#last = answer.catch(() => {});
    return await answer;
  }

  /** Discards what was typed before the call, which may take until the user stops typing. Returns it. */
  async discardEarlier(signal: AbortSignal): Promise<string> {
    const decoder = new TextDecoder();
    let discarded = "";
    let chunk: Uint8Array | undefined;
    do {
      const quiet = new AbortController();
      const timer = setTimeout(() => quiet.abort(), QUIET_MS);
      chunk = await this.readChunk(AbortSignal.any([signal, quiet.signal]));
      clearTimeout(timer);
      if (chunk) discarded = (discarded + decoder.decode(chunk, { stream: true })).slice(-MAX_TEXT);
    } while (chunk);
    return discarded;
  }

  /**
   * Returns the next chunk; `undefined` at the end of the input or when the signal is aborted. A read that is pending
   * then is reused by the next call.
   */
  async readChunk(signal: AbortSignal): Promise<Uint8Array | undefined> {
    if (signal.aborted) return undefined;
    const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
    const onAbort = () => resolve(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#reader ??= this.#input.bytes.getReader();
    this.#pending ??= this.#reader.read().catch(() => END);
    try {
      const read = await Promise.race([this.#pending, aborted]);
      if (read) this.#pending = undefined;
      return read?.value;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}
