/**
 * The rows of a line that may be too wide for the terminal.
 *
 * @module
 */

import type { Line, Span } from "../../render/line/line.ts";
import { getLineWidth } from "../../render/line/line_width.ts";
import { wrapLine } from "../../render/line/wrap_line.ts";

/** Returns the line if it fits, else its rows, which have the same indentation. */
export function fitLine(line: Line, columns: number): Line[] {
  if (getLineWidth(line) <= columns) return [line];
  const [first, ...rest] = line;
  const [indentation = ""] = /^ */.exec(first?.text ?? "") ?? [];
  if (!first || indentation === "" || indentation.length > columns / 2) {
    return wrapLine(line, { columns });
  }
  const indent: Span = { ...first, text: indentation };
  const start: Span = { ...first, text: first.text.slice(indentation.length) };
  return wrapLine([start, ...rest].filter(({ text }) => text !== ""), {
    columns,
    first: [indent],
    next: [indent],
  });
}
