/**
 * Parses the bodies that `AgentStream.toResponse()` writes.
 *
 * @module
 */

import {
  AgentError,
  type AgentErrorRecord,
  getErrorMessage,
  StreamError,
} from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import { isJsonObject } from "../core/json/json.ts";
import { LineSplitter } from "./line_splitter.ts";

/** Format of a body. */
export type EventFormat = "sse" | "ndjson";

/** Splits a body into events. */
export class EventParser {
  readonly #lines = new LineSplitter();
  readonly #format: EventFormat;
  #data: string[] = [];

  /** Creates a parser for one body. */
  constructor(format: EventFormat) {
    this.#format = format;
  }

  /**
   * Parses the next bytes; yields the events that they complete, one by one, so that a malformed event does not hide those
   * before it. The bytes are read completely only when the generator has ended.
   *
   * @throws {StreamError} If an event is no object with a type.
   * @throws {SyntaxError} If an event is not JSON.
   */
  *parse(bytes: Uint8Array): Generator<AgentEvent, void> {
    for (const line of this.#lines.split(bytes)) {
      const json = this.#format === "ndjson" ? line.trim() : this.#readField(line);
      if (json !== "") yield toAgentEvent(JSON.parse(json));
    }
  }

  /** Reads a line of a server-sent event; returns the data of the event that it ends, else an empty text. */
  #readField(line: string): string {
    // Lines with the type and the number repeat what the data has; proxies add comments.
    if (line.startsWith("data:")) this.#data.push(line.slice("data:".length));
    if (line !== "") return "";
    const data = this.#data.join("\n");
    this.#data = [];
    return data;
  }
}

/**
 * Returns an event with its errors, which JSON has as records.
 *
 * @throws {StreamError} If the value is no event.
 */
export function toAgentEvent(event: unknown): AgentEvent {
  if (!isJsonObject(event) || typeof event["type"] !== "string") {
    throw toParseError("it has no type");
  }
  return restoreErrors(event as unknown as AgentEvent);
}

/** Returns the error for a malformed event, from what a parser has thrown or what is wrong. */
export function toParseError(thrown: unknown): AgentError {
  if (AgentError.is(thrown)) return thrown;
  const message = `The response has a malformed event: ${getErrorMessage(thrown)}`;
  return new StreamError(message, { cause: thrown });
}

/** Restores the errors of an event, which JSON has as records. */
function restoreErrors(event: AgentEvent): AgentEvent {
  switch (event.type) {
    case "sub_agent":
      return isJsonObject(event.event) ? { ...event, event: restoreErrors(event.event) } : event;
    case "retry":
      return { ...event, error: restoreError(event.error) };
    case "agent_end":
    case "model_call_end":
      return event.error ? { ...event, error: restoreError(event.error) } : event;
    default:
      return event;
  }
}

function restoreError(record: unknown): AgentError {
  return AgentError.from(record as AgentErrorRecord);
}
