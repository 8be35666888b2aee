/**
 * The requests to a server that wait for an answer.
 *
 * @module
 */

/** Pauses the timeout of a call; returns a function that ends the pause. */
export type PauseTimeout = () => () => void;

/** Counts the requests to a server that wait for an answer. */
export class ActiveRequests {
  #count = 0;
  #controller = new AbortController();
  readonly #calls = new Set<PausedCall>();
  #questions = 0;

  /** Aborts when no request waits any more; `undefined` if none does. */
  get signal(): AbortSignal | undefined {
    return this.#count > 0 ? this.#controller.signal : undefined;
  }

  /** Sends a request, which waits until the promise settles. */
  async track<Value>(send: () => Promise<Value>, pauseTimeout?: PauseTimeout): Promise<Value> {
    const call: PausedCall = { pauseTimeout, resume: undefined };
    this.#count++;
    this.#calls.add(call);
    if (this.#questions > 0) pause(call);
    try {
      return await send();
    } finally {
      this.#calls.delete(call);
      this.#count--;
      if (this.#count === 0) {
        this.#controller.abort();
        this.#controller = new AbortController();
      }
    }
  }

  /** Asks the user, and meanwhile pauses the timeouts of the calls: it is not known which of them needs the answer. */
  async whileAsking<Value>(ask: () => Promise<Value>): Promise<Value> {
    if (this.#questions++ === 0) this.#calls.forEach(pause);
    try {
      return await ask();
    } finally {
      if (--this.#questions === 0) this.#calls.forEach((call) => call.resume?.());
    }
  }
}

/** A request whose timeout may be paused. */
interface PausedCall {
  readonly pauseTimeout: PauseTimeout | undefined;
  /** Ends the pause. */
  resume: (() => void) | undefined;
}

function pause(call: PausedCall): void {
  call.resume = call.pauseTimeout?.();
}
