/**
 * The abort of a run, and the bound on how long foreign code may take to obey it.
 *
 * @module
 */

import { AbortedError } from "../core/errors.ts";
import type { Sleep } from "../core/ports.ts";

/** Milliseconds that a tool, hook or listener may take to settle after an abort; then its result is ignored. */
export const GRACE_MS = 100;

/** Options for `new Cancellation()`. */
export interface CancellationOptions {
  /** A signal that aborts this cancellation too. */
  readonly signal?: AbortSignal | undefined;
  /** Waits for the grace period. */
  readonly sleep: Sleep;
}

/** Can be aborted once; everything awaited through it then settles in bounded time. */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #sleep: Sleep;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #listeners = new Set<(reason: unknown) => void>();

  /** Creates a cancellation that follows the caller's signal until {@linkcode Cancellation.dispose}. */
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

  /** Whether the abort has happened. */
  get aborted(): boolean {
    return this.#controller.signal.aborted;
  }

  /** The reason of the abort. */
  get reason(): unknown {
    return this.#controller.signal.reason;
  }

  /** Aborts; a second call does nothing. */
  abort(reason?: unknown): void {
    if (this.aborted) return;
    this.#controller.abort(reason ?? new AbortedError());
    for (const listener of [...this.#listeners]) listener(this.reason);
  }

  /** Stops following the caller's signal. */
  dispose(): void {
    this.#callerSignal?.removeEventListener("abort", this.#onOuterAbort);
  }

  /**
   * Calls `listener` on abort, or at once when the abort has happened. Returns a function that unsubscribes. Costs less
   * than an event listener.
   */
  onAbort(listener: (reason: unknown) => void): () => void {
    if (this.aborted) listener(this.reason);
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Creates a cancellation that can be aborted by itself and follows this one. */
  child(): Cancellation {
    const child = new Cancellation({ sleep: this.#sleep });
    const unsubscribe = this.onAbort((reason) => child.abort(reason));
    child.dispose = () => void unsubscribe();
    return child;
  }

  /** Awaits a promise; rejects with {@linkcode AbortedError} on abort. */
  untilAborted<Value>(work: PromiseLike<Value>): Promise<Value> {
    return this.#raceAbort(work, (reject) => {
      reject(new AbortedError());
      return () => {};
    });
  }

  /** Awaits a promise; rejects with {@linkcode AbortedError} when it has not settled {@linkcode GRACE_MS} after an abort. */
  withGrace<Value>(work: PromiseLike<Value>): Promise<Value> {
    return this.#raceAbort(work, (reject) => {
      const grace = new AbortController();
      void this.#sleep(GRACE_MS, grace.signal).then(() => {
        reject(new AbortedError(`Did not settle within ${GRACE_MS} ms of the abort`));
      });
      return () => grace.abort();
    });
  }

  #raceAbort<Value>(
    work: PromiseLike<Value>,
    onAbort: (reject: (error: AbortedError) => void) => () => void,
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      let stopWaiting = (): void => {};
      const unsubscribe = this.onAbort(() => {
        stopWaiting = onAbort(reject);
      });
      const cleanUp = () => {
        unsubscribe();
        stopWaiting();
      };
      work.then(
        (value) => (cleanUp(), resolve(value)),
        (thrown) => (cleanUp(), reject(thrown)),
      );
    });
  }

  readonly #onOuterAbort = (): void => this.abort(this.#callerSignal?.reason);
}
