/**
 * A reply's events become the body of a response.
 *
 * @module
 */

import { AgentError, getErrorMessage, NetworkError, StreamError } from "../../src/core/errors.ts";
import type { AssistantMessageEvent, StreamFn } from "../../src/core/stream.ts";
import type { Clock } from "../../src/core/ports.ts";
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
const MAX_BUFFERED_CHARACTERS = 16_384;

/** Within so many turns of the microtask queue comes the next event that is there already. */
const COALESCE_TICKS = 12;

/**
 * Asks the model and writes what it answers as server-sent events, not much faster than they are read. A caller who
 * leaves aborts the call.
 */
export function createEventBody(
  options: EventBodyOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
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
  readonly #idleTimer: IdleTimer;
  readonly #abortController = new AbortController();
  #events: AsyncIterator<AssistantMessageEvent> | null = null;
  #readLoop: Promise<void> | null = null;
  #buffer = "";
  #isDone = false;
  #wakeReader = (): void => {};
  #wakeWriter = (): void => {};

  constructor(
    controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
    options: EventBodyOptions,
  ) {
    this.#controller = controller;
    this.#options = options;
    const { clock, keepAliveMs: limitMs } = options;
    this.#idleTimer = new IdleTimer({ clock, limitMs, onIdle: () => this.#keepAlive() });
  }

  /** Sends what has come, as soon as something has. */
  async pull(): Promise<void> {
    this.#readLoop ??= this.#readEvents();
    this.#idleTimer.start();
    while (this.#buffer === "") await new Promise<void>((wake) => this.#wakeReader = wake);
    await this.#coalesceEvents();
    this.#idleTimer.stop();
    this.#controller.enqueue(encoder.encode(this.#buffer));
    this.#buffer = "";
    if (this.#isDone) this.#close();
    else this.#wakeWriter();
  }

  /** Waits while more comes without anybody having to wait for it: one chunk for many events costs far less. */
  async #coalesceEvents(): Promise<void> {
    let before = 0;
    while (this.#buffer.length > before && this.#buffer.length <= MAX_BUFFERED_CHARACTERS) {
      before = this.#buffer.length;
      for (let turn = 0; turn < COALESCE_TICKS; turn++) await null;
    }
  }

  /** The caller has left. */
  cancel(reason: unknown): void {
    this.#isDone = true;
    this.#abortController.abort(reason);
    this.#close(false);
  }

  /** Takes events ahead of the reader, up to a limit; never rejects. */
  async #readEvents(): Promise<void> {
    while (!this.#isDone) {
      const event = await this.#nextEvent();
      if (this.#isDone) return;
      this.#isDone = event.type === "done" || event.type === "error";
      this.#buffer += `data: ${JSON.stringify(toWireEvent(event))}\n\n`;
      this.#wakeReader();
      while (this.#buffer.length > MAX_BUFFERED_CHARACTERS && !this.#isDone) {
        await new Promise<void>((wake) => this.#wakeWriter = wake);
      }
    }
  }

  /** The next event; a stream function that breaks its contract fails the reply. */
  async #nextEvent(): Promise<AssistantMessageEvent> {
    try {
      this.#events ??= this.#callModel();
      const { done, value } = await this.#events.next();
      return done
        ? createErrorEvent(new NetworkError("The model's reply ended unexpectedly"))
        : value;
    } catch (thrown) {
      return createErrorEvent(
        AgentError.is(thrown) ? thrown : new StreamError(getErrorMessage(thrown)),
      );
    }
  }

  #callModel(): AsyncIterator<AssistantMessageEvent> {
    const { streamFn, request } = this.#options;
    const { model, systemPrompt, messages, tools, options } = request;
    const context = { systemPrompt, messages, tools };
    const { signal } = this.#abortController;
    return streamFn({ model, context, options, signal })[Symbol.asyncIterator]();
  }

  #close(isRead = true): void {
    this.#idleTimer.dispose();
    if (isRead) this.#controller.close();
    this.#wakeWriter();
    this.#events?.return?.().catch(ignore);
  }

  #keepAlive(): void {
    this.#controller.enqueue(KEEP_ALIVE);
    this.#idleTimer.start();
  }
}

function createErrorEvent(error: AgentError): AssistantMessageEvent {
  return { type: "error", stopReason: "error", error };
}

/** An event as it travels; what caused an error stays here, and so does whatever looks like a key. */
function toWireEvent(event: AssistantMessageEvent): object {
  if (event.type !== "error") return event;
  const { cause: _cause, ...error } = event.error.toJSON();
  return { ...event, error: { ...error, message: redact(error.message) } };
}

function ignore(): void {}
