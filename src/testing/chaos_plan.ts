/**
 * The random selection of faults.
 *
 * @module
 */

import { hashText } from "../core/text/hash_text.ts";
import { seededRandom } from "./seeded_random.ts";

/**
 * A fault.
 *
 * Of model calls: `throttle` fails a call with a rate limit, `cut_stream` ends a reply before it is complete,
 * `malformed_arguments` damages the JSON of a tool call, `oversized_arguments` adds a long property to it, and
 * `duplicate_ids` gives a tool call the id of another one.
 *
 * Of tools: `slow_tool` delays a call, `failing_tool` throws before or after the call has run, and `lying_tool` returns a
 * wrong result: an empty one, half of it, that of the previous call, or a success without having run.
 *
 * Of the clock: `clock_jump` sets it forward or back.
 */
export type ChaosFault =
  | "throttle"
  | "cut_stream"
  | "malformed_arguments"
  | "oversized_arguments"
  | "duplicate_ids"
  | "slow_tool"
  | "failing_tool"
  | "lying_tool"
  | "clock_jump";

/** Faults of model calls. */
export const MODEL_FAULTS = [
  "throttle",
  "cut_stream",
  "malformed_arguments",
  "oversized_arguments",
  "duplicate_ids",
] as const;

/** Faults of tools. */
export const TOOL_FAULTS = ["slow_tool", "failing_tool", "lying_tool"] as const;

/** All faults. */
export const ALL_FAULTS: readonly ChaosFault[] = [...MODEL_FAULTS, ...TOOL_FAULTS, "clock_jump"];

/** A fault that was injected. */
export interface InjectedFault {
  /** The fault. */
  readonly fault: ChaosFault;
  /** Where it was injected, such as `model call 2` or `read_file call 1`. */
  readonly target: string;
}

/** Options for {@linkcode FaultPlan}. */
export interface FaultPlanOptions {
  readonly seed: number;
  /** Probability of a fault of each target. */
  readonly rate: number;
  readonly faults: readonly ChaosFault[];
}

/** A fault to inject, with numbers for its details. */
export interface PlannedFault<Fault extends ChaosFault> {
  readonly fault: Fault;
  readonly random: () => number;
}

/** Selects faults: the same ones for the same seed and the same targets, whatever their order. */
export class FaultPlan {
  /** The injected faults, in order. */
  readonly injected: InjectedFault[] = [];
  readonly #options: FaultPlanOptions;
  readonly #counts = new Map<string, number>();

  constructor(options: FaultPlanOptions) {
    this.#options = options;
  }

  /** Returns the name of the next use of something, such as `model call 2`. */
  nextTarget(name: string): string {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return `${name} ${count}`;
  }

  /** Selects one of some faults for a target; `undefined` for none. */
  select<Fault extends ChaosFault>(
    target: string,
    candidates: readonly Fault[],
  ): PlannedFault<Fault> | undefined {
    const { seed, rate, faults } = this.#options;
    const random = seededRandom(hashText(`${seed} ${candidates[0]} ${target}`));
    // The first number of a generator depends much on its seed.
    random();
    if (random() >= rate) return undefined;
    const enabled = candidates.filter((fault) => faults.includes(fault));
    const fault = enabled[Math.floor(random() * enabled.length)];
    return fault && { fault, random };
  }

  /** Notes that a fault was injected. */
  record(fault: ChaosFault, target: string): void {
    this.injected.push({ fault, target });
  }
}
