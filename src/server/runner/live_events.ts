/**
 * The latest events of a session in this process.
 *
 * The log of a session has what happened; the events of its runs also have what happens meanwhile, such as the parts of a
 * reply. They are kept for clients that reconnect: as many as fit, until some time after the run.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionActivity } from "../../core/sessions/session_activity.ts";
import { redact } from "../../core/text/redact.ts";

/** Number of events that are kept. */
const MAX_EVENTS = 2_048;

/** An event that is not in the log. */
export interface LiveEvent {
  /** Number of the event, from 1. */
  readonly seq: number;
  /** Number of entries of the log that precede the event. */
  mark: number;
  /** The event. */
  readonly event: AgentEvent;
  /** Its JSON, once it was needed, until the run ends. */
  json?: string | undefined;
}

/** The log of a run that is active. */
export interface ActiveLog {
  /** The session, open for writing. */
  readonly session: Session;
  /** Resolves when all entries so far are persisted. */
  flush(): Promise<void>;
  /** Returns what the session does now. */
  getActivity(): SessionActivity;
}

/** The latest events of a session. */
export class LiveEvents {
  /** Distinguishes these events from those of other processes. */
  readonly epoch: string;
  /** The log of the active run. */
  #active: ActiveLog | undefined;
  /** Number of clients that read. */
  watchers = 0;
  /** Time of the last run or client, in milliseconds. */
  lastUsed = 0;
  #events: LiveEvent[] = [];
  #lastSeq = 0;
  #version = 0;
  #waiting = new Set<() => void>();

  constructor(epoch: string) {
    this.epoch = epoch;
  }

  /** The log of the active run; `undefined` if none is active in this process. */
  get active(): ActiveLog | undefined {
    return this.#active;
  }

  /** Number of the last event. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Changes with every event, and with every start and end of a run. */
  get version(): number {
    return this.#version;
  }

  /** Sets the log of the active run. */
  setActive(active: ActiveLog | undefined): void {
    this.#active = active;
    // Each event has its own copy of its messages there, which together take several times the memory of the history.
    if (!active) { for (const event of this.#events) event.json = undefined; }
    this.notify();
  }

  /** Adds an event that follows `mark` entries of the log. */
  push(event: AgentEvent, mark: number): void {
    this.#events.push({ seq: ++this.#lastSeq, mark, event });
    // Half of them at a time, since removing one moves all others.
    if (this.#events.length >= 2 * MAX_EVENTS) this.#events = this.#events.slice(-MAX_EVENTS);
    this.notify();
  }

  /** Lets all events follow at most `length` entries, since the log did not get more. */
  limitMarks(length: number): void {
    for (const event of this.#events) event.mark = Math.min(event.mark, length);
    this.notify();
  }

  /** Wakes all clients. */
  notify(): void {
    this.#version++;
    const waiting = this.#waiting;
    if (waiting.size === 0) return;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  /** Whether all events after a number are there. */
  has(seq: number): boolean {
    const first = this.#events[0]?.seq ?? this.#lastSeq + 1;
    return seq >= first - 1 && seq <= this.#lastSeq;
  }

  /** Returns the next events after a number, at most `limit`. */
  after(seq: number, limit: number): readonly LiveEvent[] {
    const first = this.#events[0]?.seq ?? this.#lastSeq + 1;
    const index = Math.max(0, seq + 1 - first);
    return this.#events.slice(index, index + limit);
  }

  /** Returns the JSON of an event, which is the same for all clients of an active run. */
  toJson(live: LiveEvent): string {
    const json = live.json ?? serializeEvent(live.event);
    if (this.#active) live.json = json;
    return json;
  }

  /** Returns a promise that resolves with the next change since a version, or when `stop` is called. */
  waitForChange(version: number): { readonly promise: Promise<void>; readonly stop: () => void } {
    if (version !== this.#version) return { promise: Promise.resolve(), stop() {} };
    const { promise, resolve } = createDeferred();
    const stop = () => {
      this.#waiting.delete(stop);
      resolve();
    };
    this.#waiting.add(stop);
    return { promise, stop };
  }
}

/** Types of events that may contain an error or a warning of a provider, in which keys are redacted. */
const REDACTED_TYPES = new Set([
  "agent_end",
  "retry",
  "model_call_end",
  "model_fallback",
  "warning",
]);

/** Returns the JSON of an event, without keys of providers. */
export function serializeEvent(event: AgentEvent): string {
  try {
    const json = JSON.stringify(event);
    return REDACTED_TYPES.has(event.type) ? redact(json) : json;
  } catch (thrown) {
    // A value of the application that is not JSON must not end the stream.
    const message = `The event "${event.type}" cannot be serialized: ${getErrorMessage(thrown)}`;
    return JSON.stringify({ type: "warning", code: "event_not_serializable", message });
  }
}
