/**
 * The stream function under test, and what it is asked.
 *
 * @module
 */

import { userMessage } from "../core/message.ts";
import type { ModelSpec } from "../core/model.ts";
import type { StreamFn, StreamOptions, StreamRequest } from "../core/stream.ts";
import { createFaultyBody, type FaultyBody, type FaultyBodyOptions } from "./faulty_body.ts";
import { type CollectedReply, readReply } from "./read_reply.ts";
import type { ReplyFixture, StreamFnFactory, StreamFnLimits } from "./stream_fixture.ts";

/** The key that every request carries; it must never be told. */
export const API_KEY = "sk-conformance-0123456789abcdef";

/** The stream function under test, and the request that it gets. */
export class StreamSubject {
  readonly #createStreamFn: StreamFnFactory;
  readonly #model: ModelSpec;

  /** Makes a subject that asks one model. */
  constructor(make: StreamFnFactory, model: ModelSpec) {
    this.#createStreamFn = make;
    this.#model = model;
  }

  /** The stream function over a `fetch`. */
  createStreamFn(fetch: typeof globalThis.fetch, limits: StreamFnLimits = {}): StreamFn {
    return this.#createStreamFn(fetch, limits);
  }

  /** A small request. */
  createRequest({ signal = new AbortController().signal, ...options }: CallOptions): StreamRequest {
    return {
      model: this.#model,
      context: { systemPrompt: "Be brief.", messages: [userMessage("Hello", 0)], tools: [] },
      options: { apiKey: API_KEY, ...options },
      signal,
    };
  }

  /** Reads the answer to a small request. */
  call(streamFn: StreamFn, options: CallOptions = {}): Promise<CollectedReply> {
    return readReply(streamFn(this.createRequest(options)));
  }

  /** Reads a fixture whose body behaves as the options say. */
  async readFixture(
    fixture: ReplyFixture,
    options: FaultyBodyOptions,
  ): Promise<{ reply: CollectedReply; body: FaultyBody }> {
    const body = createFaultyBody(toBytes(fixture.body), options);
    const reply = await this.call(this.createStreamFn(() => createResponse(fixture, body)));
    return { reply, body };
  }
}

/** Options of the request, and what cancels it. */
export interface CallOptions extends StreamOptions {
  readonly signal?: AbortSignal;
}

/** A response with a body of a fixture. */
export function createResponse({ contentType }: ReplyFixture, body: FaultyBody): Promise<Response> {
  const headers = { "content-type": contentType ?? "text/event-stream" };
  return Promise.resolve(new Response(body.stream, { headers }));
}

/** The bytes of a body. */
export function toBytes(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}
