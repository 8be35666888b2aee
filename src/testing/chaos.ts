/**
 * Faults from a seed, for tests of the robustness of an agent.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { realSleep, type Sleep } from "../core/ports/ports.ts";
import type { StreamFn } from "../core/streams/stream.ts";
import { wrapStreamFn } from "../core/streams/wrap_stream_fn.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import { ALL_FAULTS, type ChaosFault, FaultPlan, type InjectedFault } from "./chaos_plan.ts";
import { wrapWithFaults } from "./chaos_stream.ts";
import { wrapToolWithFaults } from "./chaos_tool.ts";

/** Options for {@linkcode chaos}. */
export interface ChaosOptions {
  /** Seed of the faults: the same agent with the same seed gets the same faults. */
  readonly seed: number;
  /** Probability of a fault of each model call and each tool call, from 0 to 1. Default: 0.2. */
  readonly rate?: number | undefined;
  /** The faults to select from. Default: all. */
  readonly faults?: readonly ChaosFault[] | undefined;
  /** Delay of slow tools in milliseconds. Default: 50. */
  readonly delayMs?: number | undefined;
  /** Port: waits for slow tools. Default: `setTimeout`. */
  readonly sleep?: Sleep | undefined;
  /** Port: returns the time in milliseconds, to which jumps of the clock are added. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** Wraps the model, the tools and the clock of one agent. */
export interface Chaos {
  /** The faults that were injected, in order. */
  readonly injected: readonly InjectedFault[];
  /**
   * Wraps a stream function. A reply that was cut is kept, and answers the same request when it is repeated, so that a
   * script stays in step.
   */
  wrapStreamFn(streamFn: StreamFn): StreamFn;
  /** Wraps a tool. */
  wrapTool<Context>(tool: AgentTool<Context>): AgentTool<Context>;
  /** Returns the time in milliseconds; for the port `now` of the agent. */
  readonly now: () => number;
}

/** Range of the jumps of the clock. */
const MAX_JUMP_MS = 24 * 60 * 60 * 1_000;

/**
 * Creates faults for one agent: rate limits, replies that are cut, malformed and oversized arguments of tool calls,
 * duplicate ids, tools that are slow, fail or return wrong results, and jumps of the clock.
 *
 * An agent should still do its task, or end with a clear error. A seed that it fails is repeated exactly by the same
 * options, if its model and its tools are deterministic.
 *
 * @throws {BadRequestError} If an option is unknown or invalid.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { chaos, fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";
 *
 * const faults = chaos({ seed: 3, rate: 0.5 });
 * const script = scriptedStream([reply([toolCall("read_file")]), reply("Done")]);
 * const agent = new Agent({
 *   model: "test/model",
 *   streamFn: faults.wrapStreamFn(script),
 *   tools: [faults.wrapTool(fakeTool({ name: "read_file" }))],
 *   now: faults.now,
 *   retry: ({ attempt }) => attempt < 5 ? 0 : null,
 * });
 * await agent.prompt("Read the file");
 * faults.injected; // such as [{ fault: "throttle", target: "model call 1" }]
 * ```
 */
export function chaos(options: ChaosOptions): Chaos {
  checkObject(options, "Pass options with a seed, such as { seed: 1 }");
  checkNames(options, ["seed", "rate", "faults", "delayMs", "sleep", "now"], "chaos()");
  const { seed, rate = 0.2, faults = ALL_FAULTS, delayMs = 50, sleep = realSleep } = options;
  checkOptions({ seed, rate, faults, delayMs });
  const plan = new FaultPlan({ seed, rate, faults });
  const clock = new JumpingClock(plan, options.now ?? Date.now);
  return {
    injected: plan.injected,
    wrapStreamFn: (streamFn) => clock.jumpBefore(wrapWithFaults(streamFn, plan)),
    wrapTool: (tool) => wrapToolWithFaults(tool, { plan, delayMs, sleep }),
    now: clock.now,
  };
}

/** A clock that may jump before each model call. */
class JumpingClock {
  readonly now: () => number;
  readonly #plan: FaultPlan;
  #offset = 0;

  constructor(plan: FaultPlan, now: () => number) {
    this.#plan = plan;
    this.now = () => now() + this.#offset;
  }

  jumpBefore(streamFn: StreamFn): StreamFn {
    return wrapStreamFn(streamFn, (request, next) => {
      this.#jump();
      return next(request);
    });
  }

  #jump(): void {
    const target = this.#plan.nextTarget("clock");
    const planned = this.#plan.select(target, ["clock_jump"]);
    if (!planned) return;
    this.#plan.record("clock_jump", target);
    this.#offset = Math.round((2 * planned.random() - 1) * MAX_JUMP_MS);
  }
}

function checkOptions(
  { seed, rate, faults, delayMs }: Pick<ChaosOptions, "seed" | "rate" | "faults" | "delayMs">,
): void {
  if (!Number.isFinite(seed)) {
    throw new BadRequestError(`The seed must be a number, not ${describeValue(seed)}`);
  }
  if (!(typeof rate === "number" && rate >= 0 && rate <= 1)) {
    throw new BadRequestError(`The rate must be from 0 to 1, not ${describeValue(rate)}`);
  }
  if (!(typeof delayMs === "number" && delayMs >= 0)) {
    throw new BadRequestError(`delayMs must be at least 0, not ${describeValue(delayMs)}`);
  }
  if (!Array.isArray(faults)) {
    throw new BadRequestError(
      `faults must be an array, such as ["throttle"], not ${describeValue(faults)}`,
    );
  }
  const unknown = faults.find((fault) => !ALL_FAULTS.includes(fault));
  if (unknown !== undefined) {
    throw new BadRequestError(
      `Unknown fault ${describeValue(unknown)}; known are ${ALL_FAULTS.join(", ")}`,
    );
  }
}
