/**
 * One timer for the periodic work of many objects.
 *
 * @module
 */

import { MAX_TIMER_MS } from "../../core/ports/ports.ts";
import { isDeno, system } from "../../platform/system.ts";

/** Calls a function periodically without keeping the program alive; returns a function that stops it. */
export type StartInterval = (milliseconds: number, run: () => void) => () => void;

/** A timer that runs while functions are added to it. */
export class SharedInterval {
  readonly #functions = new Set<() => void>();
  readonly #milliseconds: number;
  readonly #start: StartInterval;
  #stop: (() => void) | undefined;

  constructor(milliseconds: number, start: StartInterval = startInterval) {
    this.#milliseconds = milliseconds === Infinity
      ? milliseconds
      : Math.min(milliseconds, MAX_TIMER_MS);
    this.#start = start;
  }

  /** Calls a function at every tick; returns a function that removes it. Does nothing if the interval is infinite. */
  add(run: () => void): () => void {
    if (this.#milliseconds === Infinity) return () => {};
    this.#functions.add(run);
    this.#stop ??= this.#start(this.#milliseconds, () => {
      for (const run of this.#functions) run();
    });
    return () => this.#remove(run);
  }

  #remove(run: () => void): void {
    this.#functions.delete(run);
    if (this.#functions.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }
}

function startInterval(milliseconds: number, run: () => void): () => void {
  const timer = setInterval(run, milliseconds);
  // In a browser, timers are numbers and never keep a page alive.
  if (isDeno || typeof timer === "object") system.unrefTimer(timer);
  return () => clearInterval(timer);
}
