import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { errorResult, textResult } from "../../../mod.ts";
import { createModeHighlighter } from "../highlight/mode_highlighter.ts";
import { createEncoder } from "../line/encode_line.ts";
import type { Line } from "../line/line.ts";
import { getLineWidth } from "../line/line_width.ts";
import type { Display } from "../theme/display.ts";
import { ASCII_SYMBOLS, UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import type { CallView } from "./call_view.ts";
import { formatEndedCall, formatRunningCalls } from "./format_calls.ts";
import { formatExpandedCall } from "./format_expanded_call.ts";

const display: Display = {
  theme: THEMES.dark,
  colors: "none",
  hasLinks: false,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

const encode = createEncoder(display);
const highlighter = createModeHighlighter({ now: () => 0 });

function endCall(
  call: Partial<CallView>,
  text: string,
  options: { durationMs?: number; isError?: boolean } = {},
): CallView {
  const { durationMs = 20, isError = false } = options;
  const result = isError ? errorResult(text) : textResult(text);
  return {
    number: 1,
    name: "bash",
    arguments: {},
    startedAt: 1_000,
    end: { endedAt: 1_000 + durationMs, result, isError },
    ...call,
  };
}

function formatAt(columns: number, call: CallView): string {
  return encode(formatEndedCall(call, { columns, display }));
}

const test = endCall(
  { number: 12, arguments: { command: "deno test --quiet\n  --filter name" } },
  "Exit code: 1\nFAILED one\ntwo\nthree",
  { durationMs: 12_345 },
);

Deno.test("formatEndedCall(): shows icon, name, argument, duration, first line of the result and number", () => {
  const lines = {
    40: "✗ bash deno te… · 12.3 s · Exit co… [12]",
    60: "✗ bash deno test --quiet… · 12.3 s · Exit code: 1 · FA… [12]",
    80: "✗ bash deno test --quiet --filter … · 12.3 s · Exit code: 1 · FAILED one ·… [12]",
    120:
      "✗ bash deno test --quiet --filter name · 12.3 s · Exit code: 1 · FAILED one · +2 lines [12]",
  };
  for (const [columns, line] of Object.entries(lines)) {
    assertEquals(formatAt(Number(columns), test), line);
  }
});

Deno.test("formatEndedCall(): uses all columns for the result of a call without an argument", () => {
  const call = endCall({}, "0123456789");
  const line = "• bash · 0123456789 [1]";
  assertEquals(formatAt(line.length, call), line);
  assertEquals(formatAt(line.length - 1, call), "• bash · 01234567… [1]");
});

Deno.test("formatEndedCall(): summarizes results by their first line", () => {
  const call = { arguments: { command: "x" } };
  const summaries = {
    "Exit code: 0": "no output",
    "Exit code: 0\nfirst\nsecond": "first · +1 line",
    "Exit code: 3": "Exit code: 3",
    "Exit code: 0\n\x1b[31mred\x1b[0m \u202e": "red <U+202E>",
    "": "no output",
    "  padded  ": "padded",
  };
  for (const [text, summary] of Object.entries(summaries)) {
    const line = formatAt(80, endCall(call, text));
    assertEquals(line.replace(/^. bash x · (.*) \[1\]$/, "$1"), summary, text);
  }
  const read = endCall(
    { name: "read_file", arguments: { path: "a.ts" } },
    "  1\tconst a = 1;\n  2\t",
  );
  assertEquals(formatAt(80, read), "• read_file a.ts · const a = 1; · +1 line [1]");
});

Deno.test("formatEndedCall(): shows errors and refusals", () => {
  const read = { name: "read_file", arguments: { path: "a" } };
  assertEquals(
    formatAt(80, endCall(read, "Invalid arguments:\npath: must be a string", { isError: true })),
    "✗ read_file a · Invalid arguments: path: must be a string [1]",
  );
  const denied = "Tool call rejected by approval: the user denied it at the terminal";
  assertEquals(
    formatAt(80, endCall(read, denied, { isError: true })),
    "✗ read_file a · Refused: you said no. [1]",
  );
});

Deno.test("formatEndedCall(): colors the icon by the result, and inverts a selected call", () => {
  const getRole = (call: CallView) => formatEndedCall(call, { columns: 80, display })[0]?.role;
  assertEquals(getRole(endCall({}, "Exit code: 0")), "success");
  assertEquals(getRole(endCall({}, "Exit code: 1")), "warning");
  assertEquals(getRole(endCall({}, "x", { isError: true })), "error");
  const selected = formatEndedCall(test, { columns: 80, display, isSelected: true });
  assert(selected.every(({ role }) => role === "selected"));
});

Deno.test("formatEndedCall(): states the result in words with --plain", () => {
  const plain = { ...display, symbols: ASCII_SYMBOLS, isPlain: true };
  assertEquals(
    encode(formatEndedCall(test, { columns: 120, display: plain })),
    "tool: failed bash deno test --quiet --filter name - 12.3 s - Exit code: 1 · FAILED one · +2 lines [12]"
      .replaceAll(" · ", " - "),
  );
});

Deno.test("formatRunningCalls(): shows the elapsed time and the last line of output, and counts the rest", () => {
  const running = (number: number, output?: string): CallView => ({
    number,
    name: "bash",
    arguments: { command: "deno test" },
    startedAt: 1_000,
    output,
  });
  const calls = [running(1, "one\ntwo  \n\n"), running(2), running(3), running(4)];
  const format = (maxRows: number) =>
    formatRunningCalls(calls, { columns: 60, display, now: 13_900, maxRows }).map(encode);
  assertEquals(format(3), [
    "◌ bash deno test · 12 s · two",
    "◌ bash deno test · 12 s",
    "+2 more",
  ]);
  assertEquals(format(4).length, 4);
  const waiting = { ...running(5), isWaiting: true };
  const options = { columns: 60, display, now: 13_900, maxRows: 1 };
  assertEquals(formatRunningCalls([waiting], options).map(encode), [
    "◌ bash deno test · waits",
  ]);
  assertEquals(format(1), ["+4 more"]);
  assertEquals(format(0), []);
});

function expand(call: CallView, maxLines?: number): string[] {
  const hint = "/expand shows all";
  return formatExpandedCall(call, { columns: 60, display, highlighter, maxLines, hint }).map(
    encode,
  );
}

Deno.test("formatExpandedCall(): shows arguments that the first line cannot, and the result", () => {
  assertEquals(expand(test).slice(1), [
    "  command:",
    "    deno test --quiet",
    "      --filter name",
    "  Exit code: 1",
    "  FAILED one",
    "  two",
    "  three",
  ]);
  const weather = endCall({ name: "weather", arguments: { city: "Bern" } }, '{"temp":12}');
  assertEquals(expand(weather).slice(1), ['  {"temp":12}']);
});

Deno.test("formatExpandedCall(): cuts a long result and states how to see the rest", () => {
  const long = endCall(
    { arguments: { command: "x" } },
    Array.from({ length: 99 }, (_, index) => `line ${index}`).join("\n"),
  );
  assertEquals(expand(long, 2).slice(1), [
    "  line 0",
    "  line 1",
    "  … 97 more lines · /expand shows all",
  ]);
  const wide = endCall({ arguments: { command: "x" } }, "y".repeat(1_000));
  assertEquals(expand(wide, 2).slice(1), [
    `  ${"y".repeat(58)}`,
    `  ${"y".repeat(58)}`,
    "  … 1 more line · /expand shows all",
  ]);
});

Deno.test("formatExpandedCall(): highlights files by their type, with their line numbers", () => {
  const read = endCall(
    { name: "read_file", arguments: { path: "a.ts" } },
    "9\tconst a = 1;\n10\t// done",
  );
  const lines = formatExpandedCall(read, { columns: 60, display, highlighter });
  assertEquals(lines.map(encode).slice(1), ["   9  const a = 1;", "  10  // done"]);
  const roles = (line: Line | undefined) => line?.map(({ role }) => role).filter(Boolean);
  assertEquals(roles(lines[1]), ["faint", "keyword", "name", "number"]);
  assertEquals(roles(lines[2]), ["faint", "comment"]);
});

Deno.test("formatExpandedCall(): shows the changes of files instead of the result", () => {
  const changes = [{ path: "a.ts", before: "a\n", after: "b\n" }];
  const edit = { name: "edit_file", arguments: { path: "a.ts", edits: ["…"] }, changes };
  assertEquals(expand(endCall(edit, "Edited a.ts (+1 -1)")), [
    "• edit_file a.ts · Edited a.ts (+1 -1) [1]",
    "  a.ts (+1, -1)",
    "  1 - a",
    "  1 + b",
  ]);
  assertEquals(expand(endCall(edit, "No match", { isError: true })).slice(1), [
    "  edits:",
    "    [",
    '      "…"',
    "    ]",
    "  No match",
  ]);
});

Deno.test("formatExpandedCall(): names content that is no text", () => {
  const call = endCall({ name: "read_file", arguments: { path: "a.png" } }, "");
  const image = {
    type: "image",
    source: { type: "base64", mediaType: "image/png", data: "" },
  } as const;
  const end = { endedAt: 0, isError: false, result: { content: [image] } };
  assertEquals(expand({ ...call, end }), ["• read_file a.png · image [1]", "  [image]"]);
});

const text = fc.array(
  fc.constantFrom(
    "a",
    "word ",
    "\n",
    "世界",
    "\x1b[31m",
    "\u202e",
    "\t",
    "x".repeat(50),
    "👨‍👩‍👧",
    "\r\n",
    "1\t",
  ),
  { maxLength: 20 },
).map((parts) => parts.join(""));

Deno.test("tool calls: no line is wider than the terminal or contains a control character", () => {
  fc.assert(
    fc.property(
      text,
      text,
      text,
      fc.constantFrom(20, 40, 60, 80),
      (name, argument, output, columns) => {
        const call: CallView = {
          number: 3,
          name,
          arguments: { path: argument, [argument]: { nested: output } },
          startedAt: 0,
          output,
        };
        const ended = endCall({ ...call }, output);
        for (const theme of [display, { ...display, symbols: ASCII_SYMBOLS, isPlain: true }]) {
          const options = { columns, display: theme, highlighter, maxLines: 10 };
          const lines = [
            ...formatRunningCalls([call], { ...options, now: 99_999, maxRows: 3 }),
            ...formatExpandedCall({ ...call, end: ended.end }, options),
          ];
          for (const line of lines) {
            assert(getLineWidth(line) <= columns, JSON.stringify(line));
            // deno-lint-ignore no-control-regex -- control characters must be absent
            assert(!/[\x00-\x1f\x7f-\x9f\u202e]/.test(encode(line)), JSON.stringify(line));
          }
        }
      },
    ),
    { numRuns: 400 },
  );
});
