import { assert, assertEquals } from "@std/assert";
import { formatNumber, TextCollector, truncateEnd, truncateMiddle } from "./output_limit.ts";

Deno.test("truncateMiddle() returns a short text unchanged", () => {
  assertEquals(truncateMiddle("a\nb", { limit: 10 }), {
    text: "a\nb",
    totalCharacters: 3,
    truncated: false,
  });
});

Deno.test("truncateMiddle() keeps beginning and end and reports the omitted lines and characters", () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}`).join("\n");
  const { text, truncated } = truncateMiddle(lines, { limit: 400, hint: "read /tmp/all" });
  assert(truncated);
  assert(text.startsWith("line 0\n"));
  assert(text.endsWith("line 999"));
  assert(/\n\[… 9\d\d lines, [\d,]+ characters omitted; read \/tmp\/all …\]\n/.test(text), text);
  assert(text.length < 500);
});

Deno.test("truncateMiddle(), truncateEnd(): do not split surrogate pairs", () => {
  const emoji = "😀".repeat(100);
  for (let shift = 0; shift < 4; shift++) {
    const { text } = truncateMiddle("x".repeat(shift) + emoji, { limit: 31 });
    assert(text.isWellFormed(), `shift ${shift}`);
  }
  assertEquals(truncateEnd("a😀b", 2), "a");
  assertEquals(truncateEnd("a😀b", 3), "a😀");
});

Deno.test("TextCollector: the result does not depend on the size of the chunks", () => {
  const text = Array.from({ length: 500 }, (_, index) => `${index} ${"é😀".repeat(index % 7)}`)
    .join("\n");
  for (const size of [1, 2, 3, 7, 64, 1_000]) {
    const collector = new TextCollector(300);
    for (let start = 0; start < text.length; start += size) {
      collector.push(text.slice(start, start + size));
    }
    assertEquals(collector.finish(), truncateMiddle(text, { limit: 300 }), `chunks of ${size}`);
  }
});

Deno.test("formatNumber() groups thousands", () => {
  assertEquals([1, 1234, 1234567].map(formatNumber), ["1", "1,234", "1,234,567"]);
});
