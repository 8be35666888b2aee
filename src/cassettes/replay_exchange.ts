/**
 * Replays one recorded exchange as a `Response`.
 *
 * @module
 */

import type { Sleep } from "../core/ports/ports.ts";
import { decodeBase64 } from "../core/text/byte_encoding.ts";
import type { CassetteChunk, CassetteEnd, CassetteExchange } from "./cassette.ts";

/** Options for `replayExchange()`. */
export interface ReplayExchangeOptions {
  readonly signal: AbortSignal;
  /** Whether the response arrives at once or takes as long as the recorded one. */
  readonly timing: "at_once" | "as_recorded";
  readonly sleep: Sleep;
}

/** Wait after the recorded time for the caller to abort an aborted exchange, in milliseconds. */
const ABORT_GRACE_MS = 1_000;

/** Answers with the recorded response, or rejects with the recorded error. */
export async function replayExchange(
  { response, chunks, end }: CassetteExchange,
  options: ReplayExchangeOptions,
): Promise<Response> {
  const clock = new ReplayClock(options);
  if (!response) {
    const error = await clock.waitForEnd(end);
    options.signal.throwIfAborted();
    throw error;
  }
  await clock.waitUntil(response.at);
  options.signal.throwIfAborted();
  const { status, statusText = "", headers } = response;
  const hasNoBody = status === 204 || status === 205 || status === 304;
  const body = hasNoBody ? null : createBody(chunks, end, clock);
  return new Response(body, { status, statusText, headers });
}

function createBody(
  chunks: readonly CassetteChunk[],
  end: CassetteEnd,
  clock: ReplayClock,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { signal } = clock;
  const remaining = chunks.values();
  let removeListener = (): void => {};
  return new ReadableStream({
    start(controller): void {
      const onAbort = (): void => controller.error(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      removeListener = () => signal.removeEventListener("abort", onAbort);
    },
    async pull(controller): Promise<void> {
      const { value: chunk } = remaining.next();
      if (chunk) {
        await clock.waitUntil(chunk.at);
        if (!signal.aborted) controller.enqueue(decodeChunk(chunk));
        return;
      }
      const error = await clock.waitForEnd(end);
      removeListener();
      if (signal.aborted) return;
      if (error) controller.error(error);
      else controller.close();
    },
    cancel: () => removeListener(),
  }, { highWaterMark: 0 });
}

/** Waits as long as the recorded exchange took. */
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

  /** Waits until a recorded time, in milliseconds since the request, unless the replay is at once. */
  async waitUntil(at: number): Promise<void> {
    const delayMs = at - this.#elapsedMs;
    this.#elapsedMs = Math.max(this.#elapsedMs, at);
    if (this.#timing === "as_recorded" && delayMs > 0) await this.#sleep(delayMs, this.signal);
  }

  /** Waits for the end of the exchange and returns its error, if any; waits for the abort of an aborted one. */
  async waitForEnd(end: CassetteEnd): Promise<Error | undefined> {
    if (end.type !== "aborted") {
      await this.waitUntil(end.at);
      return end.type === "failed" ? createError(end) : undefined;
    }
    await this.#sleep(Math.max(0, end.at - this.#elapsedMs) + ABORT_GRACE_MS, this.signal);
    return new DOMException("The recorded request was aborted here", "AbortError");
  }
}

function decodeChunk(chunk: CassetteChunk): Uint8Array<ArrayBuffer> {
  return "text" in chunk ? new TextEncoder().encode(chunk.text) : decodeBase64(chunk.base64);
}

function createError(
  { name, message }: { readonly name: string; readonly message: string },
): Error {
  if (name === "TypeError") return new TypeError(message);
  if (name === "AbortError" || name === "TimeoutError") return new DOMException(message, name);
  return Object.assign(new Error(message), { name });
}
