import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createModeHighlighter } from "../highlight/mode_highlighter.ts";
import { createEncoder } from "../line/encode_line.ts";
import type { Line } from "../line/line.ts";
import { getLineWidth } from "../line/line_width.ts";
import type { Display } from "../theme/display.ts";
import { ASCII_SYMBOLS, UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import { MarkdownRenderer } from "./markdown_renderer.ts";

const RUNS = Deno.env.get("SWINK_PROVE") === "1" ? 50_000 : 350;

const highlighter = createModeHighlighter({ now: () => 0 });

const colored: Display = {
  theme: THEMES.dark,
  colors: "true_color",
  hasLinks: true,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

const plain: Display = {
  ...colored,
  colors: "none",
  hasLinks: false,
  symbols: ASCII_SYMBOLS,
  isPlain: true,
};

function createRenderer(columns: number, display: Display = colored): MarkdownRenderer {
  return new MarkdownRenderer({ getColumns: () => columns, display, now: () => 0, highlighter });
}

function renderWhole(text: string, columns: number, display?: Display): Line[] {
  const renderer = createRenderer(columns, display);
  return [...renderer.push(text), ...renderer.end()];
}

const fragment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("\n", " ", "\n\n", "word ", "longer words here ") },
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      ..."#*_`~[]()<>!|-+=:\\&;.1axé世\t\r",
      "- ",
      "* ",
      "1. ",
      "2) ",
      "> ",
      "  ",
      "    ",
      "```",
      "```ts\n",
      "~~~\n",
      "**",
      "***",
      "~~",
      "[x] ",
      "[ ] ",
      "[link](https://example.org)",
      "![image](x.png)",
      "<https://example.org/a_b>",
      "https://example.org/(a).",
      "https://example.org/世",
      "世界。",
      "| a | b |\n|---|:-:|\n",
      "| c | `d|e` |\n",
      "a | b\n-|-\n",
      "---\n",
      "===\n",
      "<br>",
      "<b>",
      "&amp;",
      "&#8238;",
      "&#27;",
      "\u202e",
      "\x1b[31m",
      "\x1b]0;",
      "\x9b",
      "👨‍👩‍👧",
      "\ud83d",
      "e\u0301",
      "x".repeat(90),
      "const a = 1; // b",
    ),
  },
);

const markdown = fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join(""));

const columnCounts = fc.constantFrom(10, 17, 40, 60, 80, 120);

// deno-lint-ignore no-control-regex -- control characters must be absent
const CONTROL = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

Deno.test("MarkdownRenderer: returns the same lines when the text is split anywhere and open rows are read", () => {
  fc.assert(
    fc.property(
      markdown,
      columnCounts,
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      (text, columns, sizes) => {
        const expected = renderWhole(text, columns);
        const renderer = createRenderer(columns);
        const lines: Line[] = [];
        for (let at = 0; at < text.length;) {
          const end = at + (sizes.next().value ?? 1);
          lines.push(...renderer.push(text.slice(at, end)));
          for (const row of renderer.open) {
            assert(
              getLineWidth(row) <= columns,
              JSON.stringify(row),
            );
          }
          at = end;
        }
        assertEquals([...lines, ...renderer.end()], expected);
      },
    ),
    { numRuns: RUNS },
  );
});

Deno.test("MarkdownRenderer: no line is wider than the terminal or contains a control character", () => {
  fc.assert(
    fc.property(markdown, columnCounts, (text, columns) => {
      for (const display of [colored, plain]) {
        for (const line of renderWhole(text, columns, display)) {
          assert(getLineWidth(line) <= columns, JSON.stringify(line));
          for (const span of line) assert(!CONTROL.test(span.text), JSON.stringify(line));
        }
      }
    }),
    { numRuns: RUNS },
  );
});

Deno.test("MarkdownRenderer: writes only its own escape sequences, and none without colors", () => {
  const encodeColored = createEncoder(colored);
  const encodePlain = createEncoder(plain);
  // deno-lint-ignore no-control-regex -- the sequences of the encoder
  const own = /\x1b\[[0-9;]*m|\x1b\]8;;[!-~]*\x1b\\/g;
  fc.assert(
    fc.property(markdown, (text) => {
      for (const line of renderWhole(text, 60)) {
        const encoded = encodeColored(line);
        assert(!CONTROL.test(encoded.replace(own, "")), JSON.stringify(encoded));
      }
      for (const line of renderWhole(text, 60, plain)) assert(!CONTROL.test(encodePlain(line)));
    }),
    { numRuns: RUNS },
  );
});

Deno.test("MarkdownRenderer: keeps every letter and digit of the text", () => {
  const words = fc.array(
    fc.oneof(
      fc.stringMatching(/^[a-z]{2,8}$/),
      fc.constantFrom(
        " ",
        "\n",
        "\n\n",
        "*",
        "**",
        "`",
        "_",
        "[",
        "]",
        "(",
        ")",
        "|",
        "> ",
        "- ",
        "# ",
        "~",
        "<",
        ">",
      ),
    ),
    { maxLength: 40 },
  ).map((parts) => parts.join(""));
  fc.assert(
    fc.property(words, columnCounts, (text, columns) => {
      const shown = renderWhole(text, columns).flat().map((span) => span.text).join("");
      assertEquals(countLetters(shown), countLetters(text.replaceAll(/!\[/g, "[")));
    }),
    { numRuns: RUNS },
  );
});

/** Counts each letter. Links show their address after their text, so that nothing is lost. */
function countLetters(text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const letter of [...text].filter((character) => /[a-z]/.test(character)).sort()) {
    counts[letter] = (counts[letter] ?? 0) + 1;
  }
  return counts;
}
