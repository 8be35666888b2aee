/**
 * The stream function under test and the requests sent to it.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors/errors.ts";
import { userMessage } from "../core/messages/message.ts";
import type { ModelSpec } from "../core/models/model.ts";
import type {
  AssistantMessageEvent,
  StreamFn,
  StreamOptions,
  StreamRequest,
} from "../core/streams/stream.ts";
import { createFaultyBody, type FaultyBody, type FaultyBodyOptions } from "./faulty_body.ts";
import { type CollectedReply, readReply } from "./read_reply.ts";
import type { ReplyFixture, StreamFnFactory, StreamFnLimits } from "./stream_fixture.ts";
import { settleWithin } from "./time_limits.ts";

/** The key of every request; it must not appear in errors. */
export const API_KEY = "sk-conformance-0123456789abcdef";

/** Longest wait for the end of a reply, in milliseconds: far more than the limits that the tests set. */
const MAX_REPLY_MS = 30_000;

/** Creates and calls the stream function under test. */
export class StreamSubject {
  readonly #createStreamFn: StreamFnFactory;
  readonly #model: ModelSpec;

  constructor(createStreamFn: StreamFnFactory, model: ModelSpec) {
    this.#createStreamFn = createStreamFn;
    this.#model = model;
  }

  /** Creates the stream function over a `fetch`. */
  createStreamFn(fetch: typeof globalThis.fetch, limits: StreamFnLimits = {}): StreamFn {
    return this.#createStreamFn(fetch, limits);
  }

  /** Creates a request with one user message. */
  createRequest({ signal = new AbortController().signal, ...options }: CallOptions): StreamRequest {
    return {
      model: this.#model,
      context: { systemPrompt: "Be brief.", messages: [userMessage("Hello", 0)], tools: [] },
      options: { apiKey: API_KEY, ...options },
      signal,
    };
  }

  /** Sends a request and reads the reply. */
  call(streamFn: StreamFn, options: CallOptions = {}): Promise<CollectedReply> {
    return settleWithin(
      readReply(this.stream(streamFn, options)),
      MAX_REPLY_MS,
      `Expected the stream to end, got no end within ${MAX_REPLY_MS} ms: a stream function ends when the response ` +
        "does, on an abort, and after connectTimeoutMs and idleTimeoutMs",
    );
  }

  /** Sends a request; the stream rejects with an explanation if the stream function throws. */
  async *stream(
    streamFn: StreamFn,
    options: CallOptions = {},
  ): AsyncGenerator<AssistantMessageEvent> {
    try {
      yield* streamFn(this.createRequest(options));
    } catch (thrown) {
      throw new Error(
        `Expected an "error" event, got an exception: ${
          getErrorMessage(thrown)
        }. A stream function never throws`,
        { cause: thrown },
      );
    }
  }

  /** Answers a request with a fixture and reads the reply. */
  async readFixture(
    fixture: ReplyFixture,
    options: FaultyBodyOptions,
  ): Promise<{ reply: CollectedReply; body: FaultyBody }> {
    const body = createFaultyBody(toBytes(fixture.body), options);
    const reply = await this.call(this.createStreamFn(() => createResponse(fixture, body)));
    return { reply, body };
  }
}

/** Options for a request. */
export interface CallOptions extends StreamOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Creates the response of a fixture with the given body. */
export function createResponse({ contentType }: ReplyFixture, body: FaultyBody): Promise<Response> {
  const headers = { "content-type": contentType ?? "text/event-stream" };
  return Promise.resolve(new Response(body.stream, { headers }));
}

/** Encodes a body as UTF-8, unless it is bytes already. */
export function toBytes(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}
