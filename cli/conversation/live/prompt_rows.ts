/**
 * The rows of a text that the user has sent.
 *
 * @module
 */

import { formatNumber } from "../../render/format_number.ts";
import type { Line } from "../../render/line/line.ts";
import { wrapLine } from "../../render/line/wrap_line.ts";
import type { Display } from "../../render/theme/display.ts";
import { toPromptLines } from "../view/lines.ts";
import { fitLine } from "./fit_line.ts";

/** Maximum number of rows, so that a long text leaves the scrollback alone. */
const MAX_ROWS = 200;

/** Returns the rows of a text behind the sign of the prompt, with the indentation of the sign. */
export function layOutPrompt(
  text: string,
  { columns, display: { symbols } }: {
    readonly columns: number;
    readonly display: Pick<Display, "symbols">;
  },
): Line[] {
  const [first = [], ...others] = toPromptLines(text, symbols.prompt);
  const [sign, ...content] = first;
  if (!sign) return [];
  const indent = { ...sign, text: " ".repeat(sign.text.length) };
  const rows = [
    ...wrapLine(content, { columns, first: [sign], next: [indent] }),
    ...others.flatMap((line) => fitLine(line, columns)),
  ];
  const rest = rows.length - MAX_ROWS;
  if (rest <= 0) return rows;
  const notice = `${indent.text}${symbols.ellipsis} ${formatNumber(rest)} more rows`;
  return [...rows.slice(0, MAX_ROWS), [{ text: notice, role: "faint" }]];
}
