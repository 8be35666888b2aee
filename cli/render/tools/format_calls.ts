/**
 * Tool calls as lines: one line per call, the running calls, and a call with its complete result.
 *
 * @module
 */

import type { Line } from "../line/line.ts";
import { getLineWidth, truncateLine } from "../line/line_width.ts";
import { toOneLine } from "../plain_text.ts";
import { getTextWidth, truncateToWidth } from "../text_width.ts";
import type { Display } from "../theme/display.ts";
import type { Role } from "../theme/role.ts";
import { formatCall } from "../tool_line.ts";
import { formatDuration, formatElapsed } from "../usage_line.ts";
import { toVisibleText } from "../visible_text.ts";
import { type CallState, getCallState, getLastLine, summarizeResult } from "./call_summary.ts";
import type { CallView } from "./call_view.ts";

/** Minimum duration that is shown. */
const MIN_SHOWN_MS = 1_000;

/** Options for the formatting of calls. */
export interface CallOptions {
  /** Columns of the terminal. */
  readonly columns: number;
  /** How the output shows lines. */
  readonly display: Display;
}

/** Options for `formatEndedCall()`. */
export interface EndedCallOptions extends CallOptions {
  /** Whether the call is selected. Default: `false`. */
  readonly isSelected?: boolean | undefined;
}

/** Options for `formatRunningCalls()`. */
export interface RunningCallsOptions extends CallOptions {
  /** The current time in milliseconds since the epoch. */
  readonly now: number;
  /** Maximum number of rows; further calls are counted in the last one. */
  readonly maxRows: number;
}

const STATE_ROLES: Readonly<Record<CallState, Role>> = {
  running: "faint",
  success: "success",
  warning: "warning",
  error: "error",
};

/** Formats a call that has ended, such as `• bash deno test · 12.3 s · ok | 3 passed · +4 lines [7]`. */
export function formatEndedCall(
  call: CallView,
  { columns, display, isSelected = false }: EndedCallOptions,
): Line {
  const { end, startedAt, number } = call;
  const state = getCallState(call);
  const duration = (end?.endedAt ?? startedAt) - startedAt;
  const line = layOutCall(call, {
    display,
    columns,
    state,
    duration: duration < MIN_SHOWN_MS ? "" : formatDuration(duration),
    detail: {
      text: end ? summarizeResult(end, display.symbols) : "",
      role: state === "success" ? "faint" : STATE_ROLES[state],
    },
    suffix: ` [${number}]`,
  });
  return isSelected ? line.map(({ text }) => ({ text, role: "selected" })) : line;
}

/**
 * Formats calls that run, such as `◌ bash deno test · 12 s · ok | 2 passed`, or wait, such as `◌ bash deno lint · waits`;
 * the last row may count further calls.
 */
export function formatRunningCalls(
  calls: readonly CallView[],
  { now, columns, display, maxRows }: RunningCallsOptions,
): Line[] {
  if (maxRows < 1) return [];
  const shown = calls.length > maxRows ? calls.slice(0, maxRows - 1) : calls;
  const rows = shown.map((call) =>
    layOutCall(call, {
      display,
      columns,
      state: "running",
      duration: call.isWaiting ? "waits" : formatElapsed(Math.max(now - call.startedAt, 0)),
      detail: { text: getLastLine(call.output ?? ""), role: "faint" },
      suffix: "",
    })
  );
  const hidden = calls.length - shown.length;
  if (hidden === 0) return rows;
  const rest: Line = [{ text: `+${hidden} more`, role: "faint" }];
  return [...rows, truncateLine(rest, { columns, ellipsis: display.symbols.ellipsis })];
}

/** Parts of the line of a call. */
interface CallLayout extends CallOptions {
  readonly state: CallState;
  /** The duration; empty if it is not shown. */
  readonly duration: string;
  /** The result or the last line of output; empty if there is none. */
  readonly detail: { readonly text: string; readonly role: Role };
  /** Text at the end of the line. */
  readonly suffix: string;
}

/** Truncates the argument, then the detail, so that each has at least half of the free columns. */
function layOutCall(call: CallView, layout: CallLayout): Line {
  const { columns, display: { symbols }, state, duration, detail, suffix } = layout;
  const separator = ` ${symbols.separator} `;
  const head: Line = [
    formatIcon(state, layout.display),
    { text: toOneLine(toVisibleText(call.name)), role: "tool" },
  ];
  const argument = formatCall(call.name, call.arguments);
  const time = duration === "" ? "" : separator + duration;
  const gap = (argument === "" ? 0 : 1) + (detail.text === "" ? 0 : separator.length);
  const free = Math.max(columns - getLineWidth(head) - getTextWidth(time + suffix) - gap, 0);
  const detailColumns = Math.max(Math.floor(free / 2), free - getTextWidth(argument));
  const { ellipsis } = symbols;
  const shownDetail = truncateToWidth(detail.text, Math.min(detailColumns, free), ellipsis);
  const shownArgument = truncateToWidth(argument, free - getTextWidth(shownDetail), ellipsis);
  const line: Line = [
    ...head,
    ...(shownArgument === "" ? [] : [{ text: ` ${shownArgument}` }]),
    { text: time, role: "faint" },
    ...(shownDetail === "" ? [] : [
      { text: separator, role: "faint" } as const,
      { text: shownDetail, role: detail.role },
    ]),
    { text: suffix, role: "faint" },
  ];
  return truncateLine(line.filter(({ text }) => text !== ""), {
    columns,
    ellipsis,
  });
}

/** Returns the icon of a state; its name with `--plain`. */
export function formatIcon(state: CallState, { symbols, isPlain }: Display): Line[number] {
  const isFailed = state === "error" || state === "warning";
  if (isPlain) {
    const name = state === "running" ? "running " : isFailed ? "failed " : "";
    return { text: `tool: ${name}` };
  }
  const icon = state === "running" ? symbols.running : isFailed ? symbols.failed : symbols.done;
  return { text: `${icon} `, role: STATE_ROLES[state] };
}
