/**
 * A clock for tests.
 *
 * @module
 */

import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { Clock } from "../core/ports/ports.ts";

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/**
 * A clock that advances only on demand, for tests of timeouts and retries without waiting.
 *
 * Pass its `now` and `sleep` as ports to an agent, or `sleep` to the options of a scripted stream or a fake tool.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { fail, ManualClock, reply, scriptedStream } from "@swink/agent/testing";
 *
 * const clock = new ManualClock();
 * const streamFn = scriptedStream([fail("network_error", "Connection reset"), reply("Hi")]);
 * const { now, sleep } = clock;
 * const agent = new Agent({ model: "test/model", streamFn, now, sleep, retry: () => 60_000 });
 *
 * const running = agent.prompt("Hello");
 * while (clock.sleepers === 0) await new Promise((resolve) => setTimeout(resolve));
 * clock.advance(60_000);
 * (await running).text; // "Hi"
 * ```
 */
export class ManualClock implements Clock {
  /** The milliseconds of every sleep, in order. */
  readonly waits: number[] = [];
  readonly #sleepers = new Set<Sleeper>();
  #now = 0;

  /** Returns the time in milliseconds; starts at 0. */
  readonly now = (): number => this.#now;

  /** Waits until the clock is advanced that far, or the signal is aborted; never rejects. */
  readonly sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    this.waits.push(milliseconds);
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      // A sleep of no length, a negative or an invalid one is due at once: it ends with the next advance.
      const sleeper = { until: this.#now + (milliseconds > 0 ? milliseconds : 0), wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", wake);
    });
  };

  /** Number of pending sleeps. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  /** Advances the clock to the end of the next pending sleep; has no effect if none ends. */
  advanceToNext(): void {
    const due = Math.min(...[...this.#sleepers].map(({ until }) => until));
    if (due !== Infinity) this.advance(due - this.#now);
  }

  /**
   * Advances the clock and wakes the sleeps that are due, the earliest first.
   *
   * @throws {BadRequestError} If the time is not a number of at least 0.
   */
  advance(milliseconds: number): void {
    if (typeof milliseconds !== "number" || !(milliseconds >= 0)) {
      throw new BadRequestError(
        `A clock advances by a number of milliseconds of at least 0, not ${
          describeValue(milliseconds)
        }`,
      );
    }
    this.#now += milliseconds;
    const due = [...this.#sleepers].filter(({ until }) => until <= this.#now);
    for (const { wake } of due.sort((left, right) => left.until - right.until)) wake();
  }
}
