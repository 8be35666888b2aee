/**
 * The environment that the parts of a random trial share.
 *
 * @module
 */

import type { AgentTool } from "../../src/core/tools/tool.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { CallLedger } from "./engine_fuzz_ledger.ts";
import { RandomSource } from "./engine_fuzz_random.ts";
import { randomThrown } from "./engine_fuzz_values.ts";

/** The clocks of an environment. */
export type FuzzClocks = Pick<FuzzEnvironment, "clock" | "toolClock">;

/** State that the parts of an environment share. */
export class FuzzEnvironment {
  /** Decides what each part does. */
  readonly random: RandomSource;
  /** Decides which tools exist; of its own, so that the same seeds decide the same about everything else. */
  readonly toolRandom: RandomSource;
  /** Clock of the agent. */
  readonly clock: ManualClock;
  /** Clock of the tools, hooks and readers. */
  readonly toolClock: ManualClock;
  /** The decisions on tool calls, and the calls that ran. */
  readonly ledger = new CallLedger();
  /** The tools of the agent; its policies also get the calls of the agents below it, which may have the same ids. */
  readonly tools = new Set<AgentTool>();
  /** Objects that tools, hooks and models have got or returned; no event may contain them. */
  readonly foreignObjects = new Set<object>();
  /** Value for tools and hooks in the current run. */
  context: unknown = undefined;
  /** Whether all parts work: nothing fails, hangs or changes the run. */
  isWellBehaved = false;
  /** Probability that a hook fails, or returns what it must not. */
  readonly faultRate: number;

  /** Creates an environment with clocks of its own, or for an agent of another one. */
  constructor(
    seed: number,
    { clock, toolClock }: FuzzClocks = { clock: new ManualClock(), toolClock: new ManualClock() },
  ) {
    this.random = new RandomSource(seed);
    this.toolRandom = new RandomSource(seed + 0x70015);
    this.faultRate = this.random.oneOf([0, 0.03, 0.2]);
    this.clock = clock;
    this.toolClock = toolClock;
  }

  /** Calls `act` with a probability, unless all parts must work; otherwise `otherwise`. */
  sometimes<Value, Other>(
    probability: number,
    act: () => Value,
    otherwise: () => Other,
  ): Value | Other {
    return !this.isWellBehaved && this.random.chance(probability) ? act() : otherwise();
  }

  /** Calls `act` at the rate of faults, otherwise `otherwise`. */
  rarely<Value, Other>(act: () => Value, otherwise: () => Other): Value | Other {
    return this.sometimes(this.faultRate, act, otherwise);
  }

  /** Throws, or returns a promise that rejects or that settles late or never. */
  fail(): Promise<never> {
    return this.random.create<Promise<never>>([
      () => {
        throw randomThrown(this.random);
      },
      () => Promise.reject(randomThrown(this.random)),
      () => this.toolClock.sleep(50).then(() => Promise.reject(randomThrown(this.random))),
      () => new Promise(() => {}),
    ]);
  }
}
