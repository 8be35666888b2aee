/**
 * Amounts of money in reasons.
 *
 * @module
 */

/** Formats an amount in US dollars with up to six digits after the point: sums of prices have rounding errors. */
export function formatDollars(amount: number): string {
  return `$${Number(amount.toFixed(6))}`;
}
