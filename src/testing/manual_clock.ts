/**
 * A clock for tests.
 *
 * @module
 */

import type { Clock } from "../core/ports.ts";

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/**
 * A clock that advances only on demand, for tests of timeouts and retries without waiting.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { ManualClock, reply, scriptedStream } from "@swink/agent/testing";
 *
 * const clock = new ManualClock();
 * const { now, sleep } = clock;
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hi")]), now, sleep });
 * await agent.prompt("Hello");
 * clock.advance(1000);
 * ```
 */
export class ManualClock implements Clock {
  /** The milliseconds of every sleep, in order. */
  readonly waits: number[] = [];
  readonly #sleepers = new Set<Sleeper>();
  #now = 0;

  /** Returns the time in milliseconds; starts at 0. */
  readonly now = (): number => this.#now;

  /** Waits until the clock is advanced, or the signal is aborted. */
  readonly sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    this.waits.push(milliseconds);
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper = { until: this.#now + milliseconds, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", wake);
    });
  };

  /** Number of pending sleeps. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  /** Advances the clock to the end of the next pending sleep; has no effect if there is none. */
  advanceToNext(): void {
    if (this.#sleepers.size === 0) return;
    const due = Math.min(...[...this.#sleepers].map(({ until }) => until));
    this.advance(due - this.#now);
  }

  /** Advances the clock and wakes the sleeps that are due, the earliest first. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
    const due = [...this.#sleepers].filter(({ until }) => until <= this.#now);
    for (const { wake } of due.sort((left, right) => left.until - right.until)) wake();
  }
}
