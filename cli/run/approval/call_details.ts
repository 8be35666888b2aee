/**
 * The complete description of a tool call that a user approves.
 *
 * @module
 */

import type { GateRequest } from "../../../src/tools/mod.ts";
import { formatCodePoint } from "../../render/code_point.ts";
import { formatDiffLines } from "../../render/diff_lines.ts";
import type { Style } from "../../render/style.ts";
import type { StyledLine } from "../../render/styled_line.ts";
import { getTextWidth } from "../../render/text_width.ts";
import { toVisibleText } from "../../render/visible_text.ts";

/** Position of a call among those of the same reply that wait for an approval. */
export interface QuestionPosition {
  /** Number of the question, from 1. */
  readonly number: number;
  /** Number of questions. */
  readonly total: number;
}

/** Options for `formatCallDetails()`. */
export interface CallDetailsOptions {
  /** Style of the lines. */
  readonly style: Style;
  /** Position of the call. */
  readonly position: QuestionPosition;
  /** Columns of the terminal. */
  readonly columns: number;
  /** Lines that follow the reasons, such as the risk. Default: none. */
  readonly notes?: readonly StyledLine[];
  /** Formatted changes of files. Default: unified diffs. */
  readonly diff?: readonly StyledLine[] | undefined;
}

/** Arguments that follow the name of the tool, in order of preference. */
const MAIN_ARGUMENTS = ["command", "path", "url", "query", "pattern"];

/** Arguments whose effect a diff shows completely, by the name of the tool. */
const SHOWN_BY_DIFF: ReadonlyMap<string, readonly string[]> = new Map([
  ["write_file", ["content"]],
  ["edit_file", ["edits", "expected_hash"]],
]);

/** Whether a call is asked about for a reason of its own, and not as one of its class. */
export function hasOwnReason({ cause }: Pick<GateRequest, "cause">): boolean {
  return cause !== "class" && cause !== "mode";
}

/** Formats a call with all of its arguments, why it is asked about if that is not its class, and its changes to files. */
export function formatCallDetails(
  { name, arguments: args, changes = [], assessment, cause, reason }: GateRequest,
  { style, position: { number, total }, columns, notes = [], diff: formatted }: CallDetailsOptions,
): StyledLine[] {
  const main = MAIN_ARGUMENTS.find((key) => typeof args[key] === "string");
  const value = main === undefined ? "" : toVisibleText(String(args[main]));
  const head = `? ${total > 1 ? `${number} of ${total}: ` : ""}${toVisibleText(name)}`;
  const inline = `${head} ${value}`.trimEnd();
  const isInline = !value.includes("\n") && getTextWidth(inline) <= columns;
  const diff = changes.map(({ diff = "" }) => diff).join("");
  const shown = diff === "" ? [] : SHOWN_BY_DIFF.get(name) ?? [];
  const rest = Object.entries(args).filter(([key]) => key !== main && !shown.includes(key));
  const reasons = assessment?.verdict === "dangerous"
    ? assessment.reasons
    : hasOwnReason({ cause })
    ? [reason]
    : [];
  return [
    { text: "", paint: identity },
    {
      text: isInline ? inline : head,
      paint: (row) => row.startsWith(head) ? style.name(head) + row.slice(head.length) : row,
    },
    // Above the lines, of which a small screen shows only the first ones.
    ...reasons.map((text) => formatReason(text, style)),
    ...notes,
    ...(isInline ? [] : quoteLines(value)),
    ...rest.flatMap(([key, argument]) => formatArgument(formatKey(key), argument)),
    ...(diff === "" ? [] : formatted ?? formatDiffLines(diff, style)),
  ];
}

function formatReason(reason: string, { warning }: Style): StyledLine {
  return { text: `  ${toVisibleText(reason)}`, paint: warning };
}

/** Formats the name of an argument, which the model may have chosen, on one line. */
function formatKey(key: string): string {
  return toVisibleText(key).replaceAll("\n", formatCodePoint);
}

function formatArgument(key: string, value: unknown): StyledLine[] {
  const text = toVisibleText(typeof value === "string" ? value : JSON.stringify(value));
  if (!text.includes("\n")) return [{ text: `  ${key}: ${text}`, paint: identity }];
  return [{ text: `  ${key}:`, paint: identity }, ...quoteLines(text)];
}

/** Marks the rows of a value, so that they cannot be mistaken for a question. */
function quoteLines(value: string): StyledLine[] {
  return value.split("\n").map((text) => ({ text, paint: identity, mark: "  │ " }));
}

function identity(text: string): string {
  return text;
}
