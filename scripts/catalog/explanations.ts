/**
 * Differences between the catalog and public price lists that are errors of the lists.
 *
 * @module
 */

import type { PriceDifference } from "./compare_prices.ts";
import explained from "./explained_differences.json" with { type: "json" };
import type { PriceList } from "./price_list.ts";

/** Reason why prices differ from a list. In `models` and `prices`, `*` matches any text and `?` one character. */
export interface Explanation {
  /** Name of the list. */
  readonly list: string;
  /** Pattern of the models. */
  readonly models: string;
  /** Pattern of the prices. */
  readonly prices: string;
  /** The reason, as a sentence without a period. */
  readonly reason: string;
}

/** The explained differences. */
export const EXPLANATIONS: readonly Explanation[] = explained;

/** Differences by whether they are explained. */
export interface ExplainedDifferences {
  /** Differences without an explanation. */
  readonly unexplained: readonly PriceDifference[];
  /** Differences with an explanation. */
  readonly explained: readonly PriceDifference[];
  /** Explanations for this list that explain no difference. */
  readonly unused: readonly Explanation[];
}

/** Finds the explanations of differences from a list. */
export function explainDifferences(
  differences: readonly PriceDifference[],
  list: PriceList["name"],
  explanations: readonly Explanation[] = EXPLANATIONS,
): ExplainedDifferences {
  const known = explanations.filter((explanation) => explanation.list === list);
  const isExplained = (difference: PriceDifference) =>
    known.some((explanation) => explains(explanation, difference));
  return {
    unexplained: differences.filter((difference) => !isExplained(difference)),
    explained: differences.filter(isExplained),
    unused: known.filter((explanation) =>
      !differences.some((difference) => explains(explanation, difference))
    ),
  };
}

function explains({ models, prices }: Explanation, { model, price }: PriceDifference): boolean {
  return toPattern(models).test(model) && toPattern(prices).test(price);
}

function toPattern(glob: string): RegExp {
  const source = glob.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
  return new RegExp(`^${source}$`);
}
