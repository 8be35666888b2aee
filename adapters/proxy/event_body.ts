/**
 * Writes the events of a reply to the body of an HTTP response.
 *
 * @module
 */

import {
  AgentError,
  getErrorMessage,
  NetworkError,
  StreamError,
} from "../../src/core/errors/errors.ts";
import type { Clock } from "../../src/core/ports/ports.ts";
import type { AssistantMessageEvent, StreamFn } from "../../src/core/streams/stream.ts";
import { redact } from "../../src/core/text/redact.ts";
import { IdleTimer } from "../kit/stream/idle_timer.ts";
import type { ProxyRequest } from "./wire.ts";

/** Options for {@linkcode createEventBody}. */
export interface EventBodyOptions {
  /** Calls the model. */
  readonly streamFn: StreamFn;
  /** The model call. */
  readonly request: ProxyRequest;
  /** Time without events in milliseconds after which a comment keeps the connection open. */
  readonly keepAliveMs: number;
  /** Time and timers. */
  readonly clock: Clock;
}

const encoder = new TextEncoder();
const KEEP_ALIVE = encoder.encode(": keep-alive\n\n");

/** Number of buffered characters above which no further event is read until the buffer is sent. */
const MAX_BUFFERED_CHARACTERS = 16_384;

/** Number of microtasks within which the stream function delivers an event that it has already received. */
const COALESCE_TICKS = 12;

/**
 * Calls the model and returns its events as server-sent events. Reading is limited to a small buffer ahead of the
 * caller, and cancelling the body aborts the model call.
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
    const { clock, keepAliveMs } = options;
    this.#idleTimer = new IdleTimer({
      clock,
      limitMs: keepAliveMs,
      onIdle: () => {
        this.#controller.enqueue(KEEP_ALIVE);
        this.#idleTimer.start();
      },
    });
  }

  /** Waits for events and enqueues them as one chunk. */
  async pull(): Promise<void> {
    this.#readLoop ??= this.#readEvents();
    this.#idleTimer.start();
    while (this.#buffer === "") await new Promise<void>((wake) => this.#wakeReader = wake);
    await this.#coalesceEvents();
    this.#idleTimer.stop();
    this.#controller.enqueue(encoder.encode(this.#buffer));
    this.#buffer = "";
    if (this.#isDone) this.#close({ closeBody: true });
    else this.#wakeWriter();
  }

  /** Waits for events that are available without delay, because one large chunk is far cheaper than many small ones. */
  async #coalesceEvents(): Promise<void> {
    let previousLength = 0;
    while (this.#buffer.length > previousLength && this.#buffer.length <= MAX_BUFFERED_CHARACTERS) {
      previousLength = this.#buffer.length;
      for (let tick = 0; tick < COALESCE_TICKS; tick++) await null;
    }
  }

  /** Aborts the model call after the caller disconnected. */
  cancel(reason: unknown): void {
    this.#isDone = true;
    this.#abortController.abort(reason);
    this.#close({ closeBody: false });
  }

  /** Reads events into the buffer, waiting while it is full. Never rejects. */
  async #readEvents(): Promise<void> {
    while (!this.#isDone) {
      const { isLast, data } = await this.#nextEvent();
      if (this.#isDone) return;
      this.#isDone = isLast;
      this.#buffer += `data: ${data}\n\n`;
      this.#wakeReader();
      while (this.#buffer.length > MAX_BUFFERED_CHARACTERS && !this.#isDone) {
        await new Promise<void>((wake) => this.#wakeWriter = wake);
      }
    }
  }

  /**
   * Returns the next event, or an error event when the stream function throws, ends without a terminal event, or has an
   * event that is not JSON.
   */
  async #nextEvent(): Promise<FormattedEvent> {
    try {
      this.#events ??= this.#callModel();
      const { done, value } = await this.#events.next();
      if (done) throw new NetworkError("The model's reply ended unexpectedly");
      return formatEvent(value);
    } catch (thrown) {
      const error = AgentError.is(thrown) ? thrown : new StreamError(getErrorMessage(thrown));
      return formatEvent({ type: "error", stopReason: "error", error });
    }
  }

  #callModel(): AsyncIterator<AssistantMessageEvent> {
    const { streamFn, request } = this.#options;
    const { model, systemPrompt, messages, tools, options } = request;
    const context = { systemPrompt, messages, tools };
    const { signal } = this.#abortController;
    return streamFn({ model, context, options, signal })[Symbol.asyncIterator]();
  }

  /** Releases the timer and the events; `closeBody` is false when the body was cancelled. */
  #close({ closeBody }: { readonly closeBody: boolean }): void {
    this.#idleTimer.dispose();
    if (closeBody) this.#controller.close();
    this.#wakeWriter();
    this.#events?.return?.().catch(() => {});
  }
}

/** An event as JSON. */
interface FormattedEvent {
  readonly data: string;
  /** Whether no event follows. */
  readonly isLast: boolean;
}

/** Formats an event as JSON; the cause of an error is dropped and keys in errors and warnings are redacted. */
function formatEvent(event: AssistantMessageEvent): FormattedEvent {
  switch (event.type) {
    case "warning":
      return { data: redact(JSON.stringify(event)), isLast: false };
    case "error": {
      const { cause: _cause, ...error } = event.error.toJSON();
      return { data: redact(JSON.stringify({ ...event, error })), isLast: true };
    }
    default:
      return { data: JSON.stringify(event), isLast: event.type === "done" };
  }
}
