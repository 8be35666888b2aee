/**
 * The body of an HTTP response that streams the events of a run.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";

/** Format of a body. */
export type ResponseFormat = "sse" | "ndjson" | "text";

/** The events of a body. */
export interface EventBody {
  /** Reads the events. */
  readonly reader: ReadableStreamDefaultReader<AgentEvent>;
  /** Format of the body. */
  readonly format: ResponseFormat;
  /** Returns why the run failed, when it has ended. */
  readonly getFailure: () => Promise<unknown>;
}

const encoder = new TextEncoder();

/** Adds the next part to a body, or ends it: a text has no `agent_end`, so that a failure of the run errors it. */
export async function pullEvent(
  controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
  { reader, format, getFailure }: EventBody,
): Promise<void> {
  while (true) {
    const { done, value } = await reader.read();
    if (done) {
      // Listeners may have changed the events.
      const failure = format === "text" && await getFailure();
      return failure ? controller.error(failure) : controller.close();
    }
    const text = encodeEvent(value, format);
    if (text !== "") return controller.enqueue(encoder.encode(text));
  }
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
