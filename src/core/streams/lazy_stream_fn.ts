/**
 * Stream functions that are loaded on first use, and streams of requests that failed before.
 *
 * @module
 */

import { AbortedError, AgentError, getErrorMessage, StreamError } from "../errors/errors.ts";
import { abortable } from "../ports/abortable.ts";
import type { AssistantMessageEvent, StreamFn, StreamRequest } from "./stream.ts";

/**
 * Creates a stream function that is loaded when the first event of its first request is read.
 *
 * A failure to load ends the reply with an error; the next request loads again.
 *
 * @example
 * ```ts ignore
 * const streamFn = lazyStreamFn(async () => (await import("./acme.ts")).createAcme());
 * ```
 */
export function lazyStreamFn(load: () => Promise<StreamFn>): StreamFn {
  let loading: Promise<StreamFn> | undefined;
  let loaded: StreamFn | undefined;
  const loadOnce = async () => {
    try {
      return loaded = await (loading ??= load());
    } finally {
      loading = undefined;
    }
  };
  return (request) => loaded ? loaded(request) : toStream(new LazyEvents(loadOnce, request));
}

/** Creates a stream of events. Its iterator reads them directly, since the stream costs another promise per event. */
function toStream(events: LazyEvents): ReadableStream<AssistantMessageEvent> {
  const stream = new ReadableStream<AssistantMessageEvent>({
    async pull(controller): Promise<void> {
      const { done, value } = await events.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void await events.return(),
  }, { highWaterMark: 0 });
  return Object.assign(stream, { [Symbol.asyncIterator]: () => events });
}

/** Creates the stream of a request that failed before it was sent. */
export function failedStream(error: AgentError): ReadableStream<AssistantMessageEvent> {
  const stopReason = error.code === "aborted" ? "aborted" : "error";
  return new ReadableStream({
    start(controller): void {
      controller.enqueue({ type: "start" });
      controller.enqueue({ type: "error", stopReason, error });
      controller.close();
    },
  });
}

/** Loads a stream function and passes its events on. */
class LazyEvents implements AsyncIterableIterator<AssistantMessageEvent> {
  readonly #load: () => Promise<StreamFn>;
  readonly #request: StreamRequest;
  #opening: Promise<AsyncIterator<AssistantMessageEvent>> | undefined;
  #events: AsyncIterator<AssistantMessageEvent> | undefined;
  #isClosed = false;

  constructor(load: () => Promise<StreamFn>, request: StreamRequest) {
    this.#load = load;
    this.#request = request;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Reads directly from the loaded stream, since a stream in between would cost another promise per event. */
  next(): Promise<IteratorResult<AssistantMessageEvent>> {
    return this.#events?.next() ?? this.#readFirst();
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#isClosed = true;
    await this.#events?.return?.();
    return { done: true, value: undefined };
  }

  async #readFirst(): Promise<IteratorResult<AssistantMessageEvent>> {
    const events = await (this.#opening ??= this.#open());
    if (this.#isClosed) await events.return?.();
    else this.#events = events;
    return events.next();
  }

  async #open(): Promise<AsyncIterator<AssistantMessageEvent>> {
    try {
      const streamFn = await abortable(this.#load(), this.#request.signal);
      return streamFn(this.#request)[Symbol.asyncIterator]();
    } catch (thrown) {
      return failedStream(toError(thrown, this.#request))[Symbol.asyncIterator]();
    }
  }
}

function toError(thrown: unknown, { model, signal }: StreamRequest): AgentError {
  if (signal.aborted) return new AbortedError("The request was aborted", { cause: signal.reason });
  if (AgentError.is(thrown)) return thrown;
  const { provider } = model;
  const message = `Cannot load the adapter for ${provider}: ${getErrorMessage(thrown)}`;
  return new StreamError(message, { provider, cause: thrown });
}
