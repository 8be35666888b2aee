/**
 * The order in which concurrent steps end, which a replay repeats.
 *
 * A step joins its group, and is executed or found in the record. When this is known of all steps, the recorded ones are
 * reported in the order of the record, and then the executed ones in the order in which they end. Each is reported when the
 * effect of the one before is complete, such as a further step that it has begun.
 *
 * @module
 */

import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";

/** A step of a group. */
export interface GroupMember {
  /** Whether the step came from the record. */
  readonly isReplayed: boolean;
  /** Marks the step as one that is executed. Returns a promise if it must wait until it is known which others are. */
  execute(): Promise<void> | undefined;
  /**
   * Resolves to its position among the steps of the group that have ended, after the recorded ones; to `null` if the group
   * has only one step.
   */
  end(): Promise<number | null>;
  /** Resolves when the step may be reported, which is recorded with a position or without one. */
  resolve(order: number | undefined): Promise<void>;
  /** Lets the next step be reported, when the effect of this one is complete. */
  release(): void;
  /** Marks the step as failed, so that the others do not wait for it. */
  fail(): void;
}

/** A recorded step that waits until it may be reported. */
interface ReplayedMember {
  readonly order: number;
  readonly report: Deferred<void>;
  readonly released: Promise<void>;
}

/** Steps that begin together. Recorded ones are reported in their order, and before those that are executed. */
export class StepGroup {
  readonly #size: number;
  readonly #classified = createDeferred<void>();
  #pending: number;
  #replayed: ReplayedMember[] = [];
  #ended = 0;
  #lastReport: Promise<unknown>;

  /** Creates a group of that many steps. */
  constructor(size: number) {
    this.#size = size;
    this.#pending = size;
    this.#lastReport = this.#classified.promise.then(() => this.#reportReplayed());
  }

  /** Adds a step. */
  join(): GroupMember {
    const released = createDeferred<void>();
    let state: "begun" | "executing" | "replayed" = "begun";
    let before: Promise<unknown> | undefined;
    const classify = (next: "executing" | "replayed") => {
      if (state !== "begun") return;
      state = next;
      if (--this.#pending === 0) this.#classified.resolve();
    };
    return {
      get isReplayed() {
        return state === "replayed";
      },
      execute: () => {
        classify("executing");
        return this.#size === 1 ? undefined : this.#classified.promise;
      },
      end: async () => {
        if (this.#size === 1) return null;
        await this.#classified.promise;
        before = this.#lastReport;
        this.#lastReport = before.then(() => released.promise);
        return ++this.#ended;
      },
      resolve: async (order = 0) => {
        if (this.#size === 1) return classify("replayed");
        if (before) return void await before;
        const report = createDeferred<void>();
        this.#replayed.push({ order, report, released: released.promise });
        this.#ended = Math.max(this.#ended, order);
        classify("replayed");
        await report.promise;
      },
      release: () => released.resolve(),
      fail: () => {
        classify("executing");
        released.resolve();
      },
    };
  }

  async #reportReplayed(): Promise<void> {
    for (const { report, released } of this.#replayed.toSorted((a, b) => a.order - b.order)) {
      report.resolve();
      await released;
    }
  }
}
