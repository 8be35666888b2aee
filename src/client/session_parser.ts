/**
 * Parses the events of a session, as a server streams them.
 *
 * @module
 */

import type { SessionActivity } from "../core/sessions/session_activity.ts";
import type { SessionEntry } from "../core/sessions/session_entry.ts";
import { toAgentEvent, toParseError } from "./event_parser.ts";
import { LineSplitter } from "./line_splitter.ts";
import type { SessionEvent } from "./session_event.ts";

/** A part of the stream. */
export interface ParsedEvent {
  /** The event; `ended` if the stream ends, and the session too if it was deleted. */
  readonly event: SessionEvent | { readonly type: "ended"; readonly isDeleted: boolean };
  /** The position after it. Default: that of the event before. */
  readonly id?: string;
}

/** Parses one response. */
export class SessionParser {
  readonly #lines = new LineSplitter();
  #fields: Record<string, string> = {};

  /**
   * Parses the next bytes; yields the events that they complete.
   *
   * @throws {StreamError} If an event is malformed.
   */
  *parse(bytes: Uint8Array): Generator<ParsedEvent, void> {
    for (const line of this.#lines.split(bytes)) {
      // JSON may have U+2028 and U+2029, which a dot matches only with the flag `s`.
      const [, name, value] = /^(id|event|data): ?(.*)/s.exec(line) ?? [];
      if (name !== undefined && value !== undefined) this.#fields[name] = value;
      if (line !== "") continue;
      const { id, event, data } = this.#fields;
      this.#fields = {};
      if (event === undefined || data === undefined) continue; // a comment
      yield { event: parseEvent(event, data), ...(id !== undefined && { id }) };
    }
  }
}

function parseEvent(type: string, json: string): ParsedEvent["event"] {
  try {
    return createEvent(type, JSON.parse(json));
  } catch (thrown) {
    throw toParseError(thrown);
  }
}

function createEvent(type: string, data: unknown): ParsedEvent["event"] {
  switch (type) {
    // The server must be trusted, as for the events of a run.
    case "entry":
      return { type, entry: data as SessionEntry };
    case "state":
      return { type, state: data as SessionActivity };
    case "reset":
      return { type };
    case "end":
      return { type: "ended", isDeleted: (data as EndData).reason === "session_deleted" };
    default:
      return toAgentEvent(data);
  }
}

interface EndData {
  readonly reason: string;
}
