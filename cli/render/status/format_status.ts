/**
 * The status line, fitted to the width of the terminal.
 *
 * @module
 */

import { formatCompact } from "../format_number.ts";
import type { Line, Span } from "../line/line.ts";
import { getLineWidth, truncateLine } from "../line/line_width.ts";
import { toOneLine } from "../plain_text.ts";
import type { Display } from "../theme/display.ts";
import type { Role } from "../theme/role.ts";
import { formatCost, formatElapsed } from "../usage_line.ts";
import { toVisibleText } from "../visible_text.ts";
import type { StatusView } from "./status_view.ts";

/** Shares of the context window above which the gauge changes its color. */
const MEDIUM_SHARE = 0.6;
const HIGH_SHARE = 0.85;

/** Columns of the bar of the gauge. */
const BAR_COLUMNS = 10;

/** Options for `formatStatus()`. */
export interface StatusOptions {
  /** Columns of the terminal. */
  readonly columns: number;
  /** How the output shows lines. */
  readonly display: Display;
}

/** Name of a field of the status line, in the order of the line. */
type FieldName =
  | "mode"
  | "model"
  | "activity"
  | "approval"
  | "net"
  | "sandbox"
  | "turn"
  | "tokens"
  | "cost"
  | "elapsed"
  | "context";

/** A field with its shorter forms; the last one, which is empty, drops it. */
type Field = readonly [name: FieldName, forms: readonly Line[]];

/** The fields to shorten where the line is too wide, the least important first; a field with two forms is there twice. */
const REDUCTIONS: readonly FieldName[] = [
  "context",
  "sandbox",
  "turn",
  "elapsed",
  "tokens",
  "model",
  "net",
  "cost",
  "approval",
  "activity",
  "mode",
  "context",
];

/**
 * Formats the status, such as `EXECUTE · anthropic/… · approval smart · net off · turn 3 · 12.3k tokens · $0.02 · 8 s ·
 * context ████░░░░░░ 41 %`. Plan mode always remains; the model is cut in a very narrow terminal.
 */
export function formatStatus(status: StatusView, { columns, display }: StatusOptions): Line {
  const fields = createFields(status, display).filter(([, forms]) => forms.length > 0);
  const levels = new Map<FieldName, number>();
  const separator: Span = { text: ` ${display.symbols.separator} `, role: "faint" };
  const compose = (): Line =>
    fields.map(([name, forms]) => forms[levels.get(name) ?? 0] ?? [])
      .filter((form) => form.length > 0)
      .flatMap((form, index) => index === 0 ? form : [separator, ...form]);
  let line = compose();
  for (const name of REDUCTIONS) {
    if (getLineWidth(line) <= columns) return line;
    levels.set(name, (levels.get(name) ?? 0) + 1);
    line = compose();
  }
  return truncateLine(line, { columns, ellipsis: display.symbols.ellipsis });
}

function createFields(status: StatusView, display: Display): Field[] {
  const { model, mode, approval, net, sandbox, activity, turn, tokens, cost, elapsedMs } = status;
  const shortModel = model.slice(model.indexOf("/") + 1);
  return [
    ["mode", createMode(mode)],
    ["model", [createText(model), createText(shortModel), createText(shortModel)]],
    ["activity", createField(activity, "tool")],
    ["approval", createField(approval && `approval ${approval}`)],
    ["net", createField(net && `net ${net}`)],
    ["sandbox", createField(sandbox && `sandbox ${sandbox}`)],
    ["turn", createField(turn === undefined ? undefined : `turn ${turn}`)],
    ["tokens", createField(tokens === undefined ? undefined : `${formatCompact(tokens)} tokens`)],
    ["cost", createField(cost === undefined ? undefined : formatCost({ total: cost }))],
    ["elapsed", createField(elapsedMs === undefined ? undefined : formatElapsed(elapsedMs))],
    ["context", createGauge(status, display)],
  ];
}

/** Plan mode is always shown. */
function createMode(mode: StatusView["mode"]): Line[] {
  const plan: Line = [{ text: "PLAN", role: "plan" }];
  return mode === "plan" ? [plan, plan] : [[{ text: "EXECUTE", role: "faint" }]];
}

function createText(text: string, role: Role = "text"): Line {
  return [{ text: toOneLine(toVisibleText(text)), role }];
}

/** Returns a field that is shown or dropped; none if it is missing. */
function createField(text: string | undefined, role: Role = "faint"): Line[] {
  return text ? [createText(text, role)] : [];
}

/** Returns the gauge with its bar, and without it. */
function createGauge({ context }: StatusView, { symbols, isPlain }: Display): Line[] {
  if (!context || context.limit <= 0) return [];
  const share = context.used / context.limit;
  const role = getGaugeRole(share);
  const percent: Span = { text: `${Math.round(share * 100)} %`, role };
  const label: Span = { text: "context ", role: "faint" };
  const short: Line = [label, percent];
  if (isPlain) return [short, short];
  const filled = Math.min(Math.max(Math.round(share * BAR_COLUMNS), 0), BAR_COLUMNS);
  const { full, empty } = symbols.gauge;
  const bar: Line = [
    { text: full.repeat(filled), role },
    { text: empty.repeat(BAR_COLUMNS - filled), role: "faint" },
    { text: " " },
  ];
  return [[label, ...bar.filter(({ text }) => text !== ""), percent], short];
}

/** Returns the role of the gauge: green below 60 %, yellow up to 85 %, red above. */
export function getGaugeRole(share: number): Role {
  if (share < MEDIUM_SHARE) return "gaugeLow";
  return share <= HIGH_SHARE ? "gaugeMedium" : "gaugeHigh";
}
