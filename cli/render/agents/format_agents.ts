/**
 * Sub-agents as a tree with one line each.
 *
 * @module
 */

import { formatCompact } from "../format_number.ts";
import type { Line, Span } from "../line/line.ts";
import { getLineWidth, truncateLine } from "../line/line_width.ts";
import { toOneLine } from "../plain_text.ts";
import { getTextWidth, truncateToWidth } from "../text_width.ts";
import type { Display } from "../theme/display.ts";
import type { Role } from "../theme/role.ts";
import { pluralize } from "../tool_line.ts";
import { formatCost, formatElapsed } from "../usage_line.ts";
import { toVisibleText } from "../visible_text.ts";
import type { AgentStatus, AgentView } from "./agent_view.ts";

/** Depth from which agents are no longer indented further. */
const MAX_INDENT = 8;

/** Options for `formatAgents()`. */
export interface AgentTreeOptions {
  /** Columns of the terminal. */
  readonly columns: number;
  /** How the output shows lines. */
  readonly display: Display;
  /** The current time in milliseconds since the epoch. */
  readonly now: number;
  /** Number of the selected agent. Default: none. */
  readonly selected?: number | undefined;
  /** Maximum number of rows; further agents are counted in the last one. Default: all. */
  readonly maxRows?: number | undefined;
}

const STATUS_ROLES: Readonly<Record<AgentStatus, Role>> = {
  running: "faint",
  completed: "success",
  failed: "error",
  cancelled: "warning",
};

/** An agent with the lines of the tree before it. */
interface TreeRow {
  readonly agent: AgentView;
  readonly tree: string;
}

/** Formats agents and the agents that they have started, such as `└─ ◌ explore [2] · bash deno test · 3 turns · 12 s`. */
export function formatAgents(agents: readonly AgentView[], options: AgentTreeOptions): Line[] {
  const { columns, display: { symbols }, maxRows = Infinity } = options;
  const rows = [...listRows(agents, { tree: "", depth: 0, symbols })];
  const shown = rows.length > maxRows ? rows.slice(0, Math.max(maxRows - 1, 0)) : rows;
  const lines = shown.map((row) => formatAgent(row, options));
  if (shown.length === rows.length || maxRows < 1) return lines;
  const rest: Line = [{ text: `+${rows.length - shown.length} more`, role: "faint" }];
  return [...lines, truncateLine(rest, { columns, ellipsis: symbols.ellipsis })];
}

interface TreePosition {
  /** Lines of the tree before the children. */
  readonly tree: string;
  readonly depth: number;
  readonly symbols: Display["symbols"];
}

function* listRows(
  agents: readonly AgentView[],
  { tree, depth, symbols }: TreePosition,
): Generator<TreeRow> {
  const { child, last, below } = symbols.tree;
  for (const [index, agent] of agents.entries()) {
    const isLast = index === agents.length - 1;
    yield { agent, tree: depth === 0 ? "" : tree + (isLast ? last : child) };
    const next = isLast ? " ".repeat(below.length) : below;
    const isIndented = depth > 0 && depth < MAX_INDENT;
    yield* listRows(agent.children, {
      tree: isIndented ? tree + next : tree,
      depth: depth + 1,
      symbols,
    });
  }
}

function formatAgent({ agent, tree }: TreeRow, options: AgentTreeOptions): Line {
  const { columns, display: { symbols }, selected } = options;
  const { number, status } = agent;
  const separator = ` ${symbols.separator} `;
  const head: Line = [
    { text: tree, role: "mark" },
    formatIcon(status, options.display),
    { text: toOneLine(toVisibleText(agent.name)), role: "tool" },
    { text: ` [${number}]`, role: "faint" },
  ];
  const figures = fitFigures(agent, { ...options, head: getLineWidth(head) });
  const end = figures.map((figure) => separator + figure).join("");
  const free = columns - getLineWidth(head) - getTextWidth(end) - separator.length;
  const activity = truncateToWidth(
    toOneLine(toVisibleText(agent.activity)),
    free,
    symbols.ellipsis,
  );
  const line: Span[] = [
    ...head,
    { text: activity === "" ? "" : `${separator}${activity}` },
    { text: end, role: "faint" },
  ];
  const fitted = truncateLine(line.filter(({ text }) => text !== ""), {
    columns,
    ellipsis: symbols.ellipsis,
  });
  return number === selected ? fitted.map(({ text }) => ({ text, role: "selected" })) : fitted;
}

/** Returns the figures that leave half of the row for the rest: without tokens, then cost, then turns in a narrow one. */
function fitFigures(
  { turns, usage, cost, startedAt, endedAt }: AgentView,
  { now, columns, display, head }: AgentTreeOptions & { readonly head: number },
): string[] {
  const time = formatElapsed(Math.max((endedAt ?? now) - startedAt, 0));
  const turnCount = pluralize(turns, "turn");
  const amount = formatCost(cost);
  const all = [turnCount, `${formatCompact(usage.total)} tokens`, amount, time];
  const separator = ` ${display.symbols.separator} `;
  const variants = [all, [turnCount, amount, time], [turnCount, time], [time]];
  const limit = (columns - head) / 2;
  return variants.find((figures) => getTextWidth(figures.join(separator)) <= limit) ?? [];
}

function formatIcon(status: AgentStatus, { symbols, isPlain }: Display): Span {
  if (isPlain) return { text: `agent: ${status} ` };
  const icon = status === "running"
    ? symbols.running
    : status === "completed"
    ? symbols.done
    : symbols.failed;
  return { text: `${icon} `, role: STATUS_ROLES[status] };
}
