/**
 * The event streams that are open.
 *
 * @module
 */

import { startTimer } from "../../core/ports/start_timer.ts";
import { KeepAlive, type KeepAliveOptions } from "../../core/streams/keep_alive.ts";
import { createShutdownFailure } from "../http/problem.ts";
import type { FeedItem } from "../runner/agent_runner.ts";

/** Reason for the end of a stream. */
export type EndReason = "shutdown" | "session_deleted" | "storage_failed";

/** The signals of a stream. */
export interface StreamSignals {
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** Aborted when the stream ends after all events until then. */
  readonly ending: AbortSignal;
}

/** Time after which a client connects again, in milliseconds. */
const RETRY_MS = 2_000;

const encoder = new TextEncoder();

/** The event streams of a server. */
export class EventStreams {
  readonly #options: KeepAliveOptions;
  readonly #open = new Set<EventStream>();

  constructor(options: KeepAliveOptions) {
    this.#options = options;
  }

  /** Number of open streams. */
  get size(): number {
    return this.#open.size;
  }

  /** Opens a stream: `read` returns its events. `onClose` is called once, also if `read` rejects, as this does then. */
  async open(
    read: (signals: StreamSignals) => Promise<AsyncIterable<readonly FeedItem[]>>,
    onClose: () => void,
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const stream = new EventStream(this.#options, () => {
      this.#open.delete(stream);
      onClose();
    });
    this.#open.add(stream);
    try {
      const batches = await read(stream.signals);
      // The end of all streams does not wait longer for a slow store, and its client would wait for events forever.
      if (stream.isClosed) throw createShutdownFailure({ retryAfterMs: RETRY_MS });
      return stream.createBody(batches);
    } catch (error) {
      stream.cancel();
      throw error;
    }
  }

  /** Ends all streams after the events that they have; those of clients that do not read them within a time at once. */
  async end(reason: EndReason, timeoutMs: number): Promise<void> {
    const open = [...this.#open];
    for (const stream of open) stream.end(reason);
    const stopTimer = startTimer(this.#options.clock, timeoutMs, () => {
      for (const stream of open) stream.cancel();
    });
    await Promise.all(open.map(({ closed }) => closed));
    stopTimer();
  }
}

class EventStream {
  /** Resolves when the stream is closed. */
  readonly closed: Promise<void>;
  readonly #options: KeepAliveOptions;
  readonly #signal = new AbortController();
  readonly #ending = new AbortController();
  readonly #close: () => void;
  #reason: EndReason | undefined;
  #isClosed = false;
  #keepAlive: KeepAlive | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;

  constructor(options: KeepAliveOptions, onClose: () => void) {
    this.#options = options;
    let resolveClosed = () => {};
    this.closed = new Promise((resolve) => resolveClosed = resolve);
    this.#close = () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#keepAlive?.stop();
      this.#signal.abort();
      onClose();
      resolveClosed();
    };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get signals(): StreamSignals {
    return { signal: this.#signal.signal, ending: this.#ending.signal };
  }

  /** Returns the body of the response. */
  createBody(
    batches: AsyncIterable<readonly FeedItem[]>,
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    const events = batches[Symbol.asyncIterator]();
    let isOpened = false;
    return new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
        this.#keepAlive = new KeepAlive(controller, this.#options);
      },
      pull: async (controller) => {
        if (!isOpened) {
          isOpened = true;
          // Sends the headers before the first event.
          return controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
        }
        await this.#pull(controller, events);
      },
      cancel: () => {
        this.#close();
        // Not awaited, since the events may wait for the store.
        void Promise.resolve(events.return?.()).catch(() => {});
      },
    }, { highWaterMark: 0 });
  }

  /** Ends the stream after the events until now. */
  end(reason: EndReason): void {
    this.#reason ??= reason;
    this.#ending.abort();
  }

  /** Closes the stream at once. */
  cancel(): void {
    if (this.#isClosed) return;
    this.#controller?.error(new Error("The stream was closed"));
    this.#close();
  }

  async #pull(
    controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
    events: AsyncIterator<readonly FeedItem[]>,
  ): Promise<void> {
    this.#keepAlive?.startWait();
    const { done, value } = await this.#next(events);
    this.#keepAlive?.endWait();
    if (this.#isClosed) return;
    if (!done) return controller.enqueue(encoder.encode(value.map(formatItem).join("")));
    if (this.#reason) {
      const data = JSON.stringify({ reason: this.#reason, retryMs: RETRY_MS });
      controller.enqueue(encoder.encode(formatItem({ type: "end", data })));
    }
    controller.close();
    this.#close();
  }

  async #next(
    events: AsyncIterator<readonly FeedItem[]>,
  ): Promise<IteratorResult<readonly FeedItem[], void>> {
    try {
      return await events.next();
    } catch {
      // The client connects again, and gets the error as that of its request.
      this.#reason ??= "storage_failed";
      return { done: true, value: undefined };
    }
  }
}

/** Formats a server-sent event. JSON has no line breaks. */
function formatItem({ type, id, data }: FeedItem): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${type}\ndata: ${data}\n\n`;
}
