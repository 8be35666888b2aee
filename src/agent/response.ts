/**
 * HTTP responses that stream the events of a run.
 *
 * @module
 */

import { checkNumber } from "../core/checks/check_number.ts";
import { createValueError } from "../core/checks/check_object.ts";
import { AgentError } from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import { STREAM_HEADERS } from "../core/streams/streamed_response.ts";
import type { EventBody, EventBodyOptions, ResponseFormat } from "./event_body.ts";

/** Options for `AgentStream.toResponse()`. */
export interface ResponseOptions {
  /**
   * Format of the body. `sse`: one server-sent event for each event, with its type and its JSON. `ndjson`: one line of
   * JSON for each event. `text`: the text of the replies as it arrives, also that of attempts that are retried; a
   * failure or an abort errors the body. Default: `"sse"`.
   */
  readonly format?: "sse" | "ndjson" | "text" | undefined;
  /**
   * Milliseconds without an event after which a comment is sent in the format `sse`, so that proxies keep the connection;
   * 0 for none. Default: 8,000.
   */
  readonly keepAliveMs?: number | undefined;
  /** Status of the response. Default: 200. */
  readonly status?: number | undefined;
  /** Additional headers. Default: none. */
  readonly headers?: HeadersInit | undefined;
}

/** Content types of the formats. */
const CONTENT_TYPES: Readonly<Record<ResponseFormat, string>> = {
  sse: "text/event-stream; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
  text: "text/plain; charset=utf-8",
};

/** Statuses of the responses to misuse, by the code of the error; that of other errors is 500. */
const MISUSE_STATUSES: Readonly<Partial<Record<string, number>>> = {
  no_messages: 400,
  bad_request: 400,
  already_running: 409,
  invalid_continue: 409,
};

/** Options for `createResponse()`. */
interface RunResponseOptions extends ResponseOptions {
  /** Returns why the run failed, when it has ended. */
  readonly getFailure: () => Promise<unknown>;
  /** The error because of which there is no run. Default: none. */
  readonly misuse?: unknown;
}

/**
 * Creates a response whose body is a stream of events, or the error because of which there are none; cancelling the body
 * cancels the stream.
 *
 * @throws {BadRequestError} If the format is unknown, or `keepAliveMs` is not a number of at least 0.
 * @throws {RangeError | TypeError} If no response with a body can have the status.
 */
export function createResponse(
  stream: ReadableStream<AgentEvent>,
  { format = "sse", keepAliveMs, status = 200, headers, getFailure, misuse }: RunResponseOptions,
): Response {
  checkNumber("keepAliveMs", keepAliveMs);
  if (!Object.hasOwn(CONTENT_TYPES, format)) {
    throw createValueError("format must be one of sse, ndjson, text", format);
  }
  // Bun would leave the body out.
  if ([101, 204, 205, 304].includes(status)) throw new TypeError(`No body with status ${status}`);
  // A copy, since a header such as `set-cookie` may have several values.
  const allHeaders = new Headers(headers);
  const defaults = { "content-type": CONTENT_TYPES[format], ...STREAM_HEADERS };
  for (const [name, value] of Object.entries(defaults)) {
    if (!allHeaders.has(name)) allHeaders.set(name, value);
  }
  if (misuse !== undefined) return createErrorResponse(misuse, allHeaders);
  return createStreamResponse(
    stream,
    { status, headers: allHeaders },
    { format, keepAliveMs, getFailure },
  );
}

function createErrorResponse(misuse: unknown, headers: Headers): Response {
  headers.set("content-type", "application/json");
  // The details of another error may not be meant for the client.
  const { code, message } = AgentError.is(misuse)
    ? misuse
    : { code: "stream_error", message: "The run could not be started" };
  return Response.json({ error: { code, message } }, {
    status: MISUSE_STATUSES[code] ?? 500,
    headers,
  });
}

function createStreamResponse(
  stream: ReadableStream<AgentEvent>,
  init: ResponseInit,
  run: EventBodyOptions,
): Response {
  if (stream.locked) {
    throw new TypeError("The stream is being read: call toResponse() first");
  }
  let events: EventBody | undefined;
  const body = new ReadableStream({
    pull: async (controller) =>
      (events ??= new (await import("./run_code.ts")).EventBody(controller, reader, run)).pull(),
    cancel: (reason) => (events ?? reader).cancel(reason),
    // A body that no client reads has no timer, which would keep a process.
  }, { highWaterMark: 0 });
  const response = new Response(body, init);
  // Only now, so that the stream can still be read after an invalid status.
  const reader = stream.getReader();
  return response;
}
