/**
 * Formatting of unified diffs for a terminal.
 *
 * @module
 */

import type { Paint, Style } from "./style.ts";
import type { StyledLine } from "./styled_line.ts";
import { toVisibleText } from "./visible_text.ts";

/** Formats a diff as styled lines, without its `index` lines. */
export function formatDiffLines(diff: string, style: Style): StyledLine[] {
  if (diff === "") return [];
  // A carriage return before a line feed is the end of the line.
  const lines = toVisibleText(diff.replaceAll("\r\n", "\n")).replace(/\n$/, "").split("\n");
  return lines.filter((line) => !line.startsWith("index "))
    .map((text) => ({ text, paint: getPaint(text, style) }));
}

function getPaint(line: string, style: Style): Paint {
  if (/^(diff|index|---|\+\+\+|(new|deleted|old) (file )?mode)( |$)/.test(line)) return style.faint;
  if (line.startsWith("@@")) return style.name;
  if (line.startsWith("+")) return style.success;
  if (line.startsWith("-")) return style.error;
  return (text) => text;
}
