import { assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { normalizeText } from "./normalize_text.ts";

Deno.test("normalizeText: replaces what differs between two runs of the same tests", () => {
  const texts = [
    ["at /tmp/swink_eval_1a2b3c/a.ts:3:5", "at <directory>/a.ts:3:5"],
    ["(file:///var/T/swink_eval_Xy12/a.ts)", "(<directory>/a.ts)"],
    ['"C:\\Temp\\swink_eval_1a2b\\a.ts"', '"<directory>\\a.ts"'],
    ["ok | 3 passed (17ms), 1.25 s, 2m3s", "ok | 3 passed (<duration>), <duration>, <duration>"],
    ["2026-08-22T10:15:00.123Z and 10:15:00", "<time> and <time>"],
    ['{"at":1764338012345} 1764338012.25', '{"at":<time>} <time>'],
    ["run 7f3c1a9e-1111-4222-8333-444455556666", "run <id>"],
    ["commit 1a2b3c4d5e6f7a8b at 0x7ffee4c0", "commit <hash> at <address>"],
    [
      "  duration_ms: 10.522835\n# duration_ms 121",
      "  duration_ms: <duration>\n# duration_ms <duration>",
    ],
    ['{"elapsed_ms":12}', '{"elapsed_ms":<duration>}'],
    ["in 0.5 secs, 3 msec, 00:00.123", "in <duration>, <duration>, <duration>"],
    ["Sat Nov 28 13:33:32 UTC 2026", "<time>"],
    ["Date:   Sat Nov  7 13:33:32 2026 +0100", "Date:   <time>"],
    ["Date: Sat, 28 Nov 2026 13:33:32 GMT", "Date: <time>"],
    ["Modify: 2026-11-28 13:33:32.262779485 +0000", "Modify: <time>"],
    ["_logs/2026-11-28T13_19_05_123Z-debug-0.log", "_logs/<time>-debug-0.log"],
    ["/tmp/tmp.E7Wn12vRNa and /tmp/tmp1y9f8jjm/a", "/tmp/<directory> and /tmp/<directory>/a"],
    [
      "total 12\ndrwxr-xr-x  2 ada users 4096 Nov 28 13:33 .\n-rw-r--r--. 1 ada staff  119 Nov  8 09:07 a",
      "total <size>\ndrwxr-xr-x <owner> <size> <time> .\n-rw-r--r-- <owner> 119 <time> a",
    ],
    ["[main (root-commit) e5ee41a] Add", "[main (root-commit) <hash>] Add"],
    ["e5ee41a Add a\n* 1234567a Add b", "<hash> Add a\n* <hash> Add b"],
    ["HEAD is now at e5ee41a x", "HEAD is now at <hash> x"],
    ["Updating e5ee41a..1a2b3c4", "Updating <hash>"],
    [
      "(node:29546) Warning: pid 123\n[1] 29545\n",
      "(node:<process>) Warning: pid <process>\n[1] <process>\n",
    ],
    ["http://localhost:43123/a, [::1]:50000", "http://localhost:<port>/a, [::1]:<port>"],
  ];
  for (const [text = "", expected] of texts) assertEquals(normalizeText(text), expected);
});

Deno.test("normalizeText: keeps numbers, words and code", () => {
  const texts = [
    ...["5 files, 12 of 30", "const a1b2 = 0x10;", "1.2.3", "a/b/c.ts:10:20", "total 12"],
    ...["1234567 a.txt", "deadline May 12", "the duration 30", "localhost:8080", "/src/tmpfile.ts"],
    ...["0.123456789012", "account 123456789012", "1764338012 sheep", "src/tmp_handler.ts"],
    ...["add a decade", "[main] decade", "a[0] 12", "cafe", "- [x] facade", "/tmp/tmpl"],
  ];
  for (const text of texts) {
    assertEquals(normalizeText(text), text);
  }
});

/** The starts of lines that commands print. */
const LINES = ["-rw-r--r-- 1 a a ", "Nov 28 ", "[a ", "* ", "total 1\n", "abcdef1 ", "/tmp/tmp."];

Deno.test("normalizeText: takes linear time for long texts", () => {
  const getThreadTime = startThreadTimer();
  for (
    const part of [
      "a",
      "1",
      "f0",
      "1m",
      "swink_eval_",
      "/swink_eval",
      "0x",
      "2026-01-01T",
      ...LINES,
    ]
  ) {
    normalizeText(part.repeat(100_000));
  }
  // Quadratic work takes minutes.
  assertEquals(getThreadTime() < 7_000, true);
});
