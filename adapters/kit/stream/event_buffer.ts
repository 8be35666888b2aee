/**
 * Events between the one who makes them, many at a time, and the one who takes them, one by one.
 *
 * @module
 */

/** Keeps events until they are taken; makes more when there are none. */
export class EventBuffer<Event> {
  readonly #makeMore: () => Promise<void>;
  #events: Event[] = [];
  #head = 0;
  #closed = false;
  #making = false;
  #waiting: Promise<IteratorResult<Event, undefined>> | null = null;
  #answer: ((result: IteratorResult<Event, undefined>) => void) | null = null;

  /** Makes an empty buffer; `makeMore` is called, again and again, while somebody waits. */
  constructor(makeMore: () => Promise<void>) {
    this.#makeMore = makeMore;
  }

  /** Adds an event; whoever waits gets it at once. */
  push(event: Event): void {
    if (this.#closed) return;
    if (this.#answer === null) this.#events.push(event);
    else this.#reply({ done: false, value: event });
  }

  /** Ends the events after those that are there. */
  close(): void {
    this.#closed = true;
    if (this.#answer !== null) this.#reply(DONE);
  }

  /** The next event; waits for one when there is none. */
  next(): Promise<IteratorResult<Event, undefined>> {
    const event = this.#events[this.#head];
    if (event !== undefined) {
      this.#head++;
      return Promise.resolve({ done: false, value: event });
    }
    if (this.#closed) return Promise.resolve(DONE);
    if (this.#waiting !== null) return this.#waiting.then(() => this.next());
    return this.#wait();
  }

  /** Whether all events have been taken, and no more will come. */
  get isOver(): boolean {
    return this.#closed && this.#head >= this.#events.length;
  }

  /** All events that are there already. */
  takeAll(): Event[] {
    const events = this.#events.slice(this.#head);
    this.#events = [];
    this.#head = 0;
    return events;
  }

  #wait(): Promise<IteratorResult<Event, undefined>> {
    this.#events = [];
    this.#head = 0;
    const waiting = new Promise<IteratorResult<Event, undefined>>((resolve) => {
      this.#answer = resolve;
    });
    this.#waiting = waiting;
    if (!this.#making) this.#make();
    return waiting;
  }

  async #make(): Promise<void> {
    this.#making = true;
    while (this.#answer !== null) await this.#makeMore();
    this.#making = false;
  }

  #reply(result: IteratorResult<Event, undefined>): void {
    this.#answer?.(result);
    this.#answer = null;
    this.#waiting = null;
  }
}

/** What is left of the reader's side. */
export interface EventReading {
  /** The reader has left. */
  readonly cancel: (reason: unknown) => void;
}

/**
 * The events as a native stream.
 *
 * `for await` takes them from the buffer itself: the machinery of a native stream would cost as much for each event
 * as parsing it.
 */
export function readableEvents<Event>(
  buffer: EventBuffer<Event>,
  { cancel }: EventReading,
): ReadableStream<Event> {
  const stream = new ReadableStream<Event>({
    async pull(controller): Promise<void> {
      const { done, value } = await buffer.next();
      if (done) return controller.close();
      controller.enqueue(value);
      for (const event of buffer.takeAll()) controller.enqueue(event);
    },
    cancel: (reason) => cancel(reason),
  }, { highWaterMark: 0 });
  const values = ({ preventCancel = false }: ReadableStreamIteratorOptions = {}) =>
    iterate(buffer, stream.getReader(), preventCancel);
  return Object.defineProperties(stream, {
    values: { value: values },
    [Symbol.asyncIterator]: { value: values },
  });
}

/** Holds the stream's lock, as its own iterator would. */
function iterate<Event>(
  buffer: EventBuffer<Event>,
  lock: ReadableStreamDefaultReader<Event>,
  preventCancel: boolean,
): AsyncIterableIterator<Event, undefined> {
  let left = false;
  const leave = () => {
    left = true;
    lock.releaseLock();
  };
  const iterator: AsyncIterableIterator<Event, undefined> = {
    next(): Promise<IteratorResult<Event, undefined>> {
      if (!left && buffer.isOver) leave();
      return left ? Promise.resolve(DONE) : buffer.next();
    },
    async return(): Promise<IteratorResult<Event, undefined>> {
      if (left) return DONE;
      const cancelled = preventCancel ? undefined : lock.cancel();
      leave();
      await cancelled;
      return DONE;
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
