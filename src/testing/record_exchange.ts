/**
 * One exchange while it is being recorded.
 *
 * @module
 */

import type { CassetteChunk, CassetteEnd, CassetteExchange } from "./cassette.ts";
import { textOf } from "./cassette_bytes.ts";
import {
  redactedChunks,
  redactedHeaders,
  redactedRequest,
  secretsOf,
} from "./cassette_redaction.ts";
import type { OutgoingRequest } from "./cassette_request.ts";

/** What an exchange is recorded with. */
export interface RecordedExchangeOptions {
  /** Which request it is. */
  readonly number: number;
  /** What is asked. */
  readonly request: OutgoingRequest;
  /** Texts that must not be kept. */
  readonly secrets: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Takes the exchange when it is over. */
  readonly save: (exchange: CassetteExchange) => Promise<void>;
}

/** An exchange that is being recorded. */
export class RecordedExchange {
  readonly #options: RecordedExchangeOptions;
  readonly #begunAt: number;
  readonly #chunks: { readonly at: number; readonly bytes: Uint8Array }[] = [];
  readonly #over = Promise.withResolvers<void>();
  #response: { readonly at: number; readonly status: number; readonly headers: Headers } | null =
    null;
  #isOver = false;

  /** Begins to record. */
  constructor(options: RecordedExchangeOptions) {
    this.#options = options;
    this.#begunAt = options.now();
  }

  /** Resolves when the exchange is over and saved. */
  get ended(): Promise<void> {
    return this.#over.promise;
  }

  /** Sends the request; the body of the response is recorded as it is read. */
  async send(fetch: typeof globalThis.fetch): Promise<Response> {
    const { sendable, signal } = this.#options.request;
    try {
      const response = await fetch(...sendable);
      const { status, statusText, headers } = response;
      this.#response = { at: this.#at(), status, headers };
      if (response.body === null) {
        await this.#end({ type: "complete", at: this.#at() });
        return response;
      }
      return new Response(this.#body(response.body), { status, statusText, headers });
    } catch (error) {
      await this.#end(signal.aborted ? this.#aborted() : this.#failed(error));
      throw error;
    }
  }

  /** Nobody waits for the end any more. */
  leave(): void {
    void this.#end(this.#aborted());
  }

  #body(source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { signal } = this.#options.request;
    const reader = source.getReader();
    const abort = (): void => {
      void this.#end(this.#aborted());
      reader.cancel(signal.reason).catch(() => {});
    };
    const release = (): void => signal.removeEventListener("abort", breakOff);
    let breakOff = abort;
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller): void {
        breakOff = () => {
          controller.error(signal.reason);
          abort();
        };
        signal.addEventListener("abort", breakOff, { once: true });
        if (signal.aborted) breakOff();
      },
      pull: async (controller): Promise<void> => {
        try {
          const { done, value } = await reader.read();
          if (signal.aborted) return;
          if (!done) {
            const bytes = value.slice();
            this.#chunks.push({ at: this.#at(), bytes });
            return controller.enqueue(value.slice());
          }
          release();
          await this.#end({ type: "complete", at: this.#at() });
          controller.close();
        } catch (error) {
          release();
          if (signal.aborted) return;
          await this.#end(this.#failed(error));
          controller.error(error);
        }
      },
      cancel: async (reason): Promise<void> => {
        release();
        await this.#end(this.#aborted());
        await reader.cancel(reason);
      },
    }, { highWaterMark: 0 });
  }

  async #end(end: CassetteEnd): Promise<void> {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#options.save(this.#exchange(end)).then(this.#over.resolve, this.#over.resolve);
    }
    await this.#over.promise;
  }

  #exchange(end: CassetteEnd): CassetteExchange {
    const { number, request } = this.#options;
    const secrets = [...this.#options.secrets, ...secretsOf(request)];
    return {
      exchange: number,
      request: redactedRequest(request, secrets),
      ...(this.#response && {
        response: {
          ...this.#response,
          headers: redactedHeaders(this.#response.headers, secrets),
        },
      }),
      chunks: this.#cleanChunks(secrets),
      end,
    };
  }

  #cleanChunks(secrets: readonly string[]): CassetteChunk[] {
    const clean = redactedChunks(this.#chunks.map(({ bytes }) => bytes), secrets);
    return clean.flatMap((bytes, index) => {
      const at = this.#chunks[index]?.at ?? 0;
      if (bytes.length === 0) return [];
      const text = textOf(bytes);
      return [text === undefined ? { at, base64: bytes.toBase64() } : { at, text }];
    });
  }

  #aborted(): CassetteEnd {
    return { type: "aborted", at: this.#at() };
  }

  #failed(error: unknown): CassetteEnd {
    const { name, message } = error instanceof Error
      ? error
      : { name: "Error", message: String(error) };
    return { type: "failed", at: this.#at(), name, message };
  }

  /** Milliseconds since the request; a clock that was set back tells none. */
  #at(): number {
    return Math.max(0, Math.round(this.#options.now() - this.#begunAt));
  }
}
