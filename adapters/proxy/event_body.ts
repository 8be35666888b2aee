/**
 * A reply's events become the body of a response.
 *
 * @module
 */

import { AgentError, messageOf, NetworkError, StreamError } from "../../src/core/errors.ts";
import type { AssistantMessageEvent, StreamFn } from "../../src/core/stream.ts";
import type { Clock } from "../kit/options/clock.ts";
import { IdleTimer } from "../kit/stream/idle_timer.ts";
import { redact } from "../../src/core/redact.ts";
import type { ProxyRequest } from "./wire.ts";

/** What is asked, and how the reply is sent. */
export interface EventBodyOptions {
  /** Asks the model. */
  readonly streamFn: StreamFn;
  /** What it is asked. */
  readonly request: ProxyRequest;
  /** After how much silence a comment keeps the connection open, in milliseconds. */
  readonly keepAliveMs: number;
  /** Time and timers. */
  readonly clock: Clock;
}

const encoder = new TextEncoder();
const KEEP_ALIVE = encoder.encode(": keep-alive\n\n");

/** Events that come faster than they are sent wait to be sent together, up to so many characters. */
const AHEAD_CHARACTERS = 16_384;

/** Within so many turns of the microtask queue comes the next event that is there already. */
const BURST_TURNS = 12;

/**
 * Asks the model and writes what it answers as server-sent events, not much faster than they are read. A caller who
 * leaves aborts the call.
 */
export function eventBody(options: EventBodyOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
  let body: EventBody;
  return new ReadableStream({
    start: (controller) => {
      body = new EventBody(controller, options);
    },
    pull: () => body.pull(),
    cancel: (reason) => body.cancel(reason),
  }, { highWaterMark: 0 });
}

class EventBody {
  readonly #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  readonly #options: EventBodyOptions;
  readonly #idle: IdleTimer;
  readonly #leaving = new AbortController();
  #events: AsyncIterator<AssistantMessageEvent> | null = null;
  #collecting: Promise<void> | null = null;
  #waiting = "";
  #isOver = false;
  #wakeReader = (): void => {};
  #wakeWriter = (): void => {};

  constructor(
    controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
    options: EventBodyOptions,
  ) {
    this.#controller = controller;
    this.#options = options;
    const { clock, keepAliveMs: limitMs } = options;
    this.#idle = new IdleTimer({ clock, limitMs, onIdle: () => this.#keepAlive() });
  }

  /** Sends what has come, as soon as something has. */
  async pull(): Promise<void> {
    this.#collecting ??= this.#collect();
    this.#idle.wait();
    while (this.#waiting === "") await new Promise<void>((wake) => this.#wakeReader = wake);
    await this.#burst();
    this.#idle.rest();
    this.#controller.enqueue(encoder.encode(this.#waiting));
    this.#waiting = "";
    if (this.#isOver) this.#close();
    else this.#wakeWriter();
  }

  /** Waits while more comes without anybody having to wait for it: one chunk for many events costs far less. */
  async #burst(): Promise<void> {
    let before = 0;
    while (this.#waiting.length > before && this.#waiting.length <= AHEAD_CHARACTERS) {
      before = this.#waiting.length;
      for (let turn = 0; turn < BURST_TURNS; turn++) await null;
    }
  }

  /** The caller has left. */
  cancel(reason: unknown): void {
    this.#isOver = true;
    this.#leaving.abort(reason);
    this.#close(false);
  }

  /** Takes events ahead of the reader, up to a limit; never rejects. */
  async #collect(): Promise<void> {
    while (!this.#isOver) {
      const event = await this.#next();
      if (this.#isOver) return;
      this.#isOver = event.type === "done" || event.type === "error";
      this.#waiting += `data: ${JSON.stringify(wireEvent(event))}\n\n`;
      this.#wakeReader();
      while (this.#waiting.length > AHEAD_CHARACTERS && !this.#isOver) {
        await new Promise<void>((wake) => this.#wakeWriter = wake);
      }
    }
  }

  /** The next event; a stream function that breaks its contract fails the reply. */
  async #next(): Promise<AssistantMessageEvent> {
    try {
      this.#events ??= this.#ask();
      const { done, value } = await this.#events.next();
      return done ? failed(new NetworkError("The model's reply ended unexpectedly")) : value;
    } catch (thrown) {
      return failed(AgentError.is(thrown) ? thrown : new StreamError(messageOf(thrown)));
    }
  }

  #ask(): AsyncIterator<AssistantMessageEvent> {
    const { streamFn, request } = this.#options;
    const { model, systemPrompt, messages, tools, options } = request;
    const context = { systemPrompt, messages, tools };
    const { signal } = this.#leaving;
    return streamFn({ model, context, options, signal })[Symbol.asyncIterator]();
  }

  #close(isRead = true): void {
    this.#idle.dispose();
    if (isRead) this.#controller.close();
    this.#wakeWriter();
    this.#events?.return?.().catch(ignore);
  }

  #keepAlive(): void {
    this.#controller.enqueue(KEEP_ALIVE);
    this.#idle.wait();
  }
}

function failed(error: AgentError): AssistantMessageEvent {
  return { type: "error", stopReason: "error", error };
}

/** An event as it travels; what caused an error stays here, and so does whatever looks like a key. */
function wireEvent(event: AssistantMessageEvent): object {
  if (event.type !== "error") return event;
  const { cause: _cause, ...error } = event.error.toJSON();
  return { ...event, error: { ...error, message: redact(error.message) } };
}

function ignore(): void {}
