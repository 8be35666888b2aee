import { assert, assertEquals } from "@std/assert";
import { zeroCost, zeroUsage } from "../../../src/loop/mod.ts";
import { createEncoder } from "../line/encode_line.ts";
import { getLineWidth } from "../line/line_width.ts";
import type { Display } from "../theme/display.ts";
import { ASCII_SYMBOLS, UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import type { AgentView } from "./agent_view.ts";
import { type AgentTreeOptions, formatAgents } from "./format_agents.ts";

const display: Display = {
  theme: THEMES.dark,
  colors: "none",
  hasLinks: false,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

const encode = createEncoder(display);

function createAgent(number: number, name: string, options: Partial<AgentView> = {}): AgentView {
  return {
    number,
    name,
    activity: "read_file src/core/agent.ts",
    status: "running",
    turns: 3,
    usage: { ...zeroUsage(), total: 12_345 },
    cost: { ...zeroCost(), total: 0.0123 },
    startedAt: 0,
    children: [],
    ...options,
  };
}

const agents = [
  createAgent(1, "explore", {
    children: [
      createAgent(2, "search", {
        status: "completed",
        endedAt: 9_000,
        turns: 1,
        children: [createAgent(3, "deep", { status: "failed", endedAt: 4_000 })],
      }),
      createAgent(4, "review", { status: "cancelled", endedAt: 5_000 }),
    ],
  }),
  createAgent(5, "plan"),
];

function format(options: Partial<AgentTreeOptions> = {}): string[] {
  return formatAgents(agents, { columns: 100, display, now: 15_500, ...options }).map(encode);
}

Deno.test("formatAgents(): shows agents as a tree with one line each", () => {
  const task = "read_file src/core/agent.ts";
  assertEquals(format(), [
    `◌ explore [1] · ${task} · 3 turns · 12.3k tokens · $0.0123 · 15 s`,
    `├─ • search [2] · ${task} · 1 turn · 12.3k tokens · $0.0123 · 9 s`,
    `│  └─ ✗ deep [3] · ${task} · 3 turns · 12.3k tokens · $0.0123 · 4 s`,
    `└─ ✗ review [4] · ${task} · 3 turns · 12.3k tokens · $0.0123 · 5 s`,
    `◌ plan [5] · ${task} · 3 turns · 12.3k tokens · $0.0123 · 15 s`,
  ]);
});

Deno.test("formatAgents(): omits figures and shortens tasks in a narrow terminal", () => {
  assertEquals(
    format({ columns: 60 }),
    [
      "◌ explore [1] · read_file src/core/agent.ts · 3 turns · 15 s",
      "├─ • search [2] · read_file src/co… · 1 turn · $0.0123 · 9 s",
      "│  └─ ✗ deep [3] · read_file src/core/agent… · 3 turns · 4 s",
      "└─ ✗ review [4] · read_file src/core/agent.… · 3 turns · 5 s",
      "◌ plan [5] · read_file src/core/… · 3 turns · $0.0123 · 15 s",
    ].map((line) => line),
  );
  assertEquals(format({ columns: 40 })[2], "│  └─ ✗ deep [3] · read_file src/… · 4 s");
});

Deno.test("formatAgents(): counts agents that have no row, and marks the selected one", () => {
  assertEquals(format({ maxRows: 3 }).slice(2), ["+3 more"]);
  assertEquals(format({ maxRows: 5 }).length, 5);
  assertEquals(format({ maxRows: 0 }), []);
  const selected = formatAgents(agents, { columns: 60, display, now: 0, selected: 4 });
  assertEquals(selected[3]?.every(({ role }) => role === "selected"), true);
  assertEquals(selected[2]?.some(({ role }) => role === "selected"), false);
});

Deno.test("formatAgents(): names the status with --plain", () => {
  const plain = { ...display, symbols: ASCII_SYMBOLS, isPlain: true };
  const lines = format({ display: plain, columns: 50 });
  assertEquals(lines[2]?.startsWith("|  `- agent: failed deep [3] - read"), true, lines[2]);
});

Deno.test("formatAgents(): fits deeply nested agents into the terminal", () => {
  let agent = createAgent(60, "leaf\x1b[2J\u202e");
  for (let depth = 59; depth > 0; depth--) {
    agent = createAgent(depth, "parent", { children: [agent] });
  }
  for (const columns of [20, 40, 80]) {
    const lines = formatAgents([agent], { columns, display, now: 0 });
    assertEquals(lines.length, 60);
    assertEquals(encode(lines[58] ?? []).includes("[59]"), columns > 30, String(columns));
    for (const line of lines) assert(getLineWidth(line) <= columns);
    // deno-lint-ignore no-control-regex -- control characters must be absent
    assert(!/[\x00-\x1f\u202e]/.test(lines.map(encode).join("")));
  }
});
