/**
 * Intervals for tests of stores.
 *
 * @module
 */

import type { StoreFromOptions } from "../../src/memory/storage/storage_session_store.ts";

/** A clock, and intervals that are run by hand. */
export class ManualIntervals {
  /** The present time, in milliseconds since the epoch. */
  time = 1_700_000_000_000;
  /** Returns the present time. */
  readonly now = () => this.time;
  /** The intervals that were started and not stopped. */
  readonly running: { readonly milliseconds: number; readonly run: () => void }[] = [];

  /** Starts an interval. */
  readonly startInterval = (milliseconds: number, run: () => void) => {
    const timer = { milliseconds, run };
    this.running.push(timer);
    return () => void this.running.splice(this.running.indexOf(timer), 1);
  };

  /** The options of a store with this clock. */
  get options(): StoreFromOptions {
    return { now: this.now, startInterval: this.startInterval };
  }

  /** Runs all intervals once. */
  async tick(): Promise<void> {
    for (const { run } of [...this.running]) run();
    await new Promise((resolve) => setTimeout(resolve));
  }
}
