import { assertEquals } from "@std/assert";
import { formatHits } from "./format_hits.ts";

const BYTES = new TextEncoder().encode("eins\nzwei\r\ndrei ü\nvier");

function format(
  hits: Parameters<typeof formatHits>[0],
  context = 0,
  bytes = BYTES,
): string | undefined {
  return formatHits(hits, { bytes, context });
}

Deno.test("formatHits(): shows lines at their places, and the same without these", () => {
  const hits = [
    { line: 1, column: 0, text: "eins", offset: 0 },
    { line: 2, column: 1, text: "zwei\r", offset: 5 },
    { line: 3, column: 5, text: "drei ü", offset: 11 },
    { line: 4, column: 0, text: "vier", offset: 19 },
  ];
  const expected = "1: eins\n2: zwei\n3: drei ü\n4: vier";
  assertEquals(format(hits), expected);
  assertEquals(format(hits.map(({ offset: _offset, ...hit }) => hit)), expected);
  assertEquals(format(hits.map(({ line, column }) => ({ line, column }))), expected);
  assertEquals(format(hits.map(({ text: _text, ...hit }) => hit)), expected);
  assertEquals(format(hits.slice(1, 2), 1), "1- eins\n2: zwei\n3- drei ü");
});

Deno.test("formatHits(): a place that does not have the line is not used", () => {
  // In UTF-16, or after a byte order mark, the places of a search differ from those of the file.
  assertEquals(format([{ line: 3, column: 0, text: "drei ü", offset: 12 }]), "3: drei ü");
  assertEquals(format([{ line: 3, column: 0, text: "drei ü", offset: 500 }]), "3: drei ü");
  assertEquals(format([{ line: 1, column: 0, text: "ins", offset: 1 }]), undefined);
});

Deno.test("formatHits(): returns undefined if the file no longer has a line", () => {
  assertEquals(format([{ line: 2, column: 0, text: "other", offset: 5 }]), undefined);
  assertEquals(format([{ line: 9, column: 0 }]), undefined);
});
