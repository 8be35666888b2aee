/**
 * A tool call with its complete arguments, changes and result.
 *
 * @module
 */

import { diffChange } from "../diff/diff_change.ts";
import type { DiffLayout } from "../diff/file_diff.ts";
import { formatDiff } from "../diff/format_diff.ts";
import type { Highlighter, LineHighlighter } from "../highlight/highlighter.ts";
import { getLanguage } from "../highlight/language.ts";
import { LimitedLines } from "../line/limited_lines.ts";
import type { Line, Span } from "../line/line.ts";
import { breakLine } from "../line/row_breaker.ts";
import { toOneLine } from "../plain_text.ts";
import { getTextWidth } from "../text_width.ts";
import { formatCall } from "../tool_line.ts";
import { toVisibleText } from "../visible_text.ts";
import { getResultText } from "./call_summary.ts";
import type { CallView } from "./call_view.ts";
import { type CallOptions, formatEndedCall } from "./format_calls.ts";

/** Options for `formatExpandedCall()`. */
export interface ExpandedCallOptions extends CallOptions {
  /** Whether the call is selected. Default: `false`. */
  readonly isSelected?: boolean | undefined;
  /** Highlights arguments, files and changes. Default: nothing is highlighted. */
  readonly highlighter?: Highlighter | undefined;
  /** Order of the lines of diffs. Default: `unified`. */
  readonly layout?: DiffLayout | undefined;
  /** Maximum number of lines below the first one, without the one about missing lines. Default: all. */
  readonly maxLines?: number | undefined;
  /** How to see the missing lines, such as `/expand 3 all`. Default: nothing. */
  readonly hint?: string | undefined;
}

/** Columns before the lines below the first one. */
const INDENT = 2;

/** A line of source. */
interface SourceLine {
  readonly spans: readonly Span[];
  /** Text before the first row, such as a line number. */
  readonly gutter?: string;
}

/** Formats a call: its line, and below it its changes of files, or its arguments and its result. */
export function formatExpandedCall(call: CallView, options: ExpandedCallOptions): Line[] {
  const inner = { ...options, columns: options.columns - INDENT };
  const { changes = [], end } = call;
  const hasChanges = changes.length > 0 && !end?.isError;
  const lines = hasChanges ? formatDiff(changes.map(diffChange), inner) : formatSource(call, inner);
  return [
    formatEndedCall(call, options),
    ...lines.map((line) => [{ text: " ".repeat(INDENT) }, ...line]),
  ];
}

function formatSource(call: CallView, options: ExpandedCallOptions): Line[] {
  const { columns, maxLines = Infinity } = options;
  const limited = new LimitedLines(maxLines);
  for (const read of [...listArguments(call, options), ...listResult(call, options)]) {
    limited.add(() => {
      const { spans, gutter = "" } = read();
      return breakLine(spans, {
        columns,
        first: gutter === "" ? [] : [{ text: gutter, role: "faint" }],
        next: gutter === "" ? [] : [{ text: " ".repeat(gutter.length) }],
      });
    });
  }
  return limited.finish(options);
}

/** Reads the next line; called in order, since highlighting depends on the lines before. */
type ReadLine = () => SourceLine;

/** Lists the arguments that the first line does not show completely. */
function listArguments(call: CallView, options: ExpandedCallOptions): ReadLine[] {
  const summary = formatCall(call.name, call.arguments);
  const isSummaryShort = getTextWidth(summary) <= options.columns / 3;
  return Object.entries(call.arguments).flatMap(([key, value]): ReadLine[] => {
    const text = toVisibleText(typeof value === "string" ? value : JSON.stringify(value, null, 2));
    const isShown = isSummaryShort && !text.includes("\n") && summary.includes(toOneLine(text));
    if (isShown) return [];
    const name = { text: `${toVisibleText(toOneLine(key))}:`, role: "name" } as const;
    if (!text.includes("\n")) return [() => ({ spans: [name, { text: ` ${text}` }] })];
    const highlighter = startHighlighter(getArgumentLanguage(call, { key, value }), options);
    return [() => ({ spans: [name] }), ...listLines(text, { highlighter, gutter: "  " })];
  });
}

function getArgumentLanguage(
  { arguments: { path } }: CallView,
  { key, value }: { readonly key: string; readonly value: unknown },
): string | undefined {
  if (typeof value !== "string") return "json";
  if (key === "command") return "bash";
  return typeof path === "string" ? getLanguage(path) : undefined;
}

function listResult(call: CallView, options: ExpandedCallOptions): ReadLine[] {
  const { end, output = "" } = call;
  const text = end ? getResultText(end.result) : output;
  const media = end?.result.content.filter(({ type }) => type !== "text") ?? [];
  const highlighter = startHighlighter(getResultLanguage(call, text), options);
  return [
    ...(text.trim() === "" ? [] : listLines(text.replace(/\s+$/, ""), { highlighter })),
    ...media.map(({ type }) => () => ({ spans: [{ text: `[${type}]`, role: "faint" } as const] })),
  ];
}

/** Returns the language of a result: that of the file for numbered lines, else by its beginning. */
function getResultLanguage({ arguments: { path } }: CallView, text: string): string | undefined {
  if (NUMBERED.test(text)) return typeof path === "string" ? getLanguage(path) : undefined;
  if (/^(?:diff --git |--- \S+\n\+\+\+ )/.test(text)) return "diff";
  return /^\s*[[{]/.test(text) ? "json" : undefined;
}

/** Matches the number before a line of `read_file`. */
const NUMBERED = /^\s*\d+\t/;

function startHighlighter(
  language: string | undefined,
  { highlighter }: ExpandedCallOptions,
): LineHighlighter | undefined {
  return language === undefined ? undefined : highlighter?.start(language);
}

function listLines(
  text: string,
  { highlighter, gutter = "" }: {
    readonly highlighter: LineHighlighter | undefined;
    readonly gutter?: string;
  },
): ReadLine[] {
  const lines = text.split("\n");
  const digits = NUMBERED.exec(lines.at(-1) ?? "")?.[0].trim().length ?? 0;
  return lines.map((line) => () => {
    const [number = ""] = NUMBERED.exec(line) ?? [];
    const code = line.slice(number.length);
    return {
      spans: highlighter?.next(code) ?? [{ text: code }],
      gutter: number === "" ? gutter : `${gutter}${number.trim().padStart(digits)}  `,
    };
  });
}
