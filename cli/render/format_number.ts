/**
 * Formatting of numbers.
 *
 * @module
 */

/** Formats an integer with thousands separators. `toLocaleString()` loads a locale first, which takes 15 ms. */
export function formatNumber(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Formats a count in few characters, such as `950`, `12.3k` or `1.2M`. */
export function formatCompact(count: number): string {
  if (count < 1_000) return String(count);
  // Numbers that would round up to a thousand of a unit have the next unit.
  const [divisor, unit] = count < 999_950 ? [1_000, "k"] : [1_000_000, "M"];
  const scaled = count / divisor;
  return `${scaled < 99.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}
