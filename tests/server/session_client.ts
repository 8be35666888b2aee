/**
 * A client of several workers, which connects again until its run has ended.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { EventReader, type LogEntry, type ServerEvent, TOKENS } from "./server_fixture.ts";

/** Time without an event after which a client connects again, in milliseconds. */
const SILENCE_MS = 10_000;

/** Returns the address of a worker that lives, another one with each call. */
export type FindWorker = () => string | undefined;

/** A client with one session. */
export class SessionClient {
  readonly id: string;
  /** All events but states, in the order of their arrival. */
  readonly events: ServerEvent[] = [];
  /** Number of times that the client has connected. */
  connections = 0;
  readonly #findWorker: FindWorker;
  #start = "";

  constructor(id: string, findWorker: FindWorker) {
    this.id = id;
    this.#findWorker = findWorker;
  }

  /** Creates the session, sends a prompt and reads all events until the run has ended. */
  async run(): Promise<void> {
    const created = await this.#call("POST", "", { id: this.id });
    await created.body?.cancel();
    const prompted = await this.#call("POST", `/${this.id}/prompt`, { text: "work" });
    // A request that was repeated has the position of the first one.
    this.#start = (await prompted.json()).eventId;
    await this.#read(this.#start, (event) => {
      if (event.type !== "state") this.events.push(event);
    });
  }

  /** Id of the run, which is in the position before its first event. */
  get runId(): string {
    const [, runId = ""] = /~(\w+)-/.exec(this.#start) ?? [];
    return runId;
  }

  /** Asserts that the events are those that a client gets which was never interrupted, and have the complete log. */
  async assertComplete(): Promise<void> {
    const complete: ServerEvent[] = [];
    await this.#read(this.#start, (event) => {
      if (event.type !== "state") complete.push(event);
    });
    assertEquals(this.events.map(toText), complete.map(toText), this.id);
    const response = await this.#call("GET", `/${this.id}/entries?limit=200`);
    const { entries }: { entries: LogEntry[] } = await response.json();
    const received = this.events.filter(({ type }) => type === "entry").map(({ data }) => data.id);
    // The first entry is that of the session, before the prompt.
    assertEquals(received, entries.slice(1).map(({ id }) => id), this.id);
    const messages = entries.flatMap(({ message }) => message ? [message.id] : []);
    const ended = new Set(
      this.events.flatMap(({ type, data }) => type === "message_end" ? [data.message.id] : []),
    );
    assertEquals(messages.filter((id) => !ended.has(id)), [], `${this.id}: message_end`);
  }

  async #read(after: string, onEvent: (event: ServerEvent) => void): Promise<void> {
    let last = after;
    for (let isDone = false; !isDone;) {
      this.connections++;
      const headers = { "last-event-id": last };
      const response = await this.#call("GET", `/${this.id}/events`, undefined, headers);
      const reader = new EventReader(response);
      const timer = setTimeout(() => void reader.close().catch(() => {}), SILENCE_MS);
      try {
        await reader.until((event) => {
          last = event.id ?? last;
          onEvent(event);
          isDone = event.type === "state" && event.data.status === "idle";
          return isDone;
        });
      } catch {
        // The worker was killed.
      }
      clearTimeout(timer);
      await reader.close().catch(() => {});
      if (!isDone) await pause(20);
    }
  }

  /** Sends a request until a worker answers it; one that a worker was killed with is sent again. */
  async #call(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = { "idempotency-key": this.id },
  ): Promise<Response> {
    while (true) {
      const worker = this.#findWorker();
      const response = worker === undefined ? undefined : await fetch(
        `${worker}/v1/sessions${path}`,
        {
          method,
          headers: {
            authorization: `Bearer ${TOKENS.acme}`,
            ...(body && { "content-type": "application/json" }),
            ...headers,
          },
          body: body ? JSON.stringify(body) : null,
        },
      ).catch(() => undefined);
      if (response?.ok) return response;
      const text = await response?.text().catch(() => "");
      // A session exists already if the answer to its creation was lost; it is busy if its creation was interrupted.
      const isCreated = response?.status === 409 && path === "" && !text?.includes("session_busy");
      if (isCreated) return new Response(null);
      const isUnavailable = !response || response.status >= 500 || response.status === 409;
      if (!isUnavailable) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      await pause(50 + Math.random() * 100);
    }
  }
}

function toText({ type, data }: ServerEvent): string {
  return `${type} ${JSON.stringify(data)}`;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
