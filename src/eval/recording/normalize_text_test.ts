import { assertEquals } from "@std/assert";
import { normalizeText } from "./normalize_text.ts";

Deno.test("normalizeText: replaces what differs between two runs of the same tests", () => {
  const texts = [
    ["at /tmp/swink_eval_1a2b3c/a.ts:3:5", "at <directory>/a.ts:3:5"],
    ["(file:///var/T/swink_eval_Xy12/a.ts)", "(<directory>/a.ts)"],
    ['"C:\\Temp\\swink_eval_1a2b\\a.ts"', '"<directory>\\a.ts"'],
    ["ok | 3 passed (17ms), 1.25 s, 2m3s", "ok | 3 passed (<duration>), <duration>, <duration>"],
    ["2026-08-22T10:15:00.123Z and 10:15:00", "<time> and <time>"],
    ["run 7f3c1a9e-1111-4222-8333-444455556666", "run <id>"],
    ["commit 1a2b3c4d5e6f7a8b at 0x7ffee4c0", "commit <hash> at <address>"],
  ];
  for (const [text = "", expected] of texts) assertEquals(normalizeText(text), expected);
});

Deno.test("normalizeText: keeps numbers, words and code", () => {
  for (const text of ["5 files, 12 of 30", "const a1b2 = 0x10;", "1.2.3", "a/b/c.ts:10:20"]) {
    assertEquals(normalizeText(text), text);
  }
});

Deno.test("normalizeText: takes linear time for long texts", () => {
  const startedAt = performance.now();
  for (const part of ["a", "1", "f0", "1m", "swink_eval_", "/swink_eval", "0x", "2026-01-01T"]) {
    normalizeText(part.repeat(300_000));
  }
  assertEquals(performance.now() - startedAt < 20_000, true);
});
