/**
 * The abort of a run, and the limit on how long callbacks may take to settle after it.
 *
 * @module
 */

import { AbortedError } from "../../core/errors/errors.ts";
import type { Sleep } from "../../core/ports/ports.ts";

/** Time that a tool, hook or listener has to settle after an abort, in milliseconds; later its result is ignored. */
export const GRACE_MS = 100;

/** Options for `new Cancellation()`. */
export interface CancellationOptions {
  /** A signal that aborts this cancellation too. */
  readonly signal?: AbortSignal | undefined;
  /** Waits for the grace period. */
  readonly sleep: Sleep;
}

/** The period that promises share which are awaited after the abort. */
interface LateGrace {
  /** Called when the period has ended. */
  readonly expirations: Set<() => void>;
  /** Stops the timer. */
  readonly stop: () => void;
}

/** An abort that happens at most once; promises that are awaited through it settle in bounded time after it. */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #sleep: Sleep;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #listeners = new Set<(reason: unknown) => void>();
  #leaveParent: (() => void) | undefined;
  #lateGrace: LateGrace | "expired" | undefined;
  /** The state of the signal, which takes longer to read. */
  #aborted = false;
  #isDisposed = false;

  /** Creates a cancellation that follows the caller's signal until {@linkcode Cancellation.dispose}. */
  constructor({ signal, sleep }: CancellationOptions) {
    this.#sleep = sleep;
    this.#callerSignal = signal;
    if (signal?.aborted) this.abort(signal.reason);
    else signal?.addEventListener("abort", this.#onCallerAbort);
  }

  /** A signal that is aborted with this cancellation. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it was aborted. */
  get aborted(): boolean {
    return this.#aborted;
  }

  /** The reason of the abort; `undefined` before it. */
  get reason(): unknown {
    return this.#controller.signal.reason;
  }

  /** Aborts; a second call has no effect. Default reason: an {@linkcode AbortedError}. */
  abort(reason?: unknown): void {
    if (this.aborted) return;
    this.#aborted = true;
    this.#controller.abort(reason ?? new AbortedError());
    for (const listener of [...this.#listeners]) listener(this.reason);
  }

  /**
   * Stops following the caller's signal or the parent, and stops the timer; what is awaited from then on has no limit.
   */
  dispose(): void {
    this.#isDisposed = true;
    this.#leaveParent?.();
    try {
      this.#callerSignal?.removeEventListener("abort", this.#onCallerAbort);
    } catch {
      // A signal of another implementation may throw; the listener then has no effect.
    }
    if (typeof this.#lateGrace === "object") this.#lateGrace.stop();
    this.#lateGrace = undefined;
  }

  /**
   * Calls `listener` on abort, or immediately if already aborted; returns a function that unsubscribes. Cheaper than an
   * event listener on {@linkcode Cancellation.signal}.
   */
  onAbort(listener: (reason: unknown) => void): () => void {
    if (this.aborted) listener(this.reason);
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Creates a cancellation that is aborted together with this one, or alone. */
  child(): Cancellation {
    const child = new Cancellation({ sleep: this.#sleep });
    child.#leaveParent = this.onAbort((reason) => child.abort(reason));
    return child;
  }

  /** Awaits a promise; rejects with an {@linkcode AbortedError} on abort. */
  untilAborted<Value>(work: PromiseLike<Value>): Promise<Value> {
    return this.#raceAbort(work, (reject) => {
      reject(new AbortedError());
      return () => {};
    });
  }

  /**
   * Awaits a promise; rejects with an {@linkcode AbortedError} if it has not settled {@linkcode GRACE_MS} after an
   * abort. Promises that are awaited after the abort share one period of that length, so that many of them do not delay
   * the end of the run.
   */
  withGrace<Value>(work: PromiseLike<Value>): Promise<Value> {
    if (this.#isDisposed) return Promise.resolve(work);
    const isLate = this.aborted;
    return this.#raceAbort(work, (reject) => {
      const expire = () =>
        reject(new AbortedError(`Did not settle within ${GRACE_MS} ms of the abort`));
      return isLate ? this.#onLateGrace(expire) : this.#startTimer(GRACE_MS, expire);
    });
  }

  /** Calls `expire` at the end of the period that late promises share; immediately after it, but not in this task. */
  #onLateGrace(expire: () => void): () => void {
    if (this.#lateGrace === "expired") return this.#startTimer(0, expire);
    this.#lateGrace ??= this.#startLateGrace();
    const { expirations } = this.#lateGrace;
    expirations.add(expire);
    return () => expirations.delete(expire);
  }

  #startLateGrace(): LateGrace {
    const expirations = new Set<() => void>();
    const stop = this.#startTimer(GRACE_MS, () => {
      this.#lateGrace = "expired";
      for (const expire of expirations) expire();
    });
    return { expirations, stop };
  }

  #startTimer(milliseconds: number, onEnd: () => void): () => void {
    const timer = new AbortController();
    void this.#sleep(milliseconds, timer.signal).then(() => {
      if (!timer.signal.aborted) onEnd();
    });
    return () => timer.abort();
  }

  #raceAbort<Value>(
    work: PromiseLike<Value>,
    onAbort: (reject: (error: AbortedError) => void) => () => void,
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      let stopTimer = (): void => {};
      const unsubscribe = this.onAbort(() => {
        stopTimer = onAbort(reject);
      });
      const cleanUp = () => {
        unsubscribe();
        stopTimer();
      };
      work.then(
        (value) => (cleanUp(), resolve(value)),
        (thrown) => (cleanUp(), reject(thrown)),
      );
    });
  }

  readonly #onCallerAbort = (): void => this.abort(this.#callerSignal?.reason);
}
