/**
 * One exchange while it is being recorded.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors.ts";
import { redact } from "../core/redact.ts";
import type { CassetteChunk, CassetteEnd, CassetteExchange, CassetteResponse } from "./cassette.ts";
import { decodeUtf8 } from "./cassette_bytes.ts";
import {
  extractSecrets,
  redactChunks,
  redactHeaders,
  redactRequest,
} from "./cassette_redaction.ts";
import type { OutgoingRequest } from "./cassette_request.ts";

/** What an exchange is recorded with. */
export interface ExchangeRecorderOptions {
  /** Which request it is. */
  readonly number: number;
  /** What is asked. */
  readonly request: OutgoingRequest;
  /** Texts that must not be kept. */
  readonly secrets: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called once, when the exchange is over; never rejects. */
  readonly save: (exchange: () => CassetteExchange) => Promise<void>;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Records one exchange. */
export class ExchangeRecorder {
  readonly #options: ExchangeRecorderOptions;
  readonly #secrets: readonly string[];
  readonly #startedAt: number;
  readonly #chunks: { readonly at: number; readonly bytes: Bytes }[] = [];
  readonly #finished = Promise.withResolvers<void>();
  #response: CassetteResponse | null = null;
  #isFinished = false;

  /** Begins to record. */
  constructor(options: ExchangeRecorderOptions) {
    this.#options = options;
    this.#secrets = [...options.secrets, ...extractSecrets(options.request)];
    this.#startedAt = options.now();
  }

  /** Resolves when the exchange is over and saved. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  /** Sends the request. The body of the response is recorded as it is read; its end is told when all of it is saved. */
  async send(fetch: typeof globalThis.fetch): Promise<Response> {
    const { fetchArguments: sendable, signal } = this.#options.request;
    try {
      const response = await fetch(...sendable);
      this.#response = this.#createResponse(response);
      if (response.body === null) {
        await this.#finish({ type: "complete", at: this.#getElapsedMs() });
        return response;
      }
      const { status, statusText, headers } = response;
      return new Response(this.#createBody(response.body), { status, statusText, headers });
    } catch (error) {
      if (signal.aborted) this.abort();
      else await this.#finish(this.#createFailedEnd(error));
      throw error;
    }
  }

  /** Records what has come so far. */
  abort(): void {
    void this.#finish({ type: "aborted", at: this.#getElapsedMs() });
  }

  #createBody(source: ReadableStream<Bytes>): ReadableStream<Bytes> {
    const { signal } = this.#options.request;
    const reader = source.getReader();
    let abort = (): void => {};
    return new ReadableStream<Bytes>({
      start: (controller): void => {
        abort = () => {
          controller.error(signal.reason);
          this.abort();
          reader.cancel(signal.reason).catch(ignore);
        };
        signal.addEventListener("abort", abort, { once: true });
        if (signal.aborted) abort();
      },
      pull: async (controller): Promise<void> => {
        const next = await this.#readChunk(reader);
        if (signal.aborted) return;
        if ("chunk" in next) return controller.enqueue(next.chunk);
        signal.removeEventListener("abort", abort);
        if ("error" in next) controller.error(next.error);
        else controller.close();
      },
      cancel: async (reason): Promise<void> => {
        signal.removeEventListener("abort", abort);
        this.abort();
        await reader.cancel(reason);
      },
    }, { highWaterMark: 0 });
  }

  async #readChunk(reader: ReadableStreamDefaultReader<Bytes>): Promise<BodyReadResult> {
    try {
      const { done, value } = await reader.read();
      if (!done) {
        // Whoever reads the chunk may do with it what he likes.
        this.#chunks.push({ at: this.#getElapsedMs(), bytes: value.slice() });
        return { chunk: value };
      }
      await this.#finish({ type: "complete", at: this.#getElapsedMs() });
      return { end: true };
    } catch (error) {
      await this.#finish(this.#createFailedEnd(error));
      return { error };
    }
  }

  async #finish(end: CassetteEnd): Promise<void> {
    if (!this.#isFinished) {
      this.#isFinished = true;
      this.#options.save(() => this.#createExchange(end)).then(this.#finished.resolve);
    }
    await this.#finished.promise;
  }

  #createExchange(end: CassetteEnd): CassetteExchange {
    const { number, request } = this.#options;
    return {
      exchange: number,
      request: redactRequest(request, this.#secrets),
      ...(this.#response && { response: this.#response }),
      chunks: this.#redactChunks(),
      end,
    };
  }

  #createResponse({ status, statusText, headers }: Response): CassetteResponse {
    return {
      at: this.#getElapsedMs(),
      status,
      ...(statusText !== "" && { statusText }),
      headers: redactHeaders(headers, this.#secrets),
    };
  }

  #redactChunks(): CassetteChunk[] {
    const clean = redactChunks(this.#chunks.map(({ bytes }) => bytes), this.#secrets);
    return this.#chunks.map(({ at }, index) => {
      const bytes = clean[index] ?? new Uint8Array(0);
      const text = decodeUtf8(bytes);
      return text === undefined ? { at, base64: bytes.toBase64() } : { at, text };
    });
  }

  #createFailedEnd(error: unknown): CassetteEnd {
    const name = error instanceof Error ? error.name : "Error";
    return {
      type: "failed",
      at: this.#getElapsedMs(),
      name,
      message: redact(getErrorMessage(error), this.#secrets),
    };
  }

  /** Milliseconds since the request; a clock that was set back tells none. */
  #getElapsedMs(): number {
    return Math.max(0, Math.round(this.#options.now() - this.#startedAt));
  }
}

/** What comes next of a body. */
type BodyReadResult = { readonly chunk: Bytes } | { readonly error: unknown } | {
  readonly end: true;
};

function ignore(): void {}
