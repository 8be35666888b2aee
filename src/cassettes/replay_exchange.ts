/**
 * One recorded exchange, answered again.
 *
 * @module
 */

import type { CassetteChunk, CassetteEnd, CassetteExchange } from "./cassette.ts";
import type { Sleep } from "../core/ports.ts";

/** How an exchange is replayed. */
export interface ReplayExchangeOptions {
  /** Breaks it off. */
  readonly signal: AbortSignal;
  /** Whether it takes as long as it took. */
  readonly timing: "at_once" | "as_recorded";
  /** Waits. */
  readonly sleep: Sleep;
}

/** Who broke an exchange off is expected to do so again; for how much longer than in the recording, in milliseconds. */
const ABORT_GRACE_MS = 1_000;

/** Answers as it was answered. */
export async function replayExchange(
  { response, chunks, end }: CassetteExchange,
  options: ReplayExchangeOptions,
): Promise<Response> {
  const pace = new ReplayClock(options);
  if (!response) {
    const error = await pace.waitForEnd(end);
    options.signal.throwIfAborted();
    throw error;
  }
  await pace.waitUntil(response.at);
  options.signal.throwIfAborted();
  const { status, statusText = "", headers } = response;
  const hasNoBody = status === 204 || status === 205 || status === 304;
  const body = hasNoBody ? null : createBody(chunks, end, pace);
  return new Response(body, { status, statusText, headers });
}

function createBody(
  chunks: readonly CassetteChunk[],
  end: CassetteEnd,
  pace: ReplayClock,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { signal } = pace;
  const left = chunks.values();
  let release = (): void => {};
  return new ReadableStream({
    start(controller): void {
      const breakOff = (): void => controller.error(signal.reason);
      signal.addEventListener("abort", breakOff, { once: true });
      release = () => signal.removeEventListener("abort", breakOff);
    },
    async pull(controller): Promise<void> {
      const { value: chunk } = left.next();
      if (chunk) {
        await pace.waitUntil(chunk.at);
        if (!signal.aborted) controller.enqueue(decodeChunk(chunk));
        return;
      }
      const error = await pace.waitForEnd(end);
      release();
      if (signal.aborted) return;
      if (error) controller.error(error);
      else controller.close();
    },
    cancel: () => release(),
  }, { highWaterMark: 0 });
}

/** The time that goes by while an exchange is replayed. */
class ReplayClock {
  readonly signal: AbortSignal;
  readonly #timing: ReplayExchangeOptions["timing"];
  readonly #sleep: Sleep;
  #elapsedMs = 0;

  constructor({ signal, timing, sleep }: ReplayExchangeOptions) {
    this.signal = signal;
    this.#timing = timing;
    this.#sleep = sleep;
  }

  /** Lets the time up to a moment of the exchange go by. */
  async waitUntil(at: number): Promise<void> {
    const delayMs = at - this.#elapsedMs;
    this.#elapsedMs = Math.max(this.#elapsedMs, at);
    if (this.#timing === "as_recorded" && delayMs > 0) await this.#sleep(delayMs, this.signal);
  }

  /** Lets the time up to the end go by, and gives the error with which it ended, if any. */
  async waitForEnd(end: CassetteEnd): Promise<Error | undefined> {
    if (end.type !== "aborted") {
      await this.waitUntil(end.at);
      return end.type === "failed" ? createError(end) : undefined;
    }
    await this.#sleep(Math.max(0, end.at - this.#elapsedMs) + ABORT_GRACE_MS, this.signal);
    return new DOMException("The recording was broken off here", "AbortError");
  }
}

function decodeChunk(chunk: CassetteChunk): Uint8Array<ArrayBuffer> {
  return "text" in chunk
    ? new TextEncoder().encode(chunk.text)
    : Uint8Array.fromBase64(chunk.base64);
}

function createError(
  { name, message }: { readonly name: string; readonly message: string },
): Error {
  if (name === "TypeError") return new TypeError(message);
  if (name === "AbortError" || name === "TimeoutError") return new DOMException(message, name);
  return Object.assign(new Error(message), { name });
}
