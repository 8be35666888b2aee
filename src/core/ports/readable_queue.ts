/**
 * A queue that is read as a `ReadableStream`.
 *
 * @module
 */

/** Options for `new ReadableQueue()`. */
export interface ReadableQueueOptions {
  /** Called repeatedly while a read is pending and the queue is empty, until it pushes a value or closes the queue. */
  readonly pull?: () => Promise<void>;
  /** Called when a read has emptied the queue. */
  readonly onEmpty?: () => void;
  /**
   * Called when the reader cancels the stream, after the queue was closed; `wasOpen` is whether it was open before. The
   * stream's `cancel()` awaits it.
   */
  readonly cancel?: (reason: unknown, wasOpen: boolean) => Promise<void> | void;
  /** Whether a read of the native stream takes all queued values instead of one. Default: `false`. */
  readonly readAhead?: boolean;
}

type ReadResult<Value> = IteratorResult<Value, undefined>;

/** Reads before the array of values is trimmed, so that the cost of trimming is amortized. */
const TRIM_AFTER = 256;

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * Passes values from one writer to one reader.
 *
 * `for await` over the stream reads the queue directly, since a native stream costs another promise and queue per
 * value. The stream is locked meanwhile, as by its own iterator.
 */
export class ReadableQueue<Value extends object> {
  readonly #options: ReadableQueueOptions;
  #values: Value[] = [];
  #head = 0;
  #state: "open" | "closed" | { readonly error: unknown } = "open";
  #discards = false;
  #pulling = false;
  #resolve: ((result: ReadResult<Value>) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;
  /** The latest pending read, so that the next one follows it. */
  #pendingRead: Promise<unknown> | undefined;
  /** Releases the lock of the direct iterator and settles the stream. */
  #releaseIterator: (() => void) | undefined;

  constructor(options: ReadableQueueOptions = {}) {
    this.#options = options;
  }

  /** Number of queued values. */
  get size(): number {
    return this.#values.length - this.#head;
  }

  /** Whether the queue still accepts values. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Appends a value, or resolves the pending read with it. Ignored if the queue is closed, or discards its values. */
  push(value: Value): void {
    if (this.#state !== "open" || this.#discards) return;
    const resolve = this.#resolve;
    if (resolve === undefined) {
      this.#values.push(value);
      return;
    }
    this.#resolve = undefined;
    resolve({ done: false, value });
  }

  /** Closes the stream after the queued values. */
  close(): void {
    this.#end("closed");
  }

  /** Errors the stream after the queued values. */
  fail(error: unknown): void {
    this.#end({ error });
  }

  /** Discards the queued values. */
  clear(): void {
    this.#values = [];
    this.#head = 0;
  }

  /** Discards the queued values and all later ones; reads wait for the end. */
  discard(): void {
    this.#discards = true;
    this.clear();
  }

  /** Creates the stream; call it once. */
  stream(): ReadableStream<Value> {
    let controller: ReadableStreamDefaultController<Value> | undefined;
    let settled = false;
    const stream = new ReadableStream<Value>({
      start: (created) => void (controller = created),
      pull: (target) => this.#fill(target, settle),
      cancel: (reason) => {
        settled = true;
        return this.#cancel(reason);
      },
    }, { highWaterMark: 0 });
    const settle = () => {
      if (settled) return;
      settled = true;
      if (typeof this.#state === "object") controller?.error(this.#state.error);
      else controller?.close();
    };
    const values = (options?: ReadableStreamIteratorOptions | null) =>
      this.#iterate(stream.getReader(), {
        preventCancel: options?.preventCancel ?? false,
        settle,
      });
    return Object.defineProperties(stream, {
      values: { value: values },
      [Symbol.asyncIterator]: { value: values },
    });
  }

  async #fill(
    controller: ReadableStreamDefaultController<Value>,
    settle: () => void,
  ): Promise<void> {
    const { done, value } = await this.#read();
    if (done) return settle();
    controller.enqueue(value);
    if (!this.#options.readAhead) return;
    const queued = this.#values.slice(this.#head);
    this.clear();
    for (const next of queued) controller.enqueue(next);
  }

  #read(): Promise<ReadResult<Value>> {
    const value = this.#values[this.#head];
    if (value !== undefined) {
      this.#head++;
      if (this.#head === this.#values.length) this.#options.onEmpty?.();
      if (this.#head >= TRIM_AFTER && this.#head * 2 >= this.#values.length) this.#trim();
      return Promise.resolve({ done: false, value });
    }
    if (typeof this.#state === "object") return Promise.reject(this.#state.error);
    if (this.#state === "closed") return Promise.resolve(DONE);
    if (this.#resolve) return this.#readAfter(this.#pendingRead);
    const read = new Promise(this.#storePendingRead);
    this.#pendingRead = read;
    if (this.#options.pull && !this.#pulling) void this.#pull(this.#options.pull);
    return read;
  }

  /** Defined once, so that a pending read allocates no closure. */
  readonly #storePendingRead = (
    resolve: (result: ReadResult<Value>) => void,
    reject: (error: unknown) => void,
  ): void => {
    this.#resolve = resolve;
    this.#reject = reject;
  };

  #readAfter(earlier: Promise<unknown> | undefined): Promise<ReadResult<Value>> {
    const readNext = () => this.#read();
    const read = Promise.resolve(earlier).then(readNext, readNext);
    this.#pendingRead = read;
    return read;
  }

  async #pull(pull: () => Promise<void>): Promise<void> {
    this.#pulling = true;
    while (this.#resolve !== undefined) await pull();
    this.#pulling = false;
  }

  #trim(): void {
    this.#values = this.#values.slice(this.#head);
    this.#head = 0;
  }

  #end(state: "closed" | { readonly error: unknown }): void {
    if (this.#state !== "open") return;
    this.#state = state;
    const resolve = this.#resolve;
    if (resolve === undefined) return;
    this.#resolve = undefined;
    if (typeof state === "object") this.#reject?.(state.error);
    else resolve(DONE);
    this.#releaseIterator?.();
  }

  #cancel(reason: unknown): Promise<void> | void {
    const wasOpen = this.isOpen;
    this.clear();
    this.close();
    return this.#options.cancel?.(reason, wasOpen);
  }

  #iterate(
    lock: ReadableStreamDefaultReader<Value>,
    { preventCancel, settle }: { readonly preventCancel: boolean; readonly settle: () => void },
  ): ReturnType<ReadableStream<Value>["values"]> {
    let released = false;
    const release = <Result>(finish: () => Result): Result => {
      released = true;
      this.#releaseIterator = undefined;
      const result = finish();
      lock.releaseLock();
      return result;
    };
    this.#releaseIterator = () => release(settle);
    const iterator = {
      next: () => {
        if (released) return Promise.resolve(DONE);
        const read = this.#read();
        if (this.#state !== "open" && this.size === 0) this.#releaseAfter(read);
        return read;
      },
      return: async (value?: unknown) => {
        if (!released) await release(() => preventCancel ? undefined : lock.cancel(value));
        return { done: true as const, value };
      },
      [Symbol.asyncIterator]: () => iterator,
      [Symbol.asyncDispose]: async () => void await iterator.return(),
    };
    return iterator as ReturnType<ReadableStream<Value>["values"]>;
  }

  /** Releases the iterator once its reader has seen the end of the stream, not with the last value. */
  #releaseAfter(read: Promise<ReadResult<Value>>): void {
    read.then(({ done }) => done && this.#releaseIterator?.(), () => this.#releaseIterator?.());
  }
}
