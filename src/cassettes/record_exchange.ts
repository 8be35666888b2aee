/**
 * Records one exchange.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors/errors.ts";
import { createDeferred } from "../core/ports/deferred.ts";
import { encodeBase64 } from "../core/text/byte_encoding.ts";
import { redact } from "../core/text/redact.ts";
import type { CassetteChunk, CassetteEnd, CassetteExchange, CassetteResponse } from "./cassette.ts";
import { decodeUtf8 } from "./cassette_bytes.ts";
import {
  addEncodedForms,
  extractSecrets,
  redactChunks,
  redactHeaders,
  redactRequest,
} from "./cassette_redaction.ts";
import type { OutgoingRequest } from "./cassette_request.ts";

/** Options for {@linkcode ExchangeRecorder}. */
export interface ExchangeRecorderOptions {
  /** Position among the requests, from 1. */
  readonly number: number;
  readonly request: OutgoingRequest;
  /** Texts to redact, in addition to the secrets of the request. */
  readonly secrets: readonly string[];
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** Called once, when the exchange has ended. Must not reject. */
  readonly save: (exchange: () => CassetteExchange) => Promise<void>;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Sends a request and records the exchange. */
export class ExchangeRecorder {
  readonly #options: ExchangeRecorderOptions;
  readonly #secrets: readonly string[];
  readonly #startedAt: number;
  readonly #chunks: { readonly at: number; readonly bytes: Bytes }[] = [];
  readonly #finished = createDeferred();
  #response: CassetteResponse | null = null;
  #isFinished = false;

  constructor(options: ExchangeRecorderOptions) {
    this.#options = options;
    this.#secrets = addEncodedForms([...options.secrets, ...extractSecrets(options.request)]);
    this.#startedAt = options.now();
  }

  /** Resolves when the exchange has ended and is saved. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  /** Sends the request. The body is recorded while the caller reads it, and closes when the exchange is saved. */
  async send(fetch: typeof globalThis.fetch): Promise<Response> {
    const { fetchArguments, signal } = this.#options.request;
    try {
      const response = await fetch(...fetchArguments);
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

  /** Ends the exchange as aborted, with the chunks received so far. */
  abort(): void {
    void this.#finish({ type: "aborted", at: this.#getElapsedMs() });
  }

  #createBody(source: ReadableStream<Bytes>): ReadableStream<Bytes> {
    const { signal } = this.#options.request;
    const reader = source.getReader();
    let onAbort = (): void => {};
    return new ReadableStream<Bytes>({
      start: (controller): void => {
        onAbort = () => {
          controller.error(signal.reason);
          this.abort();
          reader.cancel(signal.reason).catch(() => {});
        };
        signal.addEventListener("abort", onAbort, { once: true });
        if (signal.aborted) onAbort();
      },
      pull: async (controller): Promise<void> => {
        const next = await this.#readChunk(reader);
        if (signal.aborted) return;
        if ("chunk" in next) return controller.enqueue(next.chunk);
        signal.removeEventListener("abort", onAbort);
        if ("error" in next) controller.error(next.error);
        else controller.close();
      },
      cancel: async (reason): Promise<void> => {
        signal.removeEventListener("abort", onAbort);
        this.abort();
        await reader.cancel(reason);
      },
    }, { highWaterMark: 0 });
  }

  async #readChunk(reader: ReadableStreamDefaultReader<Bytes>): Promise<BodyReadResult> {
    try {
      const { done, value } = await reader.read();
      if (!done) {
        // A copy, because the caller may change or transfer the chunk.
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
    const redacted = redactChunks(this.#chunks.map(({ bytes }) => bytes), this.#secrets);
    return this.#chunks.map(({ at }, index) => {
      const bytes = redacted[index] ?? new Uint8Array(0);
      const text = decodeUtf8(bytes);
      return text === undefined ? { at, base64: encodeBase64(bytes) } : { at, text };
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

  /** Returns milliseconds since the request; 0 if the clock was set back. */
  #getElapsedMs(): number {
    return Math.max(0, Math.round(this.#options.now() - this.#startedAt));
  }
}

type BodyReadResult =
  | { readonly chunk: Bytes }
  | { readonly error: unknown }
  | { readonly end: true };
