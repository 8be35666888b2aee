/**
 * HTTP responses that stream the events of a run.
 *
 * @module
 */

import { AgentError, BadRequestError, getErrorMessage } from "../core/errors.ts";
import type { AgentEvent, RunOutcome } from "../core/event.ts";
import { findFailure } from "./agent_result.ts";

/** Options for `AgentStream.toResponse()`. */
export interface ResponseOptions {
  /**
   * Format of the body. `sse`: one server-sent event for each event, with its type and its JSON. `ndjson`: one line of
   * JSON for each event. `text`: the text of the replies as it arrives; a retry cannot take text back, and a failure or an
   * abort errors the body. Default: `"sse"`.
   */
  readonly format?: "sse" | "ndjson" | "text" | undefined;
  /** Status of the response. Default: 200. */
  readonly status?: number | undefined;
  /** Additional headers. Default: none. */
  readonly headers?: HeadersInit | undefined;
}

interface ResponseFormat {
  readonly contentType: string;
  /** Returns the part of the body for an event; empty for none. */
  readonly encode: (event: AgentEvent) => string;
  /** Whether the body has no `agent_end`, so that a failure errors it. Default: `false`. */
  readonly isText?: boolean;
}

const FORMATS: Readonly<Record<string, ResponseFormat>> = {
  sse: {
    contentType: "text/event-stream; charset=utf-8",
    encode: (event) =>
      `${event.seq === undefined ? "" : `id: ${event.seq}\n`}event: ${event.type}\ndata: ${
        toJson(event)
      }\n\n`,
  },
  ndjson: {
    contentType: "application/x-ndjson; charset=utf-8",
    encode: (event) => `${toJson(event)}\n`,
  },
  text: {
    contentType: "text/plain; charset=utf-8",
    encode: (event) =>
      event.type === "message_update" && event.delta.type === "text_delta" ? event.delta.delta : "",
    isText: true,
  },
};

/** Options for `createResponse()`. */
interface RunResponseOptions extends ResponseOptions {
  /** Settles when the run has ended. */
  readonly outcome: Promise<RunOutcome>;
  /** The error because of which there is no run. Default: none. */
  readonly misuse?: unknown;
}

/**
 * Creates a response whose body is a stream of events, or the error because of which there are none; cancelling the body
 * cancels the stream.
 *
 * @throws {BadRequestError} If the format is unknown.
 */
export function createResponse(
  stream: ReadableStream<AgentEvent>,
  { format = "sse", status = 200, headers, outcome, misuse }: RunResponseOptions,
): Response {
  const known = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (!known) {
    throw new BadRequestError(
      `format must be one of ${Object.keys(FORMATS).join(", ")}, not ${format}`,
    );
  }
  const allHeaders = new Headers({
    "content-type": known.contentType,
    "cache-control": "no-store",
  });
  new Headers(headers).forEach((value, name) => allHeaders.set(name, value));
  if (misuse !== undefined) return createErrorResponse(misuse, allHeaders);
  return new Response(encodeEvents(stream, known, outcome), { status, headers: allHeaders });
}

function createErrorResponse(misuse: unknown, headers: Headers): Response {
  headers.set("content-type", "application/json");
  // The details of another error may not be meant for the client.
  const { code, message } = AgentError.is(misuse)
    ? misuse
    : { code: "stream_error", message: "The run could not be started" };
  return Response.json({ error: { code, message } }, { status: getStatus(code), headers });
}

function getStatus(code: string): number {
  switch (code) {
    case "no_messages":
    case "bad_request":
      return 400;
    case "already_running":
    case "invalid_continue":
      return 409;
    default:
      return 500;
  }
}

function encodeEvents(
  stream: ReadableStream<AgentEvent>,
  { encode, isText }: ResponseFormat,
  outcome: Promise<RunOutcome>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      while (true) {
        const { done, value } = await reader.read();
        if (done) {
          // Listeners may have changed the events.
          const failure = isText && findFailure(await outcome);
          return failure ? controller.error(failure) : controller.close();
        }
        const text = encode(value);
        if (text !== "") return controller.enqueue(encoder.encode(text));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Serializes an event; a value of the application that is not JSON must not end the stream. */
function toJson(event: AgentEvent): string {
  try {
    return JSON.stringify(event);
  } catch (thrown) {
    const message = `The event "${event.type}" cannot be serialized: ${getErrorMessage(thrown)}`;
    return JSON.stringify({ type: "warning", code: "event_not_serializable", message });
  }
}
