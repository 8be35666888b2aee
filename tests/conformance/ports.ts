/**
 * Scripted ports: a clock that only tests move, ids that count, chance that repeats.
 *
 * @module
 */

import type { Ports } from "../../src/core/ports.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is told to go on. */
export class ManualClock {
  /** The milliseconds of every wait, in order. */
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

  /** How many wait now. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  /** Lets time pass until the next who waits is due. */
  advanceToNext(): void {
    const due = Math.min(...[...this.#sleepers].map(({ until }) => until));
    this.advance(due - this.#now);
  }

  /** Lets time pass and wakes whoever is due, the earliest first. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
    const due = [...this.#sleepers].filter(({ until }) => until <= this.#now);
    for (const { wake } of due.sort((left, right) => left.until - right.until)) wake();
  }
}

/** A clock on which every wait is over at once, and has taken its time all the same. */
export class InstantClock {
  /** The milliseconds of every wait, in order. */
  readonly waits: number[] = [];
  #now = 0;

  readonly now = (): number => this.#now;

  readonly sleep = (milliseconds: number): Promise<void> => {
    this.waits.push(milliseconds);
    this.#now += milliseconds;
    return Promise.resolve();
  };
}

/** Ports of which two sets with the same clock do the same. */
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

/** Lets everything run that needs no clock. */
export async function settle(): Promise<void> {
  for (let task = 0; task < 3; task++) await new Promise((resolve) => setTimeout(resolve, 0));
}
