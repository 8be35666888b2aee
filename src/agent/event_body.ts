/**
 * The body of an HTTP response that streams the events of a run.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import { systemClock } from "../core/ports/ports.ts";
import { KEEP_ALIVE_MS, KeepAlive } from "../core/streams/keep_alive.ts";

/** Format of a body. */
export type ResponseFormat = "sse" | "ndjson" | "text";

/** Options for `new EventBody()`. */
export interface EventBodyOptions {
  /** Format of the body. */
  readonly format: ResponseFormat;
  /** Milliseconds without an event after which a comment is sent in the format `sse`; 0 for none. Default: 8,000. */
  readonly keepAliveMs?: number | undefined;
  /** Returns why the run failed, when it has ended. */
  readonly getFailure: () => Promise<unknown>;
}

const encoder = new TextEncoder();

/** Writes events to the body of a response. */
export class EventBody {
  readonly #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  readonly #reader: ReadableStreamDefaultReader<AgentEvent>;
  readonly #options: EventBodyOptions;
  readonly #keepAlive: KeepAlive;

  /** Creates a writer of the events that `reader` reads. */
  constructor(
    controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
    reader: ReadableStreamDefaultReader<AgentEvent>,
    options: EventBodyOptions,
  ) {
    this.#controller = controller;
    this.#reader = reader;
    this.#options = options;
    const { format, keepAliveMs = KEEP_ALIVE_MS } = options;
    this.#keepAlive = new KeepAlive(controller, {
      keepAliveMs: format === "sse" ? keepAliveMs : 0,
      clock: systemClock,
    });
  }

  /** Adds the next part, or ends the body: a text has no `agent_end`, so that a failure of the run errors it. */
  async pull(): Promise<void> {
    this.#keepAlive.startWait();
    try {
      const text = await this.#readText();
      if (text === undefined) return await this.#close();
      this.#controller.enqueue(encoder.encode(text));
    } catch (error) {
      this.#keepAlive.stop();
      throw error;
    }
    this.#keepAlive.endWait();
  }

  /** Returns the part for the next event that has one, or `undefined` at the end. */
  async #readText(): Promise<string | undefined> {
    const { format } = this.#options;
    while (true) {
      const { done, value } = await this.#reader.read();
      // A client may leave the end of the body.
      if (value?.type === "agent_end") this.#keepAlive.stop();
      const text = done ? undefined : encodeEvent(value, format);
      if (text !== "") return text;
    }
  }

  async #close(): Promise<void> {
    this.#keepAlive.stop();
    const { format, getFailure } = this.#options;
    // Listeners may have changed the events.
    const failure = format === "text" && await getFailure();
    if (failure) this.#controller.error(failure);
    else this.#controller.close();
  }

  /** Ends the run of a client that has left. */
  async cancel(reason: unknown): Promise<void> {
    this.#keepAlive.stop();
    await this.#reader.cancel(reason);
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
