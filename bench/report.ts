/**
 * How benchmarks tell their figures.
 *
 * @module
 */

/** What was measured, the figure, its ratio, and the target. */
export type Row = readonly [what: string, figure: string, ratio: string, target: string];

/** The middle of some figures. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((left, right) => left - right)[figures.length >> 1] ?? Number.NaN;
}

/** Prints rows as a table. */
export function printReport(title: string, rows: readonly Row[]): void {
  const header: Row = ["what", "figure", "ratio", "target"];
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  console.log(`\n${title}`);
  for (const row of all) {
    console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  }
}
