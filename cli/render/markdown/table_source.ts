/**
 * Parsing of the lines of tables.
 *
 * @module
 */

/** Alignment of a column. */
export type Alignment = "left" | "right" | "center";

const DELIMITER_ROW = /^ *\|?(?: *:?-+:? *\|)*(?: *:?-+:? *)?$/;

/** Parses the row below the header, such as `|---|:-:|`; `undefined` if the line is no such row. */
export function parseDelimiterRow(line: string): Alignment[] | undefined {
  if (!line.includes("-") || !DELIMITER_ROW.test(line)) return undefined;
  return splitCells(line).map((cell) => {
    if (!cell.endsWith(":")) return "left";
    return cell.startsWith(":") ? "center" : "right";
  });
}

/** Splits a row into its cells. */
export function splitCells(line: string): string[] {
  return splitAt(line, /\\.|\|/g);
}

/**
 * Splits a row into a number of cells. A row with more separators is split outside of code only, and the rest belongs to
 * the last cell, so that no text is lost.
 */
export function splitRow(line: string, columns: number): string[] {
  const cells = splitCells(line);
  const row = cells.length > columns ? splitAt(line, /\\.|`[^`]*`|\|/g) : cells;
  const last = row.slice(columns - 1).join(" | ");
  return Array.from(
    { length: columns },
    (_, index) => index === columns - 1 ? last : row[index] ?? "",
  );
}

/** Splits a line at the matches that are a separator. */
function splitAt(line: string, tokens: RegExp): string[] {
  const trimmed = line.trim().replace(/^\|/, "");
  const cells: string[] = [];
  let start = 0;
  for (const { 0: token, index } of trimmed.matchAll(tokens)) {
    if (token !== "|") continue;
    cells.push(trimmed.slice(start, index));
    start = index + 1;
  }
  if (start < trimmed.length) cells.push(trimmed.slice(start));
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}
