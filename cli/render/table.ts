/**
 * Tables of text.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import { toPlainText } from "./plain_text.ts";
import { getStyle, type Style } from "./style.ts";
import { getTextWidth, truncateToWidth } from "./text_width.ts";

/** Options for `formatTable()`. */
export interface TableOptions {
  /** Maximum columns of a line; `Infinity` where the output is no terminal. */
  readonly columns: number;
  /** Style of the output; the first column has the style of names. */
  readonly style: Style;
}

/** Returns the options for standard output. */
export function getTableOptions({ terminal, env }: Pick<Host, "terminal" | "env">): TableOptions {
  const { output, columns } = terminal;
  return { columns: output.isTerminal ? columns : Infinity, style: getStyle(output, env) };
}

/** Formats rows as columns. The last column is not padded, and is cut at the end of the line. */
export function formatTable(
  rows: readonly (readonly string[])[],
  { columns, style }: TableOptions,
): string {
  const cells = rows.map((row) => row.map((cell) => toPlainText(cell).replaceAll(/\s+/g, " ")));
  const widths = (cells[0] ?? []).map((_, index) =>
    Math.max(...cells.map((row) => getTextWidth(row[index] ?? "")))
  );
  const lines = cells.map(([first = "", ...others]) => {
    const padded = [first, ...others].map((cell, index) =>
      index === others.length ? cell : cell + " ".repeat((widths[index] ?? 0) - getTextWidth(cell))
    );
    const line = padded.join("  ").trimEnd();
    const cut = columns === Infinity ? line : truncateToWidth(line, columns);
    return style.name(cut.slice(0, first.length)) + cut.slice(first.length);
  });
  return lines.map((line) => `${line}\n`).join("");
}
