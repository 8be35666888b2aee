/**
 * The steps that a process executes for a run, which end before the run is left to another process.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";
import { type Clock, systemClock } from "../../core/ports/ports.ts";
import { DetachedError } from "./step_journal.ts";

/** Default time for the steps that are executed when an engine is closed, in milliseconds. */
export const GRACE_MS = 10_000;

/** Why a run is left to another process that could not close its inbox. */
export const CLOSE_FAILURE = "Cannot close the inbox of the run";

/** Counts the steps of a run that are not recorded yet. */
export class StepTracker {
  readonly #closing = new AbortController();
  readonly #detach = new AbortController();
  #count = 0;
  /** Number of the counted steps that will not be recorded. */
  #abandoned = 0;
  #idle: Deferred<void> | undefined;

  /** Aborted when no further step may be executed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Aborted when this process must no longer execute the run. */
  get detached(): AbortSignal {
    return this.#detach.signal;
  }

  /** Ends the execution of the run by this process. */
  detach(message?: string): void {
    this.#closing.abort(new DetachedError(message));
    this.#detach.abort(new DetachedError(message));
  }

  /**
   * Calls a function of the engine, whose error is not that of the step; ends the execution of the run by this process if it
   * fails, since another one may succeed.
   */
  async detachOnError<Value>(failure: string, call: () => Promise<Value>): Promise<Value> {
    try {
      return await call();
    } catch (error) {
      this.detach(`${failure}: ${getErrorMessage(error)}`);
      throw this.detached.reason;
    }
  }

  /** Counts a step until it is recorded. */
  async track<Value>(step: Promise<Value>): Promise<Value> {
    this.#count++;
    try {
      return await step;
    } finally {
      this.#count--;
      this.#endIfIdle();
    }
  }

  /** Leaves a counted step to another process: the run is detached when the others are recorded. */
  abandon(message: string): void {
    this.#closing.abort(new DetachedError(message));
    this.#abandoned++;
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (this.#count > this.#abandoned) return;
    this.#idle?.resolve();
    if (this.#abandoned > 0) this.detach();
  }

  /** Lets the steps that are executed end, but begins no other ones, and detaches the run. */
  async close(
    { graceMs = GRACE_MS, sleep = systemClock.sleep }: {
      readonly graceMs?: number | undefined;
      readonly sleep?: Clock["sleep"];
    } = {},
  ): Promise<void> {
    const message = "The engine was closed";
    this.#closing.abort(new DetachedError(message));
    if (this.#count > 0 && graceMs > 0) {
      this.#idle ??= createDeferred();
      const timer = new AbortController();
      await Promise.race([this.#idle.promise, sleep(graceMs, timer.signal)]);
      timer.abort();
    }
    this.detach(message);
  }
}
