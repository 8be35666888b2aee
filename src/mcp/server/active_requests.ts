/**
 * The requests to a server that wait for an answer.
 *
 * @module
 */

/** Counts the requests to a server that wait for an answer. */
export class ActiveRequests {
  #count = 0;
  #controller = new AbortController();

  /** Aborts when no request waits any more; `undefined` if none does. */
  get signal(): AbortSignal | undefined {
    return this.#count > 0 ? this.#controller.signal : undefined;
  }

  /** Sends a request, which waits until the promise settles. */
  async track<Value>(send: () => Promise<Value>): Promise<Value> {
    this.#count++;
    try {
      return await send();
    } finally {
      this.#count--;
      if (this.#count === 0) {
        this.#controller.abort();
        this.#controller = new AbortController();
      }
    }
  }
}
