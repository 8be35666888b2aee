import { assertEquals } from "@std/assert";
import { textResult } from "../../../mod.ts";
import { zeroCost, zeroUsage } from "../../../src/loop/mod.ts";
import type { AgentView } from "../agents/agent_view.ts";
import { formatAgents } from "../agents/format_agents.ts";
import { diffChange } from "../diff/diff_change.ts";
import { formatDiff } from "../diff/format_diff.ts";
import { createModeHighlighter } from "../highlight/mode_highlighter.ts";
import { createEncoder } from "../line/encode_line.ts";
import type { Line } from "../line/line.ts";
import { formatStatus } from "../status/format_status.ts";
import { formatUsageTable } from "../status/format_usage.ts";
import type { Display } from "../theme/display.ts";
import { ASCII_SYMBOLS, UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import type { CallView } from "./call_view.ts";
import { formatEndedCall, formatRunningCalls } from "./format_calls.ts";
import { formatExpandedCall } from "./format_expanded_call.ts";

const highlighter = createModeHighlighter({ now: () => 0 });

const styled: Display = {
  theme: THEMES.dark,
  colors: "true_color",
  hasLinks: true,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

const plain: Display = {
  ...styled,
  colors: "none",
  hasLinks: false,
  symbols: ASCII_SYMBOLS,
  isPlain: true,
};

const before = `import { read } from "./read.ts";

/** Sums up the amounts of all lines of a file. */
export async function sum(path: string): Promise<number> {
  const lines = await read(path);
  return lines.length;
}
`;

const after = before.replace("read(path)", 'read(path, { encoding: "utf-8" })')
  .replace(
    "return lines.length;",
    "const amounts = lines.map(Number);\n  return amounts.reduce((a, b) => a + b, 0);",
  );

const changes = [{ path: "src/sum.ts", before, after }];

const calls: readonly CallView[] = [
  {
    number: 1,
    name: "read_file",
    arguments: { path: "src/sum.ts" },
    startedAt: 0,
    end: {
      endedAt: 12,
      result: textResult(
        before.trimEnd().split("\n").map((line, index) => `${index + 1}\t${line}`).join("\n"),
      ),
      isError: false,
    },
  },
  {
    number: 2,
    name: "edit_file",
    arguments: { path: "src/sum.ts", edits: [{ old_text: "lines.length", new_text: "…" }] },
    startedAt: 0,
    changes,
    end: { endedAt: 30, result: textResult("Edited src/sum.ts (+3 -2)"), isError: false },
  },
  {
    number: 3,
    name: "bash",
    arguments: { command: "deno test --quiet src/sum_test.ts && deno lint" },
    startedAt: 0,
    output: "running 4 tests from ./src/sum_test.ts\nsum: adds up amounts ... ok (2ms)\n",
    end: {
      endedAt: 12_400,
      result: textResult("Exit code: 1\nsum: empty file ... FAILED\n3 passed | 1 failed"),
      isError: false,
    },
  },
];

function createAgent(number: number, options: Partial<AgentView> = {}): AgentView {
  return {
    number,
    name: "explore",
    activity: "read_file src/sum.ts",
    status: "running",
    turns: 4,
    usage: { ...zeroUsage(), total: 45_678 },
    cost: { ...zeroCost(), total: 0.0456 },
    startedAt: 0,
    children: [],
    ...options,
  };
}

const agents = [
  createAgent(1, {
    children: [
      createAgent(2, { name: "search", status: "completed", endedAt: 9_000 }),
      createAgent(3, { name: "review", status: "failed", endedAt: 65_000, turns: 1 }),
    ],
  }),
];

const turns = [1, 2].map((turn) => ({
  label: `${turn} fix the failing test`,
  usage: { ...zeroUsage(), input: 1_234 * turn, cacheRead: 20_000 * turn, output: 321 * turn },
  cost: { ...zeroCost(), total: 0.0123 * turn },
  durationMs: 34_567 * turn,
}));

/** The elements that are not Markdown, in one picture of a conversation. */
const VIEWS: Readonly<Record<string, (columns: number, display: Display) => Line[]>> = {
  calls: (columns, display) => calls.map((call) => formatEndedCall(call, { columns, display })),
  running: (columns, display) =>
    formatRunningCalls(calls, { columns, display, now: 72_000, maxRows: 2 }),
  expanded: (columns, display) =>
    calls.flatMap((call) =>
      formatExpandedCall(call, {
        columns,
        display,
        highlighter,
        maxLines: 5,
        hint: "/expand shows all",
      })
    ),
  diff: (columns, display) =>
    formatDiff(changes.map(diffChange), { columns, display, highlighter }),
  diff_wide: (columns, display) =>
    formatDiff(changes.map(diffChange), { columns, display, highlighter, layout: "side_by_side" }),
  agents: (columns, display) => formatAgents(agents, { columns, display, now: 72_000 }),
  status: (columns, display) => [
    formatStatus({
      model: "anthropic/claude-sonnet-5-5:high",
      mode: "execute",
      approval: "smart",
      net: "off",
      sandbox: "Landlock+seccomp",
      activity: "bash deno test",
      turn: 3,
      tokens: 45_678,
      cost: 0.0456,
      elapsedMs: 72_000,
      context: { used: 92_000, limit: 100_000 },
    }, { columns, display }),
  ],
  usage: (columns, display) => formatUsageTable(turns, { columns, display }),
};

/** Shows the styles of a line as `{role style:text}`. */
function showStyles(line: Line): string {
  return line.map(({ text, ...style }) => {
    const names = Object.entries(style).map(([key, value]) => value === true ? key : String(value));
    return names.length === 0 ? text : `{${names.join(" ")}:${text}}`;
  }).join("");
}

function createTranscript(view: (columns: number, display: Display) => Line[]): string {
  const encode = createEncoder(plain);
  const sections = [40, 60, 80, 120].map((columns) =>
    [`=== ${columns} columns, plain`, ...view(columns, plain).map(encode)].join("\n")
  );
  const lines = view(80, styled).map(showStyles);
  return [...sections, ["=== 80 columns, styled", ...lines].join("\n")].join("\n\n") + "\n";
}

for (const [name, view] of Object.entries(VIEWS)) {
  Deno.test(`views: ${name} look as in testdata/${name}.lines.txt`, async () => {
    const transcript = createTranscript(view);
    const file = new URL(`testdata/${name}.lines.txt`, import.meta.url);
    if (Deno.args.includes("--update")) await Deno.writeTextFile(file, transcript);
    assertEquals(transcript, await Deno.readTextFile(file));
  });
}
