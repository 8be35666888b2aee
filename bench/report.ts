/**
 * Prints the results of benchmarks.
 *
 * @module
 */

/** A result as printed: benchmark, measured value, ratio to a baseline, target. */
export type Row = readonly [benchmark: string, value: string, ratio: string, target: string];

/** Returns the median (the upper one of an even number of values), or `NaN` without values. */
export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN;
}

/** Prints a table with a title. */
export function printReport(title: string, rows: readonly Row[]): void {
  const header: Row = ["benchmark", "value", "ratio", "target"];
  const table = [header, ...rows];
  const widths = header.map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0))
  );
  console.log(`\n${title}`);
  for (const row of table) {
    console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  }
}
