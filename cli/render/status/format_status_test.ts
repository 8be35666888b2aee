import { assert, assertEquals } from "@std/assert";
import { zeroCost, zeroUsage } from "../../../src/loop/mod.ts";
import { createEncoder } from "../line/encode_line.ts";
import { getLineWidth } from "../line/line_width.ts";
import type { Display } from "../theme/display.ts";
import { ASCII_SYMBOLS, UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import { formatStatus, getGaugeRole } from "./format_status.ts";
import { formatUsageTable } from "./format_usage.ts";
import type { StatusView } from "./status_view.ts";
import type { TurnUsage } from "./turn_usage.ts";

const display: Display = {
  theme: THEMES.dark,
  colors: "none",
  hasLinks: false,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

const encode = createEncoder(display);

const status: StatusView = {
  model: "anthropic/claude-sonnet-5-5:high",
  mode: "execute",
  activity: "thinking",
  approval: "smart",
  net: "off",
  sandbox: "Landlock+seccomp",
  turn: 3,
  tokens: 12_345,
  cost: 0.0234,
  elapsedMs: 8_400,
  context: { used: 70_000, limit: 100_000 },
};

function formatAt(columns: number, options: Partial<StatusView> = {}): string {
  return encode(formatStatus({ ...status, ...options }, { columns, display }));
}

Deno.test("formatStatus(): omits fields in a defined order until the line fits", () => {
  const full =
    "EXECUTE · anthropic/claude-sonnet-5-5:high · thinking · approval smart · net off · " +
    "sandbox Landlock+seccomp · turn 3 · 12.3k tokens · $0.0234 · 8 s · context ███████░░░ 70 %";
  assertEquals(formatAt(200), full);
  assertEquals(formatAt(full.length), full);
  const lines = {
    170: full.replace(" ███████░░░", ""),
    150:
      "EXECUTE · anthropic/claude-sonnet-5-5:high · thinking · approval smart · net off · turn 3 · " +
      "12.3k tokens · $0.0234 · 8 s · context 70 %",
    120:
      "EXECUTE · anthropic/claude-sonnet-5-5:high · thinking · approval smart · net off · 12.3k tokens · " +
      "$0.0234 · context 70 %",
    100:
      "EXECUTE · claude-sonnet-5-5:high · thinking · approval smart · net off · $0.0234 · context 70 %",
    80: "EXECUTE · claude-sonnet-5-5:high · thinking · approval smart · context 70 %",
    60: "EXECUTE · claude-sonnet-5-5:high · thinking · context 70 %",
    40: "claude-sonnet-5-5:high · context 70 %",
    20: "claude-sonnet-5-5:h…",
  };
  for (const [columns, line] of Object.entries(lines)) {
    assertEquals(formatAt(Number(columns)), line);
  }
});

Deno.test("formatStatus(): shows plan mode, an unknown price, and no missing fields", () => {
  assertEquals(
    formatStatus({ model: "m", mode: "plan", cost: null }, { columns: 80, display }),
    [
      { text: "PLAN", role: "plan" },
      { text: " · ", role: "faint" },
      { text: "m", role: "text" },
      { text: " · ", role: "faint" },
      { text: "price unknown", role: "faint" },
    ],
  );
});

Deno.test("formatStatus(): --plain keeps the share of the context as long as other outputs do", () => {
  const plain = { ...display, symbols: ASCII_SYMBOLS, isPlain: true };
  assertEquals(
    encode(formatStatus(status, { columns: 60, display: plain })),
    "EXECUTE - claude-sonnet-5-5:high - thinking - context 70 %",
  );
});

Deno.test("formatStatus(): plan mode remains in every terminal", () => {
  assertEquals(formatAt(40, { mode: "plan" }), "PLAN · claude-sonnet-5-5:high");
  assertEquals(formatAt(12, { mode: "plan" }), "PLAN · clau…");
});

Deno.test("formatStatus(): fits every width and shows invisible characters as code points", () => {
  const model = "a/\x1b[31m\u202e世界世界";
  for (let columns = 1; columns < 200; columns++) {
    for (const theme of [display, { ...display, symbols: ASCII_SYMBOLS, isPlain: true }]) {
      const line = formatStatus({ ...status, model, activity: "bash x\ny" }, {
        columns,
        display: theme,
      });
      assert(getLineWidth(line) <= columns, `${columns}: ${encode(line)}`);
      // deno-lint-ignore no-control-regex -- control characters must be absent
      assert(!/[\x00-\x1f\u202e]/.test(encode(line)));
    }
  }
});

Deno.test("formatStatus(): the gauge is green below 60 %, yellow up to 85 %, and red above", () => {
  const shares = {
    0: "gaugeLow",
    0.599: "gaugeLow",
    0.6: "gaugeMedium",
    0.85: "gaugeMedium",
    0.851: "gaugeHigh",
    2: "gaugeHigh",
  };
  for (const [share, role] of Object.entries(shares)) {
    assertEquals(getGaugeRole(Number(share)), role);
  }
  const gauge = (used: number) =>
    formatAt(200, { context: { used, limit: 1_000 } }).split("context ")[1];
  assertEquals(gauge(0), "░░░░░░░░░░ 0 %");
  assertEquals(gauge(1_500), "██████████ 150 %");
  assertEquals(formatAt(200, { context: { used: 1, limit: 0 } }).includes("context"), false);
});

function createTurn(label: string, input: number, options: Partial<TurnUsage> = {}): TurnUsage {
  const usage = { ...zeroUsage(), input, output: input / 10, cacheRead: 3 * input };
  return { label, usage, cost: { ...zeroCost(), total: 0.25 }, durationMs: 4_000, ...options };
}

const turns = [
  createTurn("1 fix the test", 3_000),
  createTurn("2 add another feature", 300_000, { durationMs: 74_000 }),
];

function formatTable(columns: number, rows: readonly TurnUsage[] = turns): string[] {
  return formatUsageTable(rows, { columns, display }).map(encode);
}

Deno.test("formatUsageTable(): shows the usage of each turn and the sum", () => {
  assertEquals(formatTable(80), [
    "turn                     input   cached  output     cost        time",
    "1 fix the test           3,000    9,000     300  $0.2500       4.0 s",
    "2 add another feature  300,000  900,000  30,000  $0.2500  1 min 14 s",
    "sum                    303,000  909,000  30,300  $0.5000  1 min 18 s",
  ]);
  assertEquals(
    formatTable(40),
    [
      "turn              input  output     cost",
      "1 fix the test    3,000     300  $0.2500",
      "2 add another…  300,000  30,000  $0.2500",
      "sum             303,000  30,300  $0.5000",
    ].map((line) => line),
  );
  assertEquals(formatTable(20)[1], "1 fix the …  $0.2500");
});

Deno.test("formatUsageTable(): an unknown cost makes the sum unknown", () => {
  const unknown = createTurn("3", 1, { cost: { ...zeroCost(), total: null } });
  assertEquals(formatTable(80, [...turns, unknown]).at(-1)?.includes("price unknown"), true);
});

Deno.test("formatUsageTable(): sums up the turns before the latest ones", () => {
  const many = Array.from({ length: 60 }, (_, index) => createTurn(`turn ${index + 1}`, 10));
  const lines = formatTable(80, many);
  assertEquals(lines.length, 53);
  assertEquals(lines[1], "10 earlier    100     300      10    $2.50     40.0 s");
  assertEquals(lines[2]?.startsWith("turn 11"), true);
  assertEquals(formatTable(80, []), ["no usage yet"]);
});

Deno.test("formatUsageTable(): looks at the beginning of a long prompt only", () => {
  const options = { columns: 60, display };
  const [long, short] = [10_000_000, 1_000].map((length) =>
    formatUsageTable([createTurn("word ".repeat(length / 5), 100)], options)
  );
  assertEquals(long, short);
});

Deno.test("formatUsageTable(): fits every width", () => {
  for (let columns = 1; columns < 100; columns++) {
    for (const line of formatUsageTable(turns, { columns, display })) {
      assert(getLineWidth(line) <= columns, encode(line));
    }
  }
});
