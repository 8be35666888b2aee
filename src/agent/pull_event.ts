/**
 * The body of an HTTP response that streams the events of a run.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import { createDeferred } from "../core/ports/deferred.ts";
import { systemClock } from "../core/ports/ports.ts";
import { startTimer } from "../core/ports/start_timer.ts";

/** Format of a body. */
export type ResponseFormat = "sse" | "ndjson" | "text";

/** The events of a body. */
export interface EventBody {
  /** Reads the events. */
  readonly reader: ReadableStreamDefaultReader<AgentEvent>;
  /** Format of the body. */
  readonly format: ResponseFormat;
  /** Time without an event after which a comment is sent, in milliseconds. Default: none. */
  readonly keepAliveMs: number | undefined;
  /** Returns why the run failed, when it has ended. */
  readonly getFailure: () => Promise<unknown>;
  /** The read of the next event, if a comment was sent before it. */
  pending?: Promise<ReadableStreamReadResult<AgentEvent>> | undefined;
}

const encoder = new TextEncoder();

/** A comment, which readers of server-sent events ignore, while proxies keep the connection because of it. */
const KEEP_ALIVE = encoder.encode(": keep-alive\n\n");

/** Adds the next part to a body, or ends it: a text has no `agent_end`, so that a failure of the run errors it. */
export async function pullEvent(
  controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
  body: EventBody,
): Promise<void> {
  const { reader, format, keepAliveMs, getFailure } = body;
  while (true) {
    const read = body.pending ??= reader.read();
    const isDue = format === "sse" && keepAliveMs && await isSlower(read, keepAliveMs);
    if (isDue) return controller.enqueue(KEEP_ALIVE);
    body.pending = undefined;
    const { done, value } = await read;
    if (done) {
      // Listeners may have changed the events.
      const failure = format === "text" && await getFailure();
      return failure ? controller.error(failure) : controller.close();
    }
    const text = encodeEvent(value, format);
    if (text !== "") return controller.enqueue(encoder.encode(text));
  }
}

/** Whether a promise is pending for longer than a time in milliseconds. */
async function isSlower(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const { promise: isSlow, resolve } = createDeferred<boolean>();
  const stopTimer = startTimer(systemClock, milliseconds, () => resolve(true));
  const settle = () => resolve(false);
  promise.then(settle, settle);
  const outcome = await isSlow;
  stopTimer();
  return outcome;
}

/** Returns the part of a body for an event; empty for none. */
function encodeEvent(event: AgentEvent, format: ResponseFormat): string {
  switch (format) {
    case "sse": {
      const id = event.seq === undefined ? "" : `id: ${event.seq}\n`;
      return `${id}event: ${event.type}\ndata: ${toJson(event)}\n\n`;
    }
    case "ndjson":
      return `${toJson(event)}\n`;
    case "text":
      return event.type === "message_update" && event.delta.type === "text_delta"
        ? event.delta.delta
        : "";
  }
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
