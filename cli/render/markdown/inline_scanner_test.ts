import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { joinSpans } from "../line/append_span.ts";
import type { Display } from "../theme/display.ts";
import { UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import { InlineScanner } from "./inline_scanner.ts";
import { renderInline } from "./inline_spans.ts";

const display: Display = {
  theme: THEMES.dark,
  colors: "basic",
  hasLinks: true,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

/** Divides a text wherever the scanner allows it. */
function divide(text: string): string[] {
  const scanner = new InlineScanner();
  const parts: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const division = scanner.read(text[index] ?? "");
    if (!division) continue;
    const end = division === "behind" ? index + 1 : index;
    if (end > start) parts.push(text.slice(start, end));
    start = end;
  }
  return [...parts, text.slice(start)].filter((part) => part !== "");
}

Deno.test("InlineScanner: divides text at spaces outside of markup", () => {
  const divisions: Readonly<Record<string, readonly string[]>> = {
    "one two": ["one ", "two"],
    "a **b c** d": ["a ", "**b c** ", "d"],
    "a *b **c d** e* f": ["a ", "*b **c d** e* ", "f"],
    "a `b c` d": ["a ", "`b c` ", "d"],
    "a ``b ` c`` d": ["a ", "``b ` c`` ", "d"],
    "a [b c](d e) f": ["a ", "[b c](d e) ", "f"],
    "a [b](c(d e) f) g": ["a ", "[b](c(d e) f) ", "g"],
    "a ~~b c~~ d": ["a ", "~~b c~~ ", "d"],
    "ab世界 c世": ["ab世", "界 ", "c世"],
    "https://a.org/世界世 世界": ["https://a.org/世界世 ", "世", "界"],
    "世見https://a.org/世界。世": ["世", "見https://a.org/世界", "。", "世"],
  };
  for (const [text, parts] of Object.entries(divisions)) assertEquals(divide(text), parts, text);
});

Deno.test("InlineScanner: delimiters that cannot open or are escaped do not delay the text", () => {
  for (
    const text of [
      "2 * 3 * 4",
      "snake_case_name is",
      "~5 ms and ~6 ms",
      "a \\* b \\[ c",
      "a] b) c",
      "a** b",
    ]
  ) {
    assertEquals(divide(text).length, text.split(" ").length, text);
  }
});

Deno.test("InlineScanner: an open delimiter delays the rest", () => {
  for (const text of ["a **b c d", "a `b c d", "a [b c d", "a *b c_ d"]) {
    assertEquals(divide(text), ["a ", text.slice(2)], text);
  }
});

Deno.test("InlineScanner: complete() returns the delimiters that end what is open", () => {
  const complete = (text: string) => {
    const scanner = new InlineScanner();
    for (const character of text) scanner.read(character);
    return scanner.complete();
  };
  const completions = {
    "a **b": "**",
    "a **b *c": "***",
    "a `b": "`",
    "a **b `c": "`**",
    "a **b**": "",
    "a **": "",
    "a b": "",
  };
  for (const [text, completion] of Object.entries(completions)) {
    assertEquals(complete(text), completion, text);
  }
});

Deno.test("InlineScanner: parts look as in the complete text, except where lengths of runs add up to multiples of three", () => {
  const piece = fc.constantFrom(
    "a",
    "b ",
    " ",
    "*",
    "**",
    "_",
    "__",
    "`",
    "``",
    "~~",
    "~",
    "[",
    "](u)",
    ")",
    "\\",
    ".",
    "世界",
    "<b>",
  );
  const text = fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) =>
    pieces.join("").trim()
  );
  let different = 0;
  const runs = 5_000;
  fc.assert(
    fc.property(text, (source) => {
      const parts = divide(source).flatMap((part) => renderInline(part, { display }));
      const complete = renderInline(source, { display });
      if (JSON.stringify(joinSpans(parts)) !== JSON.stringify(joinSpans(complete))) different++;
    }),
    { numRuns: runs },
  );
  assert(different < runs / 500, `${different} of ${runs}`);
});
