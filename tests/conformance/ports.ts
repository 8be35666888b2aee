/**
 * Deterministic ports: a clock whose sleeps end immediately, numbered ids and seeded random numbers.
 *
 * @module
 */

import { preload } from "../../src/agent/preload.ts";
import type { Ports } from "../../src/core/ports/ports.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";

// Loading takes more tasks than settle() waits for where modules are read as files.
await preload();

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
