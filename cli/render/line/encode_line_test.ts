import { assertEquals } from "@std/assert";
import type { Display } from "../theme/display.ts";
import { ASCII_SYMBOLS, UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import { createEncoder } from "./encode_line.ts";
import { padLine, truncateLine } from "./line_width.ts";
import { addStreamingMark } from "./streaming_mark.ts";

const display: Display = {
  theme: THEMES.dark,
  colors: "basic",
  hasLinks: true,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

Deno.test("createEncoder(): encodes roles and styles, and resets them", () => {
  const encode = createEncoder(display);
  assertEquals(encode([{ text: "plain" }]), "plain");
  assertEquals(
    encode([{ text: "a" }, { text: "b", role: "error" }, { text: "c", role: "error", bold: true }]),
    "a\x1b[31mb\x1b[0m\x1b[1;31mc\x1b[0m",
  );
  assertEquals(encode([{ text: "x", role: "heading", bold: false }]), "\x1b[94mx\x1b[0m");
});

Deno.test("createEncoder(): replaces characters that a terminal without Unicode does not show", () => {
  const line = [{ text: "a · b … “é” — 日" }];
  assertEquals(createEncoder({ ...display, symbols: ASCII_SYMBOLS })(line), 'a - b ~ "é" - 日');
  const plain = { ...display, symbols: ASCII_SYMBOLS, isPlain: true, colors: "none" } as const;
  assertEquals(createEncoder(plain)(line), "a · b … “é” — 日");
  assertEquals(createEncoder(display)(line), "a · b … “é” — 日");
});

Deno.test("createEncoder(): encodes links where the terminal shows them", () => {
  const link = { text: "docs", link: "https://example.org/a?b=c" };
  assertEquals(
    createEncoder(display)([link]),
    "\x1b]8;;https://example.org/a?b=c\x1b\\docs\x1b]8;;\x1b\\",
  );
  assertEquals(createEncoder({ ...display, hasLinks: false })([link]), "docs");
});

Deno.test("createEncoder(): drops the link of an address that could end its sequence", () => {
  const encode = createEncoder(display);
  for (const address of ["https://a\x07b", "https://a\x1b\\b", "https://a b", "https://ä"]) {
    assertEquals(encode([{ text: "docs", link: address }]), "docs");
  }
  assertEquals(encode([{ text: "docs", link: `https://${"a".repeat(2_000)}` }]), "docs");
});

Deno.test("createEncoder(): shows control characters as code points", () => {
  const encode = createEncoder(display);
  assertEquals(
    encode([{ text: "a\x1b[31mb\x07\n\r\x9b\u202e", role: "warning" }]),
    "\x1b[33ma<U+001B>[31mb<U+0007><U+000A><U+000D><U+009B><U+202E>\x1b[0m",
  );
});

Deno.test("createEncoder(): writes no escape byte without colors, and no spaces at the end", () => {
  const encode = createEncoder({ ...display, colors: "none", symbols: ASCII_SYMBOLS });
  const line = [{ text: "a", role: "error", link: "https://example.org" }, { text: "  " }] as const;
  assertEquals(encode(line), "a");
});

Deno.test("truncateLine(): ends a truncated line with an ellipsis", () => {
  const line = [{ text: "one " }, { text: "two", role: "tool", link: "https://a" }] as const;
  assertEquals(truncateLine(line, { columns: 7 }), line);
  assertEquals(truncateLine(line, { columns: 6 }), [
    { text: "one " },
    { text: "t", role: "tool", link: "https://a" },
    { text: "…", role: "tool" },
  ]);
  assertEquals(truncateLine(line, { columns: 6, ellipsis: "..." }), [{ text: "one..." }]);
  assertEquals(truncateLine([{ text: "世界世" }], { columns: 5 }), [{ text: "世界…" }]);
  assertEquals(truncateLine([{ text: "abc" }], { columns: 0 }), []);
});

Deno.test("padLine(): adds the missing columns", () => {
  const line = [{ text: "世" }];
  assertEquals(padLine(line, { columns: 4 }), [...line, { text: "  " }]);
  assertEquals(padLine(line, { columns: 4, align: "right" }), [{ text: "  " }, ...line]);
  assertEquals(padLine(line, { columns: 5, align: "center" }), [
    { text: " " },
    ...line,
    { text: "  " },
  ]);
  assertEquals(padLine(line, { columns: 1 }), line);
});

Deno.test("addStreamingMark(): blinks behind the last row, or on a new one if it is full", () => {
  const rows = [[{ text: "one" }], [{ text: "two" }]];
  const add = (columns: number, now: number) =>
    addStreamingMark(rows, { display, columns, now }).map((line) =>
      line.map(({ text }) => text).join("")
    );
  assertEquals(add(10, 0), ["one", "two▌"]);
  assertEquals(add(10, 500), ["one", "two "]);
  assertEquals(add(3, 1_000), ["one", "two", "▌"]);
  assertEquals(addStreamingMark([], { display, columns: 10, now: 0 }).length, 1);
});
