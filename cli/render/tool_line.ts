/**
 * One-line summaries of tool calls and their results.
 *
 * @module
 */

import type { AgentToolResult, JsonObject } from "../../mod.ts";
import { extractText } from "../../src/core/messages/content.ts";
import { formatNumber } from "./format_number.ts";
import { toOneLine, toPlainText } from "./plain_text.ts";
import { truncateToWidth } from "./text_width.ts";
import { toVisibleText } from "./visible_text.ts";

/** Reason for the model when the user denies a call. */
export const USER_DENIAL = "the user denied it at the terminal";

/** Names of the shown arguments, by tool. */
const SHOWN_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  bash: ["command"],
  search_files: ["pattern", "path"],
  skill: ["name"],
  task: ["prompt"],
  write_plan: ["title"],
};

/** Arguments to show for other tools, in order of preference; the first one that exists is shown. */
const PREFERRED_ARGUMENTS = ["path", "command", "pattern", "query", "url", "file"];

/** Columns of the name of a tool: as long as providers allow. A model may call one that does not exist. */
const MAX_NAME_COLUMNS = 64;

/** Formats the name of a tool in one line. */
export function formatToolName(name: string): string {
  return truncateToWidth(toOneLine(toPlainText(name)), MAX_NAME_COLUMNS);
}

/** Formats the most significant arguments of a call in one line; all of them as JSON for an unknown tool. */
export function formatCall(name: string, args: JsonObject): string {
  const keys = SHOWN_ARGUMENTS[name] ??
    PREFERRED_ARGUMENTS.filter((key) => key in args).slice(0, 1);
  const shown = keys.map((key) => args[key]).filter((value) => typeof value === "string");
  if (shown.length > 0) return toOneLine(toVisibleText(shown.join(" ")));
  return Object.keys(args).length === 0 ? "" : toOneLine(toVisibleText(JSON.stringify(args)));
}

/** Formats the result of a call in one line: its exit code, error or only line, else the number of lines. */
export function formatResult({ content }: AgentToolResult, isError: boolean): string {
  const lines = shortenRefusal(toPlainText(extractText(content))).trim().split("\n").filter((
    line,
  ) => line !== "");
  const [first = "no output", second = ""] = lines;
  // The reason follows on the next line.
  if (isError && first.endsWith(":")) return toOneLine(`${first} ${second}`);
  const isExit = first.startsWith("Exit code: ");
  if (isError || isExit || lines.length <= 1) {
    const rest = isExit && lines.length > 1 ? ` · ${pluralize(lines.length - 1, "line")}` : "";
    return toOneLine(first) + rest;
  }
  return pluralize(lines.length, "line");
}

/** Addresses the user instead of the model, which reads the result. */
export function shortenRefusal(text: string): string {
  return text.replace(
    /^Tool call rejected by approval: (.*)$/,
    (_text, reason) => `Refused: ${reason === USER_DENIAL ? "you said no." : reason}`,
  );
}

/** Formats a count with its noun: `1 line`, `2 lines`. */
export function pluralize(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}
