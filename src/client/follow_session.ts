/**
 * Follows a session on a server, over as many connections as it takes.
 *
 * @module
 */

import { checkNumber } from "../core/checks/check_number.ts";
import { AgentError, BadRequestError, NetworkError } from "../core/errors/errors.ts";
import { abortable } from "../core/ports/abortable.ts";
import { MAX_TIMER_MS, realSleep, type Sleep } from "../core/ports/ports.ts";
import { checkResponse, getMediaType, readError } from "./response_error.ts";
import type { SessionEvent } from "./session_event.ts";
import { SessionParser } from "./session_parser.ts";

/** The parts of a request that {@linkcode followSession} knows. */
export interface SessionRequest {
  /** The headers to send, in addition to those of the application. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts the request. */
  readonly signal: AbortSignal;
}

/** Options for {@linkcode followSession}. */
export interface FollowSessionOptions {
  /** Ends the events. Default: they end when the loop is left, or the session is deleted. */
  readonly signal?: AbortSignal | undefined;
  /** The position after which the events begin, such as the `eventId` of a prompt. Default: the beginning. */
  readonly after?: string | undefined;
  /**
   * Milliseconds without data after which a connection counts as broken; 0 for no limit. The server sends a comment at
   * least every 8 seconds. Default: 30,000.
   */
  readonly idleMs?: number | undefined;
  /** Waits before the next connection. Default: based on `setTimeout`. */
  readonly sleep?: Sleep | undefined;
}

/** Milliseconds before the next connection: first, and at most, after several failures. */
const MIN_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;

/** Statuses below 500 with which a server may answer otherwise later. */
const TEMPORARY_STATUSES: readonly number[] = [408, 425, 429];

/**
 * Yields the events of a session of `createAgentServer()` and connects again when a connection ends, so that each entry
 * comes once and in order. A `disconnected` event precedes each further connection, after half a second, or up to 10 seconds
 * after several failures; it has the error of the last one, such as one that `connect` has thrown. The events end when the
 * session is deleted, also between two connections, or the signal is aborted.
 *
 * Throws the error of a response that would not change: a status from 400 to 499, such as that of an invalid token or a
 * session that does not exist, a response that has no server-sent events, or a malformed event; also an
 * {@linkcode AgentError} of `connect`, unless it is a `network_error`. Throws a {@linkcode BadRequestError} if `idleMs` is no
 * number of at least 0.
 *
 * @param connect Sends a `GET` request to `/v1/sessions/{id}/events` with the headers and the signal.
 *
 * @example
 * ```ts
 * import { createConversation, followSession, updateConversation } from "@swink/agent/client";
 *
 * async function watch(id: string, token: string, signal: AbortSignal): Promise<void> {
 *   const events = followSession(({ headers, signal }) =>
 *     fetch(`/v1/sessions/${id}/events`, {
 *       headers: { ...headers, authorization: `Bearer ${token}` },
 *       signal,
 *     }), { signal });
 *   let conversation = createConversation();
 *   for await (const event of events) {
 *     conversation = updateConversation(conversation, event);
 *     console.log(conversation.messages.length, conversation.streamingMessage?.content);
 *   }
 * }
 * ```
 */
export async function* followSession(
  connect: (request: SessionRequest) => Promise<Response>,
  { signal: outer, after = "", idleMs = 30_000, sleep = realSleep }: FollowSessionOptions = {},
): AsyncGenerator<SessionEvent, void, void> {
  checkNumber("idleMs", idleMs);
  const left = new AbortController();
  const signal = outer ? AbortSignal.any([outer, left.signal]) : left.signal;
  const position: Position = { id: after, delayMs: MIN_DELAY_MS, isKnown: false };
  try {
    while (!signal.aborted) {
      const end = yield* readConnection(connect, position, new IdleTimeout(signal, idleMs));
      if (end.type === "deleted" || signal.aborted) return;
      if (end.type === "rejected") {
        // Deleted meanwhile: a proxy that does not find the server answers with another code.
        if (position.isKnown && end.error.code as string === "not_found") return;
        if (end.error.status !== 400 || position.id === "") throw end.error;
        position.id = ""; // The server does not know it.
        yield { type: "reset" };
        continue;
      }
      yield { type: "disconnected", ...(end.error && { error: end.error }) };
      // Many timers reject on abort; then this resolves immediately.
      await sleep(position.delayMs, signal).catch(() => realSleep(position.delayMs, signal));
      position.delayMs = Math.min(2 * position.delayMs, MAX_DELAY_MS);
    }
  } finally {
    left.abort();
  }
}

/** The position after the last event. */
interface Position {
  id: string;
  /** Milliseconds to wait before the next connection. */
  delayMs: number;
  /** Whether the session has existed. */
  isKnown: boolean;
}

/** The end of a connection. */
type ConnectionEnd =
  | { readonly type: "deleted" }
  /** Another connection would end in the same way. */
  | { readonly type: "rejected"; readonly error: AgentError }
  | { readonly type: "broken"; readonly error?: Error };

/** Yields the events of one connection. */
async function* readConnection(
  connect: (request: SessionRequest) => Promise<Response>,
  position: Position,
  idle: IdleTimeout,
): AsyncGenerator<SessionEvent, ConnectionEnd, void> {
  const { signal } = idle;
  const headers: Record<string, string> = position.id ? { "last-event-id": position.id } : {};
  const response = (async () => await connect({ headers, signal }))();
  try {
    const parser = new SessionParser();
    const body = await idle.wait(getBody(await idle.wait(response)));
    for await (const bytes of readBytes(body, idle)) {
      for (const { event, id = position.id } of parser.parse(bytes)) {
        if (signal.aborted) return { type: "broken" };
        position.id = id;
        position.delayMs = MIN_DELAY_MS;
        position.isKnown = true;
        if (event.type !== "ended") yield event;
        else if (event.isDeleted) return { type: "deleted" };
      }
    }
    return { type: "broken" };
  } catch (thrown) {
    if (isPermanent(thrown)) return { type: "rejected", error: thrown };
    const error = thrown instanceof Error ? thrown : new NetworkError("The connection failed");
    return { type: "broken", error };
  } finally {
    // Also of a response that comes too late, as after a request without the signal.
    response.then(({ body }) => body?.cancel()).catch(() => {});
  }
}

/** Ends a connection on which no data arrives. */
class IdleTimeout {
  /** Aborts the connection. */
  readonly signal: AbortSignal;
  readonly #idle = new AbortController();
  readonly #idleMs: number;

  constructor(signal: AbortSignal, idleMs: number) {
    this.signal = AbortSignal.any([signal, this.#idle.signal]);
    this.#idleMs = idleMs;
  }

  /** Waits for data or the signal, and aborts the connection when that takes too long. */
  async wait<Data>(data: Promise<Data>): Promise<Data> {
    const timer = setTimeout(() => {
      this.#idle.abort(new NetworkError(`No data arrived for ${this.#idleMs} ms`));
    }, Math.min(this.#idleMs || Infinity, MAX_TIMER_MS));
    try {
      return await abortable(data, this.signal);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Returns the body of a response with events. */
async function getBody(response: Response): Promise<ReadableStream<Uint8Array>> {
  checkResponse(response);
  if (!response.ok) throw await readError(response);
  const type = getMediaType(response);
  if (response.body && type === "text/event-stream") return response.body;
  throw new BadRequestError(`The response has the content type "${type}", not text/event-stream`);
}

/** Reads a body, which ends with the signal, also if the request was sent without it. */
async function* readBytes(
  body: ReadableStream<Uint8Array>,
  idle: IdleTimeout,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = body.getReader();
  try {
    while (true) {
      const { done, value } = await idle.wait(reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {}); // Not awaited, since it may never end.
  }
}

/** Whether another request would fail in the same way. */
function isPermanent(error: unknown): error is AgentError {
  if (!AgentError.is(error) || error.code === "network_error") return false;
  const { status = 400 } = error;
  return status < 500 && !TEMPORARY_STATUSES.includes(status);
}
