import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { toPlainOutput } from "./plain_output.ts";

Deno.test("toPlainOutput() removes colours, titles, cursor movements and bells, and keeps tabs and newlines", () => {
  assertEquals(toPlainOutput("\u001b[1;31mred\u001b[0m\ttab\r\nnext\u0007"), "red\ttab\nnext");
  assertEquals(
    toPlainOutput("\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\"),
    "alink",
  );
  assertEquals(toPlainOutput("\u001bPq#0;2;0\u001b\\b\u001b(Bc\u001b[?25l\u001b[2J"), "bc");
  assertEquals(toPlainOutput("a\u009b31mb"), "a31mb");
});

Deno.test("toPlainOutput() keeps the last state of an overwritten line", () => {
  assertEquals(toPlainOutput("10%\r50%\r100%\ndone\n"), "100%\ndone\n");
  assertEquals(toPlainOutput("a\rb\r\nc"), "b\nc");
});

Deno.test("toPlainOutput() takes seconds at most, not minutes, for 200 KB of any control character", () => {
  const getThreadTime = startThreadTimer();
  for (const piece of ["\r", "\u001b", "\u001b[", "\u001b]", "\u001b[ ", "\n", " \r"]) {
    toPlainOutput(`${piece.repeat(200_000)}x`);
  }
  assert(getThreadTime() < 10_000);
});

Deno.test("toPlainOutput() leaves no control character in random text", () => {
  const random = seededRandom(2);
  const pieces = [
    "\u001b",
    "[",
    "]",
    "0",
    ";",
    "m",
    "\u0007",
    "\\",
    "\r",
    "\n",
    "x",
    "P",
    "\u0000",
    "\u009b",
  ];
  for (let round = 0; round < 3_000; round++) {
    const text = Array.from({ length: 15 }, () => pieces[Math.floor(random() * pieces.length)])
      .join("");
    const plain = toPlainOutput(text).replace(/[\t\n]/g, "");
    assert(!/(?!\r)\p{Cc}/u.test(plain), JSON.stringify(text));
  }
});
