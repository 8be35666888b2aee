/**
 * A policy that limits the cost, the tokens and the duration of a run.
 *
 * @module
 */

import type {
  OnDeltaContext,
  Policy,
  PolicyContext,
  PostDispatchContext,
  PreDispatchContext,
  PreRequestContext,
  StopVerdict,
} from "../core/hooks/policy.ts";
import {
  assertBudgetOptions,
  type BudgetOptions,
  checkPrice,
  checkSpending,
  checkTime,
  checkToolTime,
  estimateReply,
} from "./budget_limits.ts";
import { checkRequest, reserveCall, type SpendingState } from "./preflight.ts";
import { addSpending, NO_SPENDING, RunSpending } from "./run_spending.ts";
import { ToolTime } from "./tool_time.ts";
import { changeModel, estimateWorstCase, type WorstCase } from "./worst_case.ts";

/**
 * Creates a policy that stops a run when a limit is reached. The usage and cost that tools report count.
 *
 * Cost and tokens are checked before each turn and, with the output estimated, every 250 ms while a reply streams; an
 * aborted reply keeps its text so far. They do not cancel tools. The time, and that of tools, are checked every 250 ms
 * during the whole turn: at their limits a reply, a retry delay, an approval and tools are cancelled.
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
  const runs = new Map<string, BudgetedRun>();
  const getRun = ({ runId }: PolicyContext | OnDeltaContext): BudgetedRun => {
    const run = runs.get(runId) ?? createRun(options);
    runs.set(runId, run);
    return run;
  };
  return {
    name: "budget",
    preTurn(context) {
      // A durable run may be executed again, and its earlier execution does not end.
      if (context.turn === 0) runs.delete(context.runId);
      const { spending, toolTime } = getRun(context);
      return checkSpending(options, spending.update(context)) ??
        checkTime(options, context.elapsedMs) ?? checkToolTime(options, toolTime.spentMs);
    },
    preCompaction(context) {
      const spent = getRun(context).spending.update(context);
      const { elapsedMs } = context;
      return options.preflight
        ? checkWorstCase(options, estimateWorstCase(context, options), { spent, elapsedMs })
        : checkSpending(options, spent) ?? checkTime(options, elapsedMs);
    },
    postCompaction: ({ runId }) => void runs.delete(runId),
    ...(options.preflight && {
      preRequest(context: PreRequestContext) {
        const run = getRun(context);
        run.worstCase = estimateWorstCase(context, options);
        return checkWorstCase(options, run.worstCase, {
          spent: run.spending.update(context),
          elapsedMs: context.elapsedMs,
        });
      },
      preDispatch: (context: PreDispatchContext) =>
        reserveCall(options, context, getRun(context).toolTime),
    }),
    onDelta(context) {
      const run = getRun(context);
      const { spending, toolTime } = run;
      toolTime.update(context, context.runningCalls);
      const late = checkTime(options, context.elapsedMs) ??
        checkToolTime(options, toolTime.elapsedMs);
      if (!context.isReplying) return late;
      const refusal = context.isStarting && checkAttempt(options, run, context);
      if (refusal) return refusal;
      const { input } = run.worstCase ?? { input: NO_SPENDING };
      spending.updateReply(context, addSpending(estimateReply(context), input));
      const total = addSpending(spending.current, spending.estimate);
      return checkSpending(options, total) ?? late;
    },
    onRefused(context) {
      getRun(context).toolTime.cancel(context);
    },
    ...(options.toolMs !== undefined && {
      postDispatch(context: PostDispatchContext) {
        const { runId, toolCall, durationMs } = context;
        getRun(context).toolTime.end({ runId, toolCallId: toolCall.id }, durationMs);
      },
    }),
    postTurn(context) {
      const run = getRun(context);
      run.worstCase = undefined;
      run.toolTime.release(context);
      // The last turn of a run has no next one before which its price would be checked.
      return checkPrice(options, run.spending.finishTurn(context).cost);
    },
    postLoop: ({ runId }) => void runs.delete(runId),
  };
}

/** The counts of one run. */
interface BudgetedRun {
  readonly spending: RunSpending;
  readonly toolTime: ToolTime;
  /** The most that the request which is being made can spend, if it is estimated. */
  worstCase: WorstCase | undefined;
}

function createRun({ unknownPrice }: BudgetOptions): BudgetedRun {
  return {
    spending: new RunSpending(unknownPrice),
    toolTime: new ToolTime(),
    worstCase: undefined,
  };
}

/** Stops before a retry or a fallback model whose worst case does not fit; the first attempt was checked. */
function checkAttempt(
  options: BudgetOptions,
  run: BudgetedRun,
  context: OnDeltaContext,
): StopVerdict | undefined {
  if (!run.worstCase) return undefined;
  run.spending.updateReply(context, NO_SPENDING);
  run.worstCase = changeModel(run.worstCase, context, options);
  const { elapsedMs } = context;
  return checkWorstCase(options, run.worstCase, { spent: run.spending.current, elapsedMs });
}

function checkWorstCase(
  options: BudgetOptions,
  { total: worstCase }: WorstCase,
  state: Pick<SpendingState, "spent" | "elapsedMs">,
): StopVerdict | undefined {
  return checkRequest(options, { ...state, reserved: NO_SPENDING, worstCase });
}
