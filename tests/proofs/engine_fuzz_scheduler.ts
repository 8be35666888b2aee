/**
 * Schedules everything that a run waits for, so that two runs with the same seed are identical.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { ManualClock } from "../../src/testing/manual_clock.ts";
import type { RandomSource } from "./engine_fuzz_random.ts";

/** Maximum number of steps before a run is aborted, and then until it has ended. */
const STEP_LIMIT = 3_000;

/** Options for `Scheduler.advanceUntil()`. */
export interface AdvanceOptions {
  /** Called before each step; may disturb the run. */
  readonly disturb: () => void;
  /** Called once when the work waits for nothing that could end, or takes too many steps. */
  readonly abort: () => void;
}

/**
 * Replaces the timers of the platform and its performance clock, and advances them and the manual clocks in random order,
 * one step at a time, after all microtasks have run.
 */
export class Scheduler {
  readonly #random: RandomSource;
  readonly #clocks: readonly ManualClock[];
  readonly #tasks = new Map<number, () => void>();
  #taskCount = 0;
  #time = 0;

  constructor(random: RandomSource, clocks: readonly ManualClock[]) {
    this.#random = random;
    this.#clocks = clocks;
  }

  /** Replaces the timers of the platform; returns a function that restores them. */
  install(): () => void {
    const { setTimeout, clearTimeout, performance } = globalThis;
    const original = { setTimeout, clearTimeout };
    const { now } = performance;
    const replacement = {
      setTimeout: (task: () => void): number => {
        this.#tasks.set(++this.#taskCount, task);
        return this.#taskCount;
      },
      clearTimeout: (id: number): void => void this.#tasks.delete(id),
    };
    Object.assign(globalThis, replacement);
    performance.now = () => this.#time++;
    return () => {
      Object.assign(globalThis, original);
      performance.now = now;
    };
  }

  /**
   * Advances one step after the other until the work settles.
   *
   * @throws {Error} If it does not settle although it was aborted.
   */
  async advanceUntil<Result>(
    work: Promise<Result>,
    { disturb, abort }: AdvanceOptions,
  ): Promise<Result> {
    let settled = false;
    const onSettled = (): void => void (settled = true);
    work.then(onSettled, onSettled);
    let abortedAt: number | undefined;
    for (let step = 0;; step++) {
      await runMicrotasks();
      if (settled) return await work;
      disturb();
      const isIdle = !this.#advance();
      if (abortedAt === undefined && (isIdle || step >= STEP_LIMIT)) {
        abort();
        abortedAt = step;
      } else if (abortedAt !== undefined && step - abortedAt > STEP_LIMIT) {
        throw new Error("The run does not end after an abort");
      }
    }
  }

  /** Runs the tasks that are due now, and those that they schedule. */
  async runTasks(): Promise<void> {
    await runMicrotasks();
    while (this.#runTask()) await runMicrotasks();
  }

  /** Advances one of the clocks or runs the next task; returns `false` if there is none. */
  #advance(): boolean {
    const sleeping = this.#clocks.filter(({ sleepers }) => sleepers > 0);
    const steps = [
      ...sleeping.map((clock) => () => advanceToNext(clock)),
      ...(this.#tasks.size > 0 ? [() => this.#runTask()] : []),
    ];
    while (steps.length > 0) {
      const [advance] = steps.splice(this.#random.integer(steps.length), 1);
      if (advance?.()) return true;
    }
    return false;
  }

  #runTask(): boolean {
    for (const [id, task] of this.#tasks) {
      this.#tasks.delete(id);
      task();
      return true;
    }
    return false;
  }
}

/** Ends the next sleep; returns `false` if none ends. */
function advanceToNext(clock: ManualClock): boolean {
  const { sleepers } = clock;
  clock.advanceToNext();
  return clock.sleepers < sleepers;
}

function runMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
