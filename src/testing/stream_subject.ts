/**
 * The stream function under test, and what it is asked.
 *
 * @module
 */

import { userMessage } from "../core/message.ts";
import type { ModelSpec } from "../core/model.ts";
import type { StreamFn, StreamOptions, StreamRequest } from "../core/stream.ts";
import { type HostileBody, hostileBody, type HostileBodyOptions } from "./hostile_body.ts";
import { type ReadReply, readReply } from "./read_reply.ts";
import type { MakeStreamFn, ReplyFixture, StreamFnLimits } from "./stream_fixture.ts";

/** The key that every request carries; it must never be told. */
export const KEY = "sk-conformance-0123456789abcdef";

/** The stream function under test, and the request that it gets. */
export class StreamSubject {
  readonly #make: MakeStreamFn;
  readonly #model: ModelSpec;

  /** Makes a subject that asks one model. */
  constructor(make: MakeStreamFn, model: ModelSpec) {
    this.#make = make;
    this.#model = model;
  }

  /** The stream function over a `fetch`. */
  make(fetch: typeof globalThis.fetch, limits: StreamFnLimits = {}): StreamFn {
    return this.#make(fetch, limits);
  }

  /** A small request. */
  request({ signal = new AbortController().signal, ...options }: AskOptions): StreamRequest {
    return {
      model: this.#model,
      context: { systemPrompt: "Be brief.", messages: [userMessage("Hello", 0)], tools: [] },
      options: { apiKey: KEY, ...options },
      signal,
    };
  }

  /** Reads the answer to a small request. */
  ask(streamFn: StreamFn, options: AskOptions = {}): Promise<ReadReply> {
    return readReply(streamFn(this.request(options)));
  }

  /** Reads a fixture whose body behaves as the options say. */
  async read(
    fixture: ReplyFixture,
    options: HostileBodyOptions,
  ): Promise<{ reply: ReadReply; body: HostileBody }> {
    const body = hostileBody(bytesOf(fixture.body), options);
    const reply = await this.ask(this.make(() => respond(fixture, body)));
    return { reply, body };
  }
}

/** Options of the request, and what cancels it. */
export interface AskOptions extends StreamOptions {
  readonly signal?: AbortSignal;
}

/** A response with a body of a fixture. */
export function respond({ contentType }: ReplyFixture, body: HostileBody): Promise<Response> {
  const headers = { "content-type": contentType ?? "text/event-stream" };
  return Promise.resolve(new Response(body.stream, { headers }));
}

/** The bytes of a body. */
export function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}
