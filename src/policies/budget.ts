/**
 * A policy that limits the cost, the tokens and the duration of a run.
 *
 * @module
 */

import type { OnDeltaContext, Policy, PolicyContext } from "../core/policy.ts";
import {
  assertBudgetOptions,
  type BudgetOptions,
  checkPrice,
  checkSpending,
  checkTime,
  estimateReply,
} from "./budget_limits.ts";
import { addSpending, RunSpending, type Spending } from "./run_spending.ts";

/**
 * Creates a policy that stops a run when a limit is reached. The usage and cost that tools report count.
 *
 * Cost and tokens are checked before each turn and, with the output estimated, every 250 ms while a reply streams; an
 * aborted reply keeps its text so far. They do not cancel tools. The time is checked every 250 ms during the whole turn:
 * at its limit a reply, a retry delay, an approval and tools are cancelled.
 *
 * A cost limit fails closed: once the price of any part of the run is unknown, the run stops. While a reply streams, its
 * cost is estimated only if its price is known; the cost that a provider reports is known at the end of the reply.
 *
 * @throws {BadRequestError} If a limit is not a number of at least 0.
 *
 * @example
 * ```ts
 * import { budget } from "@swink/agent/policies";
 *
 * const policies = [budget({ cost: 0.5, elapsedMs: 10 * 60_000 })];
 * ```
 */
export function budget(options: BudgetOptions): Policy {
  assertBudgetOptions(options);
  const runs = new Map<string, RunSpending>();
  const getRun = ({ runId }: PolicyContext | OnDeltaContext): RunSpending => {
    const run = runs.get(runId) ?? new RunSpending(options.unknownPrice);
    runs.set(runId, run);
    return run;
  };
  const check = (spending: Spending, elapsedMs: number) =>
    checkSpending(options, spending) ?? checkTime(options, elapsedMs);
  return {
    name: "budget",
    preTurn: (context) => check(getRun(context).update(context), context.elapsedMs),
    onDelta(context) {
      if (!context.isReplying) return checkTime(options, context.elapsedMs);
      const run = getRun(context);
      run.updateReply(context, estimateReply(context));
      return check(addSpending(run.current, run.estimate), context.elapsedMs);
    },
    // The last turn of a run has no next one before which its price would be checked.
    postTurn: (context) => checkPrice(options, getRun(context).finishTurn(context).cost),
    postLoop: ({ runId }) => void runs.delete(runId),
  };
}
