/**
 * A reply's events become the body of a response.
 *
 * @module
 */

import { AgentError, messageOf, NetworkError, StreamError } from "../../src/core/errors.ts";
import type { AssistantMessageEvent, StreamFn } from "../../src/core/stream.ts";
import type { Clock } from "../shared/clock.ts";
import { IdleTimer } from "../shared/idle_timer.ts";
import { redact } from "../../src/core/redact.ts";
import type { ProxyRequest } from "./wire.ts";

/** What is asked, and how the reply is sent. */
export interface EventBodyOptions {
  /** Asks the model. */
  readonly streamFn: StreamFn;
  /** What it is asked. */
  readonly request: ProxyRequest;
  /** Fires when the caller has left. */
  readonly signal: AbortSignal;
  /** After how much silence a comment keeps the connection open, in milliseconds. */
  readonly keepAliveMs: number;
  /** Time and timers. */
  readonly clock: Clock;
}

const encoder = new TextEncoder();
const KEEP_ALIVE = encoder.encode(": keep-alive\n\n");

/**
 * Asks the model and writes what it answers as server-sent events, as fast as they are read and no faster. A caller
 * who leaves aborts the call.
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
  readonly #idle: IdleTimer;
  readonly #leaving = new AbortController();
  readonly #ask: () => AsyncIterator<AssistantMessageEvent>;
  #events: AsyncIterator<AssistantMessageEvent> | null = null;
  #over = false;

  constructor(
    controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
    { streamFn, request, signal, clock, keepAliveMs: limitMs }: EventBodyOptions,
  ) {
    this.#controller = controller;
    this.#idle = new IdleTimer({ clock, limitMs, onIdle: () => this.#keepAlive() });
    this.#ask = () => {
      const { model, systemPrompt, messages, tools, options } = request;
      const both = AbortSignal.any([signal, this.#leaving.signal]);
      const events = streamFn({
        model,
        context: { systemPrompt, messages, tools },
        options,
        signal: both,
      });
      return events[Symbol.asyncIterator]();
    };
  }

  /** Writes the next event. */
  async pull(): Promise<void> {
    this.#idle.wait();
    const event = await this.#next();
    this.#idle.rest();
    if (this.#over) return;
    this.#controller.enqueue(encoder.encode(`data: ${JSON.stringify(wireEvent(event))}\n\n`));
    if (event.type === "done" || event.type === "error") this.#end();
  }

  /** The caller has left. */
  cancel(reason: unknown): void {
    this.#over = true;
    this.#idle.dispose();
    this.#leaving.abort(reason);
    this.#leave();
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

  #end(): void {
    this.#over = true;
    this.#idle.dispose();
    this.#controller.close();
    this.#leave();
  }

  #leave(): void {
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
