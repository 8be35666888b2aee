import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { createModeHighlighter } from "../highlight/mode_highlighter.ts";
import type { Line } from "../line/line.ts";
import { getSpeakerLabel } from "../line/speaker_label.ts";
import type { Display } from "../theme/display.ts";
import { ASCII_SYMBOLS, UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import { type MarkdownOptions, MarkdownRenderer } from "./markdown_renderer.ts";
import { ThinkingRenderer } from "./thinking_renderer.ts";

const display: Display = {
  theme: THEMES.dark,
  colors: "basic",
  hasLinks: false,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

const highlighter = createModeHighlighter({ now: () => 0 });

function createRenderer(options: Partial<MarkdownOptions> = {}): MarkdownRenderer {
  return new MarkdownRenderer({ getColumns: () => 20, display, now: () => 0, ...options });
}

function toText(lines: readonly Line[]): string[] {
  return lines.map((line) => line.map(({ text }) => text).join(""));
}

Deno.test("MarkdownRenderer: returns a row as soon as the next word does not fit", () => {
  const renderer = createRenderer();
  assertEquals(toText(renderer.push("one two three four ")), []);
  assertEquals(toText(renderer.open), ["one two three four"]);
  assertEquals(toText(renderer.push("fi")), []);
  assertEquals(toText(renderer.open), ["one two three four", "fi"]);
  assertEquals(toText(renderer.push("ve ")), ["one two three four"]);
  assertEquals(toText(renderer.push("six\n\nnext")), ["five six", ""]);
  assertEquals(toText(renderer.open), ["next"]);
  assertEquals(toText(renderer.end()), ["next"]);
});

Deno.test("MarkdownRenderer: a blank line separates quotes, and one with a mark continues a quote", () => {
  const render = (text: string) => {
    const renderer = createRenderer();
    return toText([...renderer.push(text), ...renderer.end()]);
  };
  assertEquals(render("> a\n\n> b"), ["│ a", "", "│ b"]);
  assertEquals(render("> - a\n\n> - b"), ["│ • a", "", "│ • b"]);
  assertEquals(render("> a\n>\n> b"), ["│ a", "│", "│ b"]);
});

Deno.test("MarkdownRenderer: holds rows with open emphasis, and shows it as if it ended", () => {
  const renderer = createRenderer();
  assertEquals(renderer.push("one **two three four five six seven "), []);
  assertEquals(toText(renderer.open), ["one two three four", "five six seven"]);
  assertEquals(renderer.open[1], [{ text: "five six seven", bold: true }]);
  assertEquals(toText(renderer.push("eight** nine ")), [
    "one two three four",
    "five six seven eight",
  ]);
});

Deno.test("MarkdownRenderer: shows emphasis that is not closed within 1,000 characters as text", () => {
  const renderer = createRenderer();
  const words = "word ".repeat(199);
  assertEquals(renderer.push(`**${words}`), []);
  assert(renderer.push("word word ").length > 40);
  assertEquals(toText(renderer.end()), ["word word"]);
});

Deno.test("MarkdownRenderer: shows the delimiters of a paragraph that ends within emphasis", () => {
  const renderer = createRenderer();
  assertEquals(toText(renderer.push("a **b `c\n\n")), ["a **b `c"]);
});

Deno.test("MarkdownRenderer: holds a line until the next one cannot turn it into a heading or a table", () => {
  const renderer = createRenderer();
  assertEquals(renderer.push("Title\n"), []);
  assertEquals(toText(renderer.push("===\n")), ["Title"]);
  assertEquals(toText(renderer.push("text\n--")), []);
  assertEquals(toText(renderer.push("-\n")), ["", "text"]);
  assertEquals(renderer.push("| a |\n"), []);
  assertEquals(toText(renderer.push("no table\n")), ["| a |"]);
});

Deno.test("MarkdownRenderer: returns lines of code one by one, highlighted, between their fences", () => {
  const renderer = createRenderer({ highlighter });
  assertEquals(toText(renderer.push("```ts")), []);
  assertEquals(toText(renderer.push("\n")), ["```ts"]);
  assertEquals(renderer.push("const a"), []);
  assertEquals(renderer.open, [[
    { text: "const", role: "keyword" },
    { text: " " },
    { text: "a", role: "name" },
  ]]);
  assertEquals(toText(renderer.push(" = 1;\n")), ["const a = 1;"]);
  assertEquals(toText(renderer.push("``")), []);
  assertEquals(toText(renderer.push("`\n")), ["```"]);
  assertEquals(renderer.end(), []);
});

Deno.test("MarkdownRenderer: breaks the text of a fence that is wider than the terminal", () => {
  const renderer = createRenderer();
  assertEquals(toText(renderer.push('- ```ts title="sum_of_prices"\n')), [
    '• ```ts title="sum_o',
    '  f_prices"',
  ]);
  assertEquals(toText(renderer.end()), ["  ```"]);
});

Deno.test("MarkdownRenderer: ends an open fence at the end of the text", () => {
  const renderer = createRenderer();
  assertEquals(toText(renderer.push("~~~\ncode")), ["~~~"]);
  assertEquals(toText(renderer.end()), ["code", "~~~"]);
});

Deno.test("MarkdownRenderer: writes a long line of code while it arrives", () => {
  const renderer = createRenderer();
  renderer.push("```\n");
  let rows = 0;
  for (let part = 0; part < 1_000; part++) rows += renderer.push("0123456789").length;
  assertEquals(rows, 499);
  assertEquals(toText(renderer.open), ["01234567890123456789"]);
  assertEquals(toText(renderer.push("\nend\n")), ["01234567890123456789", "end"]);
});

const TABLE = "| a | b |\n|---|---|\n";

Deno.test("MarkdownRenderer: holds a table until it ends", () => {
  const renderer = createRenderer();
  assertEquals(renderer.push(TABLE), []);
  assertEquals(toText(renderer.open), ["table, 0 rows"]);
  assertEquals(renderer.push("| long cell | x |\n"), []);
  assertEquals(toText(renderer.open), ["table, 1 row"]);
  assertEquals(toText(renderer.push("\n")), ["a         │ b", "──────────┼──", "long cell │ x"]);
});

Deno.test("MarkdownRenderer: writes a table after 40 rows, and further rows with the same columns", () => {
  const renderer = createRenderer();
  renderer.push(TABLE);
  for (let row = 1; row < 40; row++) assertEquals(renderer.push(`| ${row} | x |\n`), []);
  assertEquals(renderer.push("| 40 | x |\n").length, 42);
  assertEquals(renderer.open, []);
  assertEquals(toText(renderer.push("| 4100 | y |\n")), ["41 │ y", "00 │"]);
});

Deno.test("MarkdownRenderer: writes a table that stops growing for two seconds", () => {
  let now = 0;
  const renderer = createRenderer({ now: () => now });
  renderer.push(`${TABLE}| c | d |\n`);
  now = 1_999;
  assertEquals(renderer.poll(), []);
  now = 2_000;
  assertEquals(toText(renderer.poll()), ["a │ b", "──┼──", "c │ d"]);
  assertEquals(renderer.poll(), []);
  assertEquals(toText(renderer.push("| e | f |\n")), ["e │ f"]);
  assertEquals(renderer.end(), []);
});

Deno.test("MarkdownRenderer: chunks are checked for a table that is held for too long, where nothing polls", () => {
  let now = 0;
  const renderer = createRenderer({ now: () => now });
  renderer.push(TABLE);
  now = 5_000;
  assertEquals(toText(renderer.push("|")), ["a │ b", "──┼──"]);
});

Deno.test("MarkdownRenderer: counts items up where the source repeats a number, and keeps other numbers", () => {
  const renderer = createRenderer();
  const lines = [...renderer.push("1. a\n3. b\n3. c\n3. d\n9. e\n"), ...renderer.end()];
  assertEquals(toText(lines), ["1. a", "3. b", "4. c", "5. d", "9. e"]);
});

Deno.test("MarkdownRenderer: leaves half of the terminal for deeply nested text", () => {
  const renderer = createRenderer();
  const lines = [...renderer.push(`${"> ".repeat(12)}one two three\n`), ...renderer.end()];
  assertEquals(toText(lines), ["│ │ │ │ │ one two", "│ │ │ │ │ three"]);
});

Deno.test("MarkdownRenderer: follows a change of the width", () => {
  let columns = 20;
  const renderer = createRenderer({ getColumns: () => columns });
  assertEquals(toText(renderer.push("one two three four five ")), ["one two three four"]);
  columns = 9;
  assertEquals(toText(renderer.push("six seven eight\n\n")), ["five six", "seven", "eight"]);
});

Deno.test("MarkdownRenderer: writes a label before the first row and an indentation before all", () => {
  const renderer = createRenderer({
    label: getSpeakerLabel("assistant", { ...display, symbols: ASCII_SYMBOLS, isPlain: true }),
    indent: [{ text: "  " }],
  });
  assertEquals(
    toText([...renderer.push("one two\n\n- three\n"), ...renderer.end()]),
    [
      "  assistant: one two",
      "",
      "  • three",
    ].map((line) => line === "" ? "  " : line),
  );
});

Deno.test("MarkdownRenderer: text in a style keeps the roles of code and links", () => {
  const renderer = createRenderer({ style: { role: "thinking", dim: true } });
  renderer.push("a `b` **c**");
  assertEquals(renderer.end(), [[
    { text: "a ", role: "thinking", dim: true },
    { text: "b", role: "code", dim: true },
    { text: " ", role: "thinking", dim: true },
    { text: "c", role: "thinking", dim: true, bold: true },
  ]]);
});

Deno.test("MarkdownRenderer: returns rows of scripts without spaces as they arrive", () => {
  const renderer = createRenderer();
  assertEquals(toText(renderer.push("世界".repeat(8))), ["世界世界世界世界世界"]);
  assertEquals(toText(renderer.push("**世界**世界")), []);
  assertEquals(renderer.end(), [[
    { text: "世界世界世界" },
    { text: "世界", bold: true },
    { text: "世界" },
  ]]);
});

Deno.test("MarkdownRenderer: returns nothing for an empty text and one of empty lines", () => {
  for (const text of ["", "\n\n", "   \n", "\x1b[2J"]) {
    const renderer = createRenderer();
    assertEquals([...renderer.push(text), ...renderer.end()], []);
    assertEquals(renderer.open, []);
  }
});

Deno.test("MarkdownRenderer: does not show half of a character that arrives in two chunks", () => {
  const renderer = createRenderer();
  renderer.push("a \ud83d");
  assertEquals(toText(renderer.open), ["a"]);
  renderer.push("\udc4b");
  assertEquals(toText(renderer.open), ["a 👋"]);
});

Deno.test("ThinkingRenderer: shows its duration while it is hidden", () => {
  let now = 0;
  let isHidden = false;
  const options = { getColumns: () => 20, display, now: () => now, isHidden: () => isHidden };
  const renderer = new ThinkingRenderer(options);
  assertEquals(renderer.push("first\n\nsecond\n\n"), [
    [{ text: "first", role: "thinking", dim: true, italic: true }],
    [],
    [{ text: "second", role: "thinking", dim: true, italic: true }],
  ]);
  isHidden = true;
  now = 3_200;
  assertEquals(renderer.push("third\n\n"), []);
  assertEquals(toText(renderer.open), ["thinking · 3.2 s"]);
  assertEquals(toText(renderer.end()), ["thought for 3.2 s"]);
});

/** Texts that could take quadratic time, repeated to any length. */
const HOSTILE = [
  "**a ",
  "*",
  "_a_ ",
  "[",
  "[a](",
  "`",
  "``a` ",
  "<",
  "![",
  "&amp;",
  "\\",
  "~~a",
  "https://a.b/)))",
  "(",
  "> ",
  "- ",
  "1. ",
  "\t",
  " ",
  "|",
  "| a ",
  "|-",
  "\n- a",
  "\n> ".repeat(20),
  "\n```\n",
  "\n| a | b |",
  "世",
  "👨‍👩‍👧",
  "e\u0301",
  "\u0301",
  "#",
  "-",
  "=",
  "\x1b]",
  "\u202e",
] as const;

for (const piece of HOSTILE) {
  Deno.test(`MarkdownRenderer: takes time in proportion to the repetition of ${JSON.stringify(piece)}`, () => {
    for (const prefix of ["", "```ts\n", "| a | b |\n|---|---|\n"]) {
      const measureLength = (length: number) =>
        measure(prefix + piece.repeat(Math.ceil(length / piece.length)));
      if (measureLength(12_000) < 100) continue;
      // Four times the length takes four times as long, or sixteen times if it is quadratic. The collection of garbage and the
      // compilation of the code may take longer than one of the measurements, so one of three is enough.
      const isInProportion = [1, 2, 3].some(() => measureLength(12_000) / measureLength(3_000) < 9);
      assert(isInProportion, JSON.stringify(prefix));
    }
  });
}

/** Characters of a chunk. */
const CHUNK = 7;

/** Measures the time for a text in small chunks, whose open rows are read now and then. */
function measure(text: string): number {
  const getTime = startThreadTimer();
  const renderer = createRenderer({ getColumns: () => 80, highlighter });
  for (let at = 0; at < text.length; at += CHUNK) {
    renderer.push(text.slice(at, at + CHUNK));
    if (at % (10 * CHUNK) === 0) renderer.open;
  }
  renderer.end();
  return getTime();
}
