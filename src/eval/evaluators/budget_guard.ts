/**
 * Stops a run that exceeds the budget of its case.
 *
 * @module
 */

import type { Policy, PolicyContext, StopVerdict } from "../../core/policy.ts";
import type { EvalBudget } from "../case/eval_case.ts";
import { type BudgetSpending, findExceededLimits } from "./budget_evaluator.ts";

/** Options for `BudgetGuard`. */
export interface BudgetGuardOptions {
  /**
   * Port: returns the milliseconds since any time, from which the duration is calculated. Default: the duration of the runs
   * by the clock of the agent, which a change of the time of the system changes.
   */
  readonly elapsed?: (() => number) | undefined;
}

/**
 * Stops a live run before the turn that its budget does not allow, after the one that exceeded it, and when its time is
 * over, also while a model or a tool is waited for. The runs of one case share a guard, so that the budget covers all
 * messages of the user.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { BudgetGuard } from "@swink/agent/eval";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const guard = new BudgetGuard({ maxTurns: 3, maxTokens: 50_000 });
 * const streamFn = scriptedStream([reply("Hello")]);
 * const agent = new Agent({ model: "test/model", streamFn, policies: [guard.policy] });
 * await agent.prompt("Greet me");
 * guard.exceeded; // undefined
 * ```
 */
export class BudgetGuard {
  /** The policy for the agent. */
  readonly policy: Policy;
  readonly #budget: EvalBudget;
  readonly #runs = new Map<string, BudgetSpending>();
  readonly #elapsed: (() => number) | undefined;
  readonly #startedAt: number;
  #exceeded: string | undefined;

  /** Creates a guard for the runs of one case. */
  constructor(budget: EvalBudget, { elapsed }: BudgetGuardOptions = {}) {
    this.#budget = budget;
    this.#elapsed = elapsed;
    this.#startedAt = elapsed?.() ?? 0;
    this.policy = {
      name: "eval_budget",
      preTurn: (context) => this.#check(context, context.turn + 1),
      postTurn: (context) => this.#check(context, context.turn),
      onDelta: (context) => this.#check(context, this.#runs.get(context.runId)?.turns ?? 1),
    };
  }

  /** The limits that were exceeded; `undefined` while there are none. */
  get exceeded(): string | undefined {
    return this.#exceeded;
  }

  /** Checks the spending of all runs, with the turns of this one, including one that is about to start. */
  #check(context: RunContext, turns: number): StopVerdict | void {
    const { runId, usage, cost, elapsedMs } = context;
    this.#runs.set(runId, { cost: cost.total, tokens: usage.total, turns, durationMs: elapsedMs });
    const { durationMs, ...total } = [...this.#runs.values()].reduce(addSpending);
    const exceeded = findExceededLimits(this.#budget, {
      ...total,
      durationMs: this.#elapsed ? this.#elapsed() - this.#startedAt : durationMs,
    });
    if (exceeded.length === 0) return;
    this.#exceeded = exceeded.join("; ");
    return { type: "stop", reason: this.#exceeded };
  }
}

/** The part of the context of a hook that is compared with the budget. */
type RunContext = Pick<PolicyContext, "runId" | "usage" | "cost" | "elapsedMs">;

function addSpending(left: BudgetSpending, right: BudgetSpending): BudgetSpending {
  return {
    cost: left.cost === null || right.cost === null ? null : left.cost + right.cost,
    tokens: left.tokens + right.tokens,
    turns: left.turns + right.turns,
    durationMs: left.durationMs + right.durationMs,
  };
}
