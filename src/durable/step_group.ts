/**
 * The order in which concurrent steps end, which a replay repeats.
 *
 * @module
 */

import { createDeferred, type Deferred } from "../core/deferred.ts";

/** A step of a group. */
export interface GroupMember {
  /** Whether the step came from the record. */
  readonly isReplayed: boolean;
  /** Marks the step as one that is executed. */
  execute(): void;
  /**
   * Resolves to its position among the steps of the group that have ended, after the recorded ones; to `null` if the group
   * has only one step.
   */
  end(): Promise<number | null>;
  /** Resolves when the step may be reported, which is recorded with a position or without one. */
  resolve(order: number | undefined): Promise<void>;
  /** Marks the step as failed, so that the others do not wait for it. */
  fail(): void;
}

/** Steps that begin together. Recorded ones are reported in their order, and before those that are executed. */
export class StepGroup {
  readonly #size: number;
  #pending: number;
  #replayed: { readonly order: number; readonly report: Deferred<void> }[] = [];
  #ended = 0;
  #lastReport: Promise<unknown>;
  readonly #classified = createDeferred<void>();

  /** Creates a group of that many steps. */
  constructor(size: number) {
    this.#size = size;
    this.#pending = size;
    this.#lastReport = this.#classified.promise;
  }

  /** Adds a step. */
  join(): GroupMember {
    let state: "begun" | "executing" | "replayed" = "begun";
    let turn: { readonly before: Promise<unknown>; readonly reported: Deferred<void> } | undefined;
    const classify = (next: "executing" | "replayed") => {
      if (state !== "begun") return;
      state = next;
      if (--this.#pending === 0) this.#reportReplayed();
    };
    return {
      get isReplayed() {
        return state === "replayed";
      },
      execute: () => classify("executing"),
      end: async () => {
        if (this.#size === 1) return null;
        await this.#classified.promise;
        const reported = createDeferred<void>();
        turn = { before: this.#lastReport, reported };
        this.#lastReport = reported.promise;
        return ++this.#ended;
      },
      resolve: async (order = 0) => {
        if (this.#size === 1) return classify("replayed");
        if (turn) {
          await turn.before;
          return turn.reported.resolve();
        }
        const report = createDeferred<void>();
        this.#replayed.push({ order, report });
        this.#ended = Math.max(this.#ended, order);
        classify("replayed");
        await report.promise;
      },
      fail: () => {
        classify("executing");
        turn?.reported.resolve();
      },
    };
  }

  #reportReplayed(): void {
    const sorted = this.#replayed.toSorted((left, right) => left.order - right.order);
    for (const { report } of sorted) report.resolve();
    this.#classified.resolve();
  }
}
