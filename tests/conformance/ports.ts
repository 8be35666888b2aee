/**
 * Deterministic ports: a clock that tests advance, numbered ids and seeded random numbers.
 *
 * @module
 */

import type { Ports } from "../../src/core/ports.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** A clock that only advances on demand. */
export class ManualClock {
  /** The milliseconds of every sleep, in order. */
  readonly waits: number[] = [];
  readonly #sleepers = new Set<Sleeper>();
  #now = 0;

  readonly now = (): number => this.#now;

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

  /** Advances the clock to the next pending sleep. */
  advanceToNext(): void {
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

/** A clock on which every sleep ends immediately and advances the time. */
export class InstantClock {
  /** The milliseconds of every sleep, in order. */
  readonly waits: number[] = [];
  #now = 0;

  readonly now = (): number => this.#now;

  readonly sleep = (milliseconds: number): Promise<void> => {
    this.waits.push(milliseconds);
    this.#now += milliseconds;
    return Promise.resolve();
  };
}

/** Creates deterministic ports: two sets with the same clock behave identically. */
export function scriptedPorts(clock: Pick<Ports, "now" | "sleep"> = new ManualClock()): Ports {
  const counts = new Map<string, number>();
  return {
    now: clock.now,
    sleep: clock.sleep,
    random: seededRandom(1),
    newId: (kind) => {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return `${kind}_${count}`;
    },
  };
}

/** Runs all pending microtasks and tasks that need no clock. */
export async function settle(): Promise<void> {
  for (let task = 0; task < 3; task++) await new Promise((resolve) => setTimeout(resolve, 0));
}
