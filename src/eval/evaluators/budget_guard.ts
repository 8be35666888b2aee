/**
 * Stops a run that exceeds the budget of its case.
 *
 * @module
 */

import type { Policy, PolicyContext, StopVerdict } from "../../core/hooks/policy.ts";
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
 * messages of the user. The tokens and the cost of agents that tools run count once, and their turns do not.
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
  readonly #elapsed: (() => number) | undefined;
  readonly #startedAt: number;
  /** The runs of the agent that have ended. */
  #ended = NO_SPENDING;
  #run: ActiveRun | undefined;
  /** The active runs of agents that tools of this run have started, by their ids. */
  readonly #subRuns = new Map<string, RunSpending>();
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
      onDelta: (context) => this.#check(context, this.#run?.turns ?? 1),
      postLoop: (context) => this.#end(context),
    };
  }

  /** The limits that were exceeded; `undefined` while there are none. */
  get exceeded(): string | undefined {
    return this.#exceeded;
  }

  /** Checks the spending of all runs, with the turns of the agent, including one that is about to start. */
  #check(context: RunContext, turns: number): StopVerdict | void {
    this.#update(context, turns);
    const { durationMs, ...spending } = this.#sum();
    const exceeded = findExceededLimits(this.#budget, {
      ...spending,
      durationMs: this.#elapsed ? this.#elapsed() - this.#startedAt : durationMs,
    });
    if (exceeded.length === 0) return;
    this.#exceeded = exceeded.join("; ");
    return { type: "stop", reason: this.#exceeded };
  }

  #update(context: RunContext, turns: number): void {
    const { runId } = context;
    const spending = toSpending(context);
    const isOfAgent = this.#run ? this.#run.id === runId : !this.#subRuns.has(runId);
    if (isOfAgent) this.#run = { ...spending, id: runId, turns, durationMs: context.elapsedMs };
    else this.#subRuns.set(runId, spending);
  }

  #end(context: RunContext): void {
    const { runId } = context;
    // The spending of a sub-agent is part of the result of its tool call.
    if (this.#subRuns.delete(runId) || this.#run?.id !== runId) return;
    this.#ended = addTotals(this.#ended, { ...this.#run, ...toSpending(context) });
    this.#run = undefined;
  }

  #sum(): BudgetSpending {
    const total = this.#run ? addTotals(this.#ended, this.#run) : this.#ended;
    if (this.#subRuns.size === 0) return total;
    const subRuns = [...this.#subRuns.values()];
    const active = subRuns.reduce(addSpending, NO_SPENDING);
    // The run of an agent in the background is part of that of its parent already while it is active.
    const late = [...this.#run ? [this.#run] : [], ...subRuns].flatMap(({ late }) => late)
      .reduce(addSpending, NO_SPENDING);
    return {
      ...total,
      tokens: total.tokens + Math.max(0, active.tokens - late.tokens),
      cost: active.cost === null || total.cost === null || late.cost === null
        ? null
        : total.cost + Math.max(0, active.cost - late.cost),
    };
  }
}

/** The part of the context of a hook that is compared with the budget. */
type RunContext = Pick<
  PolicyContext,
  "runId" | "usage" | "cost" | "lateSpending" | "elapsedMs"
>;

/** Tokens and their cost. */
type Spending = Pick<BudgetSpending, "tokens" | "cost">;

/** The spending of a run, with the part of agents in the background. */
interface RunSpending extends Spending {
  readonly late: readonly Spending[];
}

/** The run of the agent. */
interface ActiveRun extends RunSpending, BudgetSpending {
  readonly id: string;
}

const NO_SPENDING: BudgetSpending = { cost: 0, tokens: 0, turns: 0, durationMs: 0 };

function toSpending({ usage, cost, lateSpending = [] }: RunContext): RunSpending {
  const late = lateSpending.map(({ usage, cost }) => ({ tokens: usage.total, cost: cost.total }));
  return { tokens: usage.total, cost: cost.total, late };
}

function addSpending(left: Spending, right: Spending): Spending {
  return {
    cost: left.cost === null || right.cost === null ? null : left.cost + right.cost,
    tokens: left.tokens + right.tokens,
  };
}

function addTotals(left: BudgetSpending, right: BudgetSpending): BudgetSpending {
  return {
    ...addSpending(left, right),
    turns: left.turns + right.turns,
    durationMs: left.durationMs + right.durationMs,
  };
}
