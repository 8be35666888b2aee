/**
 * A unified diff as lines for a terminal.
 *
 * @module
 */

import { plainText } from "./plain_text.ts";
import type { Style } from "./style.ts";

/** The lines of a diff, each in the colour of what it does; names of contents are left out. */
export function diffLines(diff: string, style: Style): string[] {
  if (diff === "") return [];
  const lines = plainText(diff).replace(/\n$/, "").split("\n");
  return lines.filter((line) => !line.startsWith("index ")).map((line) => painted(line, style));
}

function painted(line: string, style: Style): string {
  if (/^(diff|index|---|\+\+\+|(new|deleted|old) (file )?mode)( |$)/.test(line)) {
    return style.faint(line);
  }
  if (line.startsWith("@@")) return style.name(line);
  if (line.startsWith("+")) return style.good(line);
  if (line.startsWith("-")) return style.error(line);
  return line;
}
