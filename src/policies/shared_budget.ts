/**
 * A policy that limits the cost, the tokens and the duration of several runs together.
 *
 * @module
 */

import { checkFunction } from "../core/checks/check_function.ts";
import { getDurableRunKey } from "../core/durable/durable_runs.ts";
import type {
  OnDeltaContext,
  Policy,
  PolicyContext,
  PostTurnContext,
  PreRequestContext,
  StopVerdict,
} from "../core/hooks/policy.ts";
import type { Cost, Usage } from "../core/models/usage.ts";
import { resolvePorts } from "../core/ports/ports.ts";
import { isCountedBy } from "../core/tools/tool.ts";
import {
  assertBudgetOptions,
  type BudgetOptions,
  checkPrice,
  checkSpending,
  checkTime,
  checkToolTime,
  estimateReply,
} from "./budget_limits.ts";
import { checkRequest, reserveCall } from "./preflight.ts";
import {
  addSpending,
  NO_SPENDING,
  RunSpending,
  type Spending,
  subtractSpending,
} from "./run_spending.ts";
import { ToolTime, type ToolTimeKey } from "./tool_time.ts";
import { changeModel, estimateWorstCase, type WorstCase } from "./worst_case.ts";

/** Number of durable runs that have ended whose spending is known, so that a replay does not count it again. */
const MAX_ENDED = 10_000;

/** Options for {@linkcode sharedBudget}. */
export interface SharedBudgetOptions extends BudgetOptions {
  /** Port: returns the time in milliseconds; an invalid time is replaced by that of the system. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Spending of the runs of a shared budget, without replies that still stream. A reply, or a failed attempt, that ended
 * before the provider reported its usage counts with an estimate of its output.
 */
export interface BudgetSpending {
  /** Token counts. */
  readonly usage: Usage;
  /** Cost; an amount is `null` if any part of it is unknown. */
  readonly cost: Cost;
  /** Time since the first run began, in milliseconds; 0 before it. */
  readonly elapsedMs: number;
  /** Time of the tool calls that have ended, in milliseconds. */
  readonly toolMs: number;
  /** With `preflight`, the most that the requests and tool calls which are being made may still spend. */
  readonly reserved: Pick<BudgetSpending, "usage" | "cost" | "toolMs">;
}

/** A policy with limits for all runs of all agents that have it. */
export interface SharedBudget extends Policy {
  /** Spending of the runs so far. */
  readonly spent: BudgetSpending;
  /** Sets the spending and the time to 0. Active runs count from then on; the time starts with the next turn. */
  reset(): void;
}

/**
 * Creates one budget for several runs and agents, also concurrent ones: pass the same policy to each agent, or to each
 * run. The limits are checked like those of `budget()`; when one is reached, all active runs stop. Time starts
 * with the first run.
 *
 * Each model call counts once, in the run that makes it. The usage that a tool reports counts too, unless the tool has
 * the budget in `AgentTool.countedBy`: its own agent has then counted it. The tools of `Agent.asTool()` and
 * `subAgentTool()` do, since their agents inherit the budget. A tool that runs such an agent in another way must set it, or
 * not report the usage.
 *
 * @throws {BadRequestError} If a limit is not a number of at least 0, or `now` is no function.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { sharedBudget } from "@swink/agent/policies";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const policies = [sharedBudget({ tokens: 200_000, elapsedMs: 30 * 60_000 })];
 * const model = "any/model";
 * const researcher = new Agent({ model, policies, streamFn: scriptedStream([]) });
 * const search = researcher.asTool({ name: "research", description: "Researches a question." });
 * const writer = new Agent({ model, policies, tools: [search], streamFn: scriptedStream([reply("Done")]) });
 * await writer.prompt("Write the report");
 * ```
 */
export function sharedBudget(options: SharedBudgetOptions): SharedBudget {
  assertBudgetOptions(options);
  if (options.now !== undefined) checkFunction("Invalid budget: now", options.now);
  const account = new SharedAccount(options);
  const policy: SharedBudget = {
    name: "shared_budget",
    get spent(): BudgetSpending {
      const { settled, elapsedMs, toolTime } = account;
      const reserved = { ...account.reserved, toolMs: toolTime.reservedMs };
      return { ...settled, elapsedMs, toolMs: toolTime.spentMs, reserved };
    },
    reset: () => account.reset(),
    preTurn(context) {
      account.start();
      if (context.turn === 0) account.forget(context);
      account.update(context);
      return account.check();
    },
    ...(options.preflight && {
      preRequest: (context: PreRequestContext) => account.reserve(context),
    }),
    preCompaction(context) {
      if (options.preflight) return account.reserve(context);
      account.update(context);
      return account.check();
    },
    postCompaction: (context) => account.finishRun(context),
    onDelta(context) {
      const { runningCalls } = context;
      account.toolTime.update(
        context,
        runningCalls.filter(({ tool }) => !isCountedBy(tool, policy)),
      );
      if (!context.isReplying) return account.checkTime();
      const refusal = context.isStarting && account.reserveAttempt(context);
      if (refusal) return refusal;
      account.estimate(context);
      return account.check();
    },
    preDispatch(context) {
      account.update(context);
      if (options.preflight && !isCountedBy(context.tool, policy)) {
        return reserveCall(options, context, account.toolTime);
      }
    },
    onRefused: (context) => account.toolTime.cancel(context),
    postDispatch(context) {
      const { tool, toolCall, runId, durationMs } = context;
      if (isCountedBy(tool, policy)) account.exclude(context, toolCall.id);
      else account.endCall({ runId, toolCallId: toolCall.id }, durationMs);
    },
    postTurn(context) {
      account.finishTurn(context);
      return checkPrice(options, account.settled.cost);
    },
    postLoop: (context) => account.finishRun(context),
  };
  return policy;
}

interface ActiveRun {
  /** Identifies the run, apart from others with its id. */
  readonly key: string;
  readonly spending: RunSpending;
  /** The most that the request which is being made can spend. */
  reservation: WorstCase | undefined;
  /** Its part of the spending of all runs since the last reset. */
  counted: Spending;
  /** Time of its tool calls since then, in milliseconds. */
  toolMs: number;
}

/** Returns a text that a run has in each of its executions; the ids of runs that are not durable are unique. */
function getKey(runId: string): string {
  return getDurableRunKey(runId) ?? runId;
}

/** The part of the spending of all runs that is that of one. */
type SpentAmounts = Pick<ActiveRun, "counted" | "toolMs">;

/** The spending of all runs. */
class SharedAccount {
  readonly #options: SharedBudgetOptions;
  readonly #now: () => number;
  readonly #runs = new Map<string, ActiveRun>();
  /** Spending of the last durable runs that have ended, by their keys. */
  readonly #ended = new Map<string, SpentAmounts>();
  /** The time of tool calls. */
  readonly toolTime = new ToolTime();
  #settled = NO_SPENDING;
  #startedAt: number | undefined;

  constructor(options: SharedBudgetOptions) {
    this.#options = options;
    this.#now = resolvePorts({ now: options.now }).now;
  }

  /** Spending of all runs, without replies that still stream. */
  get settled(): Spending {
    return this.#settled;
  }

  get elapsedMs(): number {
    return this.#startedAt === undefined ? 0 : this.#now() - this.#startedAt;
  }

  /** Starts the time, unless it has started. */
  start(): void {
    this.#startedAt ??= this.#now();
  }

  reset(): void {
    this.#settled = NO_SPENDING;
    this.#startedAt = undefined;
    this.toolTime.reset();
    this.#ended.clear();
    for (const run of this.#runs.values()) {
      run.counted = NO_SPENDING;
      run.toolMs = 0;
    }
  }

  /** The most that the requests which are being made may still spend; of a reply without a reservation, its estimate. */
  get reserved(): Spending {
    const reserved = [...this.#runs.values()].map(({ reservation, spending }) =>
      reservation?.total ?? spending.estimate
    );
    return reserved.reduce(addSpending, NO_SPENDING);
  }

  /** Reserves the most that a request can spend, or stops its run if that could exceed a limit. */
  reserve(context: PreRequestContext): StopVerdict | undefined {
    this.update(context);
    const run = this.#getRun(context.runId);
    const worstCase = estimateWorstCase(context, this.#options);
    const verdict = this.#checkRequest(worstCase);
    if (!verdict) run.reservation = worstCase;
    return verdict;
  }

  /** Stops a run before a retry or a fallback model whose worst case does not fit; the first attempt was checked. */
  reserveAttempt(context: OnDeltaContext): StopVerdict | undefined {
    const run = this.#getRun(context.runId);
    if (!run.reservation) return undefined;
    const worstCase = changeModel(run.reservation, context, this.#options);
    run.reservation = undefined;
    this.#settle(run, (spending) => spending.updateReply(context, NO_SPENDING));
    const verdict = this.#checkRequest(worstCase);
    if (!verdict) run.reservation = worstCase;
    return verdict;
  }

  #checkRequest(worstCase: WorstCase): StopVerdict | undefined {
    return checkRequest(this.#options, {
      spent: this.#settled,
      reserved: this.reserved,
      worstCase: worstCase.total,
      elapsedMs: this.elapsedMs,
    });
  }

  /** Counts the totals of a run whose reply is complete. */
  update(context: PolicyContext): void {
    const run = this.#getRun(context.runId);
    run.reservation = undefined;
    this.#settle(run, (spending) => spending.update(context));
  }

  /** Counts the totals of a run whose reply streams, and estimates the reply, with its input if that is known. */
  estimate(context: OnDeltaContext): void {
    const run = this.#getRun(context.runId);
    const estimate = addSpending(estimateReply(context), run.reservation?.input ?? NO_SPENDING);
    this.#settle(run, (spending) => spending.updateReply(context, estimate));
  }

  /** Excludes what a tool call spends, since another run counts it. */
  exclude({ runId }: PolicyContext, toolCallId: string): void {
    this.#getRun(runId).spending.exclude(toolCallId);
  }

  /** Counts the totals of a run at the end of a turn. An unfinished reply without usage counts with its estimate. */
  finishTurn(context: PostTurnContext): void {
    const run = this.#getRun(context.runId);
    run.reservation = undefined;
    this.toolTime.release(context);
    const { stopReason } = context.message;
    const isUnfinished = stopReason === "aborted" || stopReason === "error";
    const { estimate } = run.spending;
    const added = this.#settle(run, (spending) => spending.finishTurn(context));
    if (isUnfinished && added.usage.total === 0) this.#add(run, estimate);
  }

  /** Counts the time of a tool call that has ended. */
  endCall(call: ToolTimeKey, durationMs: number): void {
    this.toolTime.end(call, durationMs);
    this.#getRun(call.runId).toolMs += durationMs;
  }

  /** Forgets what a run has spent that begins again, as a durable run in a replay, which spends the same once more. */
  forget({ runId }: PolicyContext): void {
    const key = getKey(runId);
    const active = this.#runs.get(runId);
    // Another run may have the same id, or have had it.
    const run = active?.key === key ? active : this.#ended.get(key);
    this.#runs.delete(runId);
    this.#ended.delete(key);
    if (!run) return;
    this.#settled = subtractSpending(this.#settled, run.counted);
    this.toolTime.release({ runId });
    this.toolTime.forget(run.toolMs);
  }

  finishRun(context: PolicyContext): void {
    const { runId } = context;
    this.update(context);
    this.toolTime.release(context);
    const run = this.#runs.get(runId);
    this.#runs.delete(runId);
    // The code of a workflow is executed from its beginning, with the prompts that have ended.
    if (run && getDurableRunKey(runId) !== undefined) this.#keep(run);
  }

  #keep({ key, counted, toolMs }: ActiveRun): void {
    this.#ended.set(key, { counted, toolMs });
    const [first] = this.#ended.keys();
    if (first !== undefined && this.#ended.size > MAX_ENDED) this.#ended.delete(first);
  }

  /** Checks all limits; replies that stream count with their estimates. */
  check(): StopVerdict | undefined {
    const estimates = [...this.#runs.values()].map(({ spending }) => spending.estimate);
    const total = estimates.reduce(addSpending, this.#settled);
    return checkSpending(this.#options, total) ?? this.checkTime();
  }

  /** Checks the limits of the time, and of that of tools. */
  checkTime(): StopVerdict | undefined {
    return checkTime(this.#options, this.elapsedMs) ??
      checkToolTime(this.#options, this.toolTime.elapsedMs);
  }

  /** Changes the spending of a run, and adds the difference to that of all runs; returns it. */
  #settle(run: ActiveRun, change: (spending: RunSpending) => unknown): Spending {
    const before = run.spending.current;
    change(run.spending);
    const added = subtractSpending(run.spending.current, before);
    this.#add(run, added);
    return added;
  }

  #add(run: ActiveRun, added: Spending): void {
    run.counted = addSpending(run.counted, added);
    this.#settled = addSpending(this.#settled, added);
  }

  #getRun(runId: string): ActiveRun {
    const run = this.#runs.get(runId) ?? {
      key: getKey(runId),
      spending: new RunSpending(this.#options.unknownPrice),
      reservation: undefined,
      counted: NO_SPENDING,
      toolMs: 0,
    };
    this.#runs.set(runId, run);
    return run;
  }
}
