/**
 * Adds up what a run spends.
 *
 * @module
 */

import type { OnDeltaContext, PolicyContext, PostTurnContext } from "../core/hooks/policy.ts";
import {
  addCost,
  addUsage,
  type Cost,
  type LateSpending,
  type Usage,
  zeroCost,
  zeroUsage,
} from "../core/models/usage.ts";

/** Token counts and their cost. */
export interface Spending {
  /** Token counts. */
  readonly usage: Usage;
  /** Cost of the tokens. */
  readonly cost: Cost;
}

/** Spending of 0 tokens. */
export const NO_SPENDING: Spending = { usage: zeroUsage(), cost: zeroCost() };

/** Adds two spendings. */
export function addSpending(left: Spending, right: Spending): Spending {
  return { usage: addUsage(left.usage, right.usage), cost: addCost(left.cost, right.cost) };
}

/** Subtracts the second spending from the first. */
export function subtractSpending(left: Spending, right: Spending): Spending {
  const usage = mapAmounts(right.usage, (count) => -count);
  return addSpending(left, { usage, cost: negate(right.cost) });
}

function negate(cost: Cost): Cost {
  return mapAmounts(cost, (amount) => amount === null ? null : -amount);
}

/** Whether an amount of a cost is known; rates that lack a price result in `NaN`. */
export function isKnownAmount(amount: number | null): amount is number {
  return amount !== null && !Number.isNaN(amount);
}

/** The totals of a run. */
type RunTotals = Pick<PolicyContext, "usage" | "cost" | "lateSpending">;

/** The spending of one run, from the totals that the policies get. */
export class RunSpending {
  readonly #ignoresUnknownPrices: boolean;
  #current = NO_SPENDING;
  /** Ids of the tool calls that do not count. */
  readonly #excludedCalls = new Set<string>();
  /** Results of these calls. */
  #excluded = NO_SPENDING;
  /** Estimates of the attempts that ended without usage. */
  #unreported = NO_SPENDING;
  /** The attempt that streams. */
  #attempt: { readonly characters: number; readonly estimate: Spending } | undefined;
  #costBeforeTurn = zeroCost();
  /** The known cost of what agents have spent after the end of the calls that run them. */
  #lateCost = zeroCost();
  /** Whether the turn has called a model; the reply of one that only runs pending calls is that of an earlier run. */
  #hasReplied = false;

  /** Creates the spending of a run; with `"ignore"`, what has no price costs 0. */
  constructor(unknownPrice: "stop" | "ignore" = "stop") {
    this.#ignoresUnknownPrices = unknownPrice === "ignore";
  }

  /** Spending of the run so far, without excluded tool results, and with the estimates of attempts without usage. */
  get current(): Spending {
    return addSpending(this.#current, this.#unreported);
  }

  /** Estimate of the reply that streams. */
  get estimate(): Spending {
    return this.#attempt?.estimate ?? NO_SPENDING;
  }

  /**
   * Updates the spending while a reply streams. A new attempt begins when the reply is shorter than before; the estimate of
   * the previous one is kept if it has added no usage.
   */
  updateReply(context: OnDeltaContext, estimate: Spending): void {
    const { characters } = context;
    const previous = this.#attempt;
    const reported = this.#current.usage.total;
    this.update(context);
    if (previous && characters < previous.characters && this.#current.usage.total === reported) {
      this.#unreported = addSpending(this.#unreported, previous.estimate);
    }
    this.#attempt = { characters, estimate };
    this.#hasReplied = true;
  }

  /** Excludes what a tool call reports, and what its agents spend after its end. */
  exclude(toolCallId: string): void {
    this.#excludedCalls.add(toolCallId);
  }

  /** Replaces the current spending by new totals of the run; returns it. */
  update({ usage, cost, lateSpending = [] }: RunTotals): Spending {
    const late = lateSpending.filter(({ toolCallId }) => this.#excludedCalls.has(toolCallId));
    const excluded = late.reduce(addSpending, this.#excluded);
    const total = subtractSpending({ usage, cost }, excluded);
    const added = this.#addLateCost(lateSpending);
    this.#current = this.#needsParts(cost)
      ? { ...total, cost: addCost(this.#current.cost, added) }
      : total;
    this.#attempt = undefined;
    return this.current;
  }

  /** Adds the known cost of late spending to that of the earlier turns; returns what is new of it. */
  #addLateCost(lateSpending: readonly LateSpending[]): Cost {
    const counted = lateSpending.filter(({ toolCallId }) => !this.#excludedCalls.has(toolCallId));
    const cost = counted.map((late) => toKnownCost(late.cost)).reduce(addCost, zeroCost());
    const added = addCost(cost, negate(this.#lateCost));
    this.#lateCost = cost;
    this.#costBeforeTurn = addCost(this.#costBeforeTurn, added);
    return added;
  }

  /** Updates the spending at the end of a turn. */
  finishTurn(turn: PostTurnContext): Spending {
    const { message, toolResults } = turn;
    for (const { toolCallId, usage = zeroUsage(), cost = zeroCost() } of toolResults) {
      if (!this.#excludedCalls.has(toolCallId)) continue;
      this.#excluded = addSpending(this.#excluded, { usage, cost });
    }
    this.update(turn);
    const { usage } = this.#current;
    if (this.#needsParts(turn.cost)) {
      const results = toolResults.filter(({ toolCallId }) => !this.#excludedCalls.has(toolCallId));
      const counted = this.#hasReplied ? [message, ...results] : results;
      const parts = counted.map(({ cost = zeroCost() }) => toKnownCost(cost));
      this.#current = { usage, cost: parts.reduce(addCost, this.#costBeforeTurn) };
    }
    this.#costBeforeTurn = this.#current.cost;
    this.#hasReplied = false;
    return this.current;
  }

  /** Whether a cost is partly unknown, so that the known part is the sum over its replies and tool results. */
  #needsParts({ total }: Cost): boolean {
    return this.#ignoresUnknownPrices && !isKnownAmount(total);
  }
}

/** Counts unknown amounts as 0. */
function toKnownCost(cost: Cost): Cost {
  const { extra: _extra, ...known } = mapAmounts(
    cost,
    (amount: number | null) => isKnownAmount(amount) ? amount : 0,
  );
  if (isKnownAmount(cost.total)) return known;
  const { input, output, cacheRead, cacheWrite } = known;
  return { ...known, total: input + output + cacheRead + cacheWrite };
}

/** A usage or a cost. */
interface Amounts<Amount> {
  readonly input: Amount;
  readonly output: Amount;
  readonly cacheRead: Amount;
  readonly cacheWrite: Amount;
  readonly total: Amount;
  readonly extra?: Readonly<Record<string, Amount>>;
}

function mapAmounts<From, To>(
  { input, output, cacheRead, cacheWrite, total, extra }: Amounts<From>,
  map: (amount: From) => To,
): Amounts<To> {
  return {
    input: map(input),
    output: map(output),
    cacheRead: map(cacheRead),
    cacheWrite: map(cacheWrite),
    total: map(total),
    ...(extra && {
      extra: Object.fromEntries(Object.entries(extra).map(([name, n]) => [name, map(n)])),
    }),
  };
}
