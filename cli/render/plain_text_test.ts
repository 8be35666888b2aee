import { assert, assertEquals } from "@std/assert";
import { seededRandom } from "../../src/testing/mod.ts";
import { PlainTextFilter, toPlainText } from "./plain_text.ts";

for (
  const [subject, text, expected] of [
    ["nothing from plain text", "Grüße, 世界 👋🏽\n\tindented", "Grüße, 世界 👋🏽\n\tindented"],
    ["colors", "\x1b[1;31mred\x1b[0m", "red"],
    ["cursor movements", "a\x1b[2K\x1b[1Gb\x1b[?25l", "ab"],
    ["titles, ended by BEL or by ST", "\x1b]0;title\x07a\x1b]2;title\x1b\\b", "ab"],
    ["links", "\x1b]8;;https://example.org\x1b\\here\x1b]8;;\x1b\\", "here"],
    ["device control strings", "\x1bPq#0;2\x1b\\a", "a"],
    ["single-character escapes", "\x1b7a\x1bMb\x1bc", "ab"],
    ["escapes with intermediates", "\x1b(0a\x1b#8b", "ab"],
    ["sequences with intermediates", "a\x1b[2 qb\x1b[!pc\x1b[0/wd", "abcd"],
    ["the eight-bit forms", "\x9b31ma\x9d0;t\x9cb\x90x\x9cc", "abc"],
    ["control characters", "a\x00b\x07c\x08d\x7fe\x85f\rg\v\f", "abcdefg"],
    ["bidirectional controls", "a\u202eb\u2066c\u2069", "abc"],
    ["an unterminated string up to the end of its line", "\x1b]0;open\nnext", "\nnext"],
    ["an escape at the end", "a\x1b", "a"],
    ["an invalid sequence", "\x1b[31\nb", "\nb"],
    ["an escape within a sequence", "\x1b[3\x1b[0ma", "a"],
    ["an escape before a line end", "\x1b\na", "\na"],
  ] as const
) {
  Deno.test(`toPlainText(): removes ${subject}`, () => {
    assertEquals(toPlainText(text), expected);
  });
}

Deno.test("PlainTextFilter: shows bidirectional controls as code points on request", () => {
  const filter = new PlainTextFilter({ bidi: "show" });
  assertEquals(filter.push("a\u202eb\u2066\x1b[31mc\x07\n"), "a<U+202E>b<U+2066>c\n");
});

Deno.test("PlainTextFilter: returns the same text without controls when it is split anywhere", () => {
  const random = seededRandom(20_261_121);
  const parts = [
    "\x1b",
    "[",
    "]",
    "0;",
    "31m",
    "\x07",
    "\\",
    "\n",
    "P",
    "\x9b",
    "\x9c",
    "é",
    "👋",
    "text ",
    "\u202e",
    "(",
  ];
  for (let run = 0; run < 2_000; run++) {
    const count = 1 + Math.floor(random() * 12);
    const text = Array.from({ length: count }, () => parts[Math.floor(random() * parts.length)])
      .join("");
    const expected = toPlainText(text);
    const filter = new PlainTextFilter();
    let inChunks = "";
    for (let at = 0; at < text.length;) {
      const end = at + 1 + Math.floor(random() * 4);
      inChunks += filter.push(text.slice(at, end));
      at = end;
    }
    assertEquals(inChunks, expected, JSON.stringify(text));
    // deno-lint-ignore no-control-regex -- control characters must be absent
    assert(!/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/.test(expected), JSON.stringify(text));
  }
});
