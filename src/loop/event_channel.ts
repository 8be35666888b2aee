/**
 * The only way out of a run: a bounded channel of events that is read as a stream.
 *
 * @module
 */

import type { AgentEvent } from "../core/event.ts";

/** How many events the run may be ahead of its reader. */
export const HIGH_WATER_MARK = 256;

/** What {@linkcode EventChannel} tells the run. */
export interface ChannelOptions {
  /** The reader has left: called once, with its reason; the returned promise ends with the run. */
  readonly onCancel: (reason: unknown) => Promise<void>;
}

/**
 * Events between one writer and one reader.
 *
 * The writer waits when it is {@linkcode HIGH_WATER_MARK} events ahead, and can wait for the reader to have
 * taken everything. The reader sees a standard `ReadableStream`; `for await` over it reads the channel itself, since
 * a native stream costs a promise and a queue more per event.
 */
export class EventChannel {
  readonly #options: ChannelOptions;
  #events: AgentEvent[] = [];
  #head = 0;
  #open = true;
  #unbounded = false;
  #failure: { readonly error: unknown } | undefined;
  #resolve: ((result: IteratorResult<AgentEvent, undefined>) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;
  /** The read that the reader waits for, so that another one can queue behind it. */
  #pendingRead: Promise<unknown> | undefined;
  #writers: (() => void)[] = [];
  /** Unlocks and closes the stream once a direct reader has read everything. */
  #exhausted: (() => void) | undefined;

  /** Makes a channel. */
  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  /** Gives the reader an event; a promise when the writer should wait for the reader. */
  write(event: AgentEvent): Promise<void> | undefined {
    if (!this.#open) return undefined;
    const resolve = this.#resolve;
    if (resolve) {
      this.#resolve = undefined;
      resolve({ done: false, value: event });
      return undefined;
    }
    this.#events.push(event);
    if (this.#unbounded || this.#waiting < HIGH_WATER_MARK) return undefined;
    return this.#wait();
  }

  /** Settles when the reader has taken every event; `undefined` when it has. */
  drained(): Promise<void> | undefined {
    if (this.#unbounded || !this.#open || this.#waiting === 0) return undefined;
    return this.#wait().then(() => this.drained());
  }

  /** Lets the writer run ahead without bound from now on: a run that ends does not wait for its reader. */
  release(): void {
    this.#unbounded = true;
    this.#wake();
  }

  /** Ends the stream after what is in it. */
  close(): void {
    this.#end(undefined);
  }

  /** Ends the stream with an error after what is in it. */
  fail(error: unknown): void {
    this.#end({ error });
  }

  /** The reader's side. */
  stream(): ReadableStream<AgentEvent> {
    let controller: ReadableStreamDefaultController<AgentEvent> | undefined;
    const stream = new ReadableStream<AgentEvent>({
      start: (given) => void (controller = given),
      pull: async (given) => {
        const { done, value } = await this.#read();
        if (done) given.close();
        else given.enqueue(value);
      },
      cancel: (reason) => this.#cancel(reason),
    }, { highWaterMark: 0 });
    const values = (options: ReadableStreamIteratorOptions = {}) =>
      this.#iterate(stream.getReader(), {
        ...options,
        close: () => this.#failure ? controller?.error(this.#failure.error) : controller?.close(),
      });
    return Object.defineProperties(stream, {
      values: { value: values },
      [Symbol.asyncIterator]: { value: values },
    });
  }

  get #waiting(): number {
    return this.#events.length - this.#head;
  }

  #read(): Promise<IteratorResult<AgentEvent, undefined>> {
    const event = this.#events[this.#head];
    if (event !== undefined) {
      this.#head++;
      this.#compact();
      return Promise.resolve({ done: false, value: event });
    }
    if (this.#failure) return Promise.reject(this.#failure.error);
    if (!this.#open) return Promise.resolve(DONE);
    if (this.#resolve) return this.#readAfter(this.#pendingRead);
    const read = new Promise(this.#park);
    this.#pendingRead = read;
    return read;
  }

  /** Made once, so that waiting for an event makes no closure. */
  readonly #park = (
    resolve: (result: IteratorResult<AgentEvent, undefined>) => void,
    reject: (error: unknown) => void,
  ): void => {
    this.#resolve = resolve;
    this.#reject = reject;
  };

  #readAfter(
    earlier: Promise<unknown> | undefined,
  ): Promise<IteratorResult<AgentEvent, undefined>> {
    const again = () => this.#read();
    const read = Promise.resolve(earlier).then(again, again);
    this.#pendingRead = read;
    return read;
  }

  /** Drops what was read, seldom enough to cost nothing, and wakes a writer that waits for room. */
  #compact(): void {
    if (this.#head === this.#events.length) this.#wake();
    if (this.#head < HIGH_WATER_MARK) return;
    this.#events = this.#events.slice(this.#head);
    this.#head = 0;
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => this.#writers.push(resolve));
  }

  #wake(): void {
    if (this.#writers.length === 0) return;
    const writers = this.#writers;
    this.#writers = [];
    for (const resume of writers) resume();
  }

  #end(failure: { readonly error: unknown } | undefined): void {
    if (!this.#open) return;
    this.#open = false;
    this.#failure = failure;
    this.#wake();
    const resolve = this.#resolve;
    if (!resolve) return;
    this.#resolve = undefined;
    if (failure) this.#reject?.(failure.error);
    else resolve(DONE);
    this.#exhausted?.();
  }

  #cancel(reason: unknown): Promise<void> {
    const wasOpen = this.#open;
    this.#events = [];
    this.#head = 0;
    this.close();
    return wasOpen ? this.#options.onCancel(reason) : Promise.resolve();
  }

  /** Holds the stream's lock, as its own iterator would, and reads the channel without it. */
  #iterate(
    lock: ReadableStreamDefaultReader<AgentEvent>,
    { preventCancel = false, close }: ReadableStreamIteratorOptions & {
      readonly close: () => void;
    },
  ): EventIterator {
    let ended = false;
    const end = (act: () => Promise<void> | void) => {
      ended = true;
      this.#exhausted = undefined;
      const acted = act();
      lock.releaseLock();
      return acted;
    };
    this.#exhausted = () => void end(close);
    const iterator = {
      next: () => {
        if (ended) return Promise.resolve(DONE);
        const read = this.#read();
        if (!this.#open && this.#waiting === 0) this.#last(read);
        return read;
      },
      return: async (value?: unknown) => {
        if (!ended) await end(() => preventCancel ? undefined : lock.cancel(value));
        return { done: true as const, value };
      },
      [Symbol.asyncIterator]: () => iterator,
      [Symbol.asyncDispose]: async () => void await iterator.return(),
    };
    return iterator as EventIterator;
  }

  /** The stream is closed only when the reader has been told the end, not with its last event. */
  #last(read: Promise<IteratorResult<AgentEvent, undefined>>): void {
    read.then(({ done }) => done && this.#exhausted?.(), () => this.#exhausted?.());
  }
}

type EventIterator = ReturnType<ReadableStream<AgentEvent>["values"]>;

const DONE = { done: true, value: undefined } as const;
