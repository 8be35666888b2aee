/**
 * One exchange while it is being recorded.
 *
 * @module
 */

import { messageOf } from "../core/errors.ts";
import { redact } from "../core/redact.ts";
import type { CassetteChunk, CassetteEnd, CassetteExchange, CassetteResponse } from "./cassette.ts";
import { textOf } from "./cassette_bytes.ts";
import {
  redactedChunks,
  redactedHeaders,
  redactedRequest,
  secretsOf,
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
  readonly #begunAt: number;
  readonly #chunks: { readonly at: number; readonly bytes: Bytes }[] = [];
  readonly #over = Promise.withResolvers<void>();
  #response: CassetteResponse | null = null;
  #isOver = false;

  /** Begins to record. */
  constructor(options: ExchangeRecorderOptions) {
    this.#options = options;
    this.#secrets = [...options.secrets, ...secretsOf(options.request)];
    this.#begunAt = options.now();
  }

  /** Resolves when the exchange is over and saved. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Sends the request. The body of the response is recorded as it is read; its end is told when all of it is saved. */
  async send(fetch: typeof globalThis.fetch): Promise<Response> {
    const { sendable, signal } = this.#options.request;
    try {
      const response = await fetch(...sendable);
      this.#response = this.#headOf(response);
      if (response.body === null) {
        await this.#end({ type: "complete", at: this.#at() });
        return response;
      }
      const { status, statusText, headers } = response;
      return new Response(this.#passOn(response.body), { status, statusText, headers });
    } catch (error) {
      if (signal.aborted) this.breakOff();
      else await this.#end(this.#failed(error));
      throw error;
    }
  }

  /** Records what has come so far. */
  breakOff(): void {
    void this.#end({ type: "aborted", at: this.#at() });
  }

  #passOn(source: ReadableStream<Bytes>): ReadableStream<Bytes> {
    const { signal } = this.#options.request;
    const reader = source.getReader();
    let abort = (): void => {};
    return new ReadableStream<Bytes>({
      start: (controller): void => {
        abort = () => {
          controller.error(signal.reason);
          this.breakOff();
          reader.cancel(signal.reason).catch(ignore);
        };
        signal.addEventListener("abort", abort, { once: true });
        if (signal.aborted) abort();
      },
      pull: async (controller): Promise<void> => {
        const next = await this.#read(reader);
        if (signal.aborted) return;
        if ("chunk" in next) return controller.enqueue(next.chunk);
        signal.removeEventListener("abort", abort);
        if ("error" in next) controller.error(next.error);
        else controller.close();
      },
      cancel: async (reason): Promise<void> => {
        signal.removeEventListener("abort", abort);
        this.breakOff();
        await reader.cancel(reason);
      },
    }, { highWaterMark: 0 });
  }

  async #read(reader: ReadableStreamDefaultReader<Bytes>): Promise<BodyStep> {
    try {
      const { done, value } = await reader.read();
      if (!done) {
        // Whoever reads the chunk may do with it what he likes.
        this.#chunks.push({ at: this.#at(), bytes: value.slice() });
        return { chunk: value };
      }
      await this.#end({ type: "complete", at: this.#at() });
      return { end: true };
    } catch (error) {
      await this.#end(this.#failed(error));
      return { error };
    }
  }

  async #end(end: CassetteEnd): Promise<void> {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#options.save(() => this.#exchange(end)).then(this.#over.resolve);
    }
    await this.#over.promise;
  }

  #exchange(end: CassetteEnd): CassetteExchange {
    const { number, request } = this.#options;
    return {
      exchange: number,
      request: redactedRequest(request, this.#secrets),
      ...(this.#response && { response: this.#response }),
      chunks: this.#cleanChunks(),
      end,
    };
  }

  #headOf({ status, statusText, headers }: Response): CassetteResponse {
    return {
      at: this.#at(),
      status,
      ...(statusText !== "" && { statusText }),
      headers: redactedHeaders(headers, this.#secrets),
    };
  }

  #cleanChunks(): CassetteChunk[] {
    const clean = redactedChunks(this.#chunks.map(({ bytes }) => bytes), this.#secrets);
    return this.#chunks.map(({ at }, index) => {
      const bytes = clean[index] ?? new Uint8Array(0);
      const text = textOf(bytes);
      return text === undefined ? { at, base64: bytes.toBase64() } : { at, text };
    });
  }

  #failed(error: unknown): CassetteEnd {
    const name = error instanceof Error ? error.name : "Error";
    return {
      type: "failed",
      at: this.#at(),
      name,
      message: redact(messageOf(error), this.#secrets),
    };
  }

  /** Milliseconds since the request; a clock that was set back tells none. */
  #at(): number {
    return Math.max(0, Math.round(this.#options.now() - this.#begunAt));
  }
}

/** What comes next of a body. */
type BodyStep = { readonly chunk: Bytes } | { readonly error: unknown } | { readonly end: true };

function ignore(): void {}
