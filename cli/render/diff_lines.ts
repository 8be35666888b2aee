/**
 * Formatting of unified diffs for a terminal.
 *
 * @module
 */

import { toPlainText } from "./plain_text.ts";
import type { Style } from "./style.ts";

/** Formats a diff as colored lines, without its `index` lines. */
export function formatDiffLines(diff: string, style: Style): string[] {
  if (diff === "") return [];
  const lines = toPlainText(diff).replace(/\n$/, "").split("\n");
  return lines.filter((line) => !line.startsWith("index ")).map((line) => paintLine(line, style));
}

function paintLine(line: string, style: Style): string {
  if (/^(diff|index|---|\+\+\+|(new|deleted|old) (file )?mode)( |$)/.test(line)) {
    return style.faint(line);
  }
  if (line.startsWith("@@")) return style.name(line);
  if (line.startsWith("+")) return style.success(line);
  if (line.startsWith("-")) return style.error(line);
  return line;
}
