/**
 * One run's abort: a signal going down, and a bound on how long anybody may take to obey it.
 *
 * @module
 */

import { AbortedError } from "../core/errors.ts";
import type { Sleep } from "../core/ports.ts";

/** How long a tool, hook or listener may take to obey an abort, in milliseconds; then it is left behind. */
export const GRACE_MS = 100;

/** What {@linkcode Cancellation} takes. */
export interface CancellationOptions {
  /** The caller's signal; its abort is this one's. */
  readonly signal?: AbortSignal | undefined;
  /** Waits for the grace. */
  readonly sleep: Sleep;
}

/** Can be aborted once; everything that waits under it ends in bounded time. */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #sleep: Sleep;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #listeners = new Set<(reason: unknown) => void>();

  /** Makes a cancellation that follows the caller's signal until it is disposed of. */
  constructor({ signal, sleep }: CancellationOptions) {
    this.#sleep = sleep;
    this.#callerSignal = signal;
    if (signal?.aborted) this.abort(signal.reason);
    else signal?.addEventListener("abort", this.#onOuterAbort);
  }

  /** Fires on abort. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it was aborted. */
  get aborted(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Why it was aborted. */
  get reason(): unknown {
    return this.#controller.signal.reason;
  }

  /** Aborts; a second time does nothing. */
  abort(reason?: unknown): void {
    if (this.aborted) return;
    this.#controller.abort(reason ?? new AbortedError());
    for (const listener of [...this.#listeners]) listener(this.reason);
  }

  /** Lets go of the caller's signal. */
  dispose(): void {
    this.#callerSignal?.removeEventListener("abort", this.#onOuterAbort);
  }

  /** Calls `listener` on abort, at once if that has been; returns how to stop. Cheaper than an event listener. */
  onAbort(listener: (reason: unknown) => void): () => void {
    if (this.aborted) listener(this.reason);
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A cancellation of its own that this one's abort reaches as well. */
  child(): Cancellation {
    const child = new Cancellation({ sleep: this.#sleep });
    const stop = this.onAbort((reason) => child.abort(reason));
    child.dispose = () => void stop();
    return child;
  }

  /** Waits for work; rejects with {@linkcode AbortedError} as soon as the abort comes. */
  untilAborted<Value>(work: PromiseLike<Value>): Promise<Value> {
    return this.#raceAbort(work, (leave) => {
      leave();
      return () => {};
    });
  }

  /** Waits for work; rejects with {@linkcode AbortedError} when it is not done {@linkcode GRACE_MS} after the abort. */
  withGrace<Value>(work: PromiseLike<Value>): Promise<Value> {
    return this.#raceAbort(work, (leave) => {
      const grace = new AbortController();
      void this.#sleep(GRACE_MS, grace.signal).then(leave);
      return () => grace.abort();
    });
  }

  #raceAbort<Value>(
    work: PromiseLike<Value>,
    whenAborted: (leave: () => void) => () => void,
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      const leave = () => reject(new AbortedError("Left behind after the abort"));
      let release = (): void => {};
      const stop = this.onAbort(() => {
        release = whenAborted(leave);
      });
      const settled = () => {
        stop();
        release();
      };
      work.then(
        (value) => (settled(), resolve(value)),
        (thrown) => (settled(), reject(thrown)),
      );
    });
  }

  readonly #onOuterAbort = (): void => this.abort(this.#callerSignal?.reason);
}
