import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ReadableFile } from "./file_system.ts";
import { type LogLine, readLines } from "./read_lines.ts";

/** A file that gives at most so many bytes at a time. */
function createFile(bytes: Uint8Array<ArrayBuffer>, atOnce: number): ReadableFile {
  return {
    read: (offset, length) =>
      Promise.resolve(bytes.slice(offset, offset + Math.min(length, atOnce))),
    stat: () => ({ size: bytes.length, modified: 0, inode: null }),
    close: () => {},
  };
}

async function readAllLines(
  bytes: Uint8Array<ArrayBuffer>,
  atOnce: number,
  from = 0,
): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for await (const some of readLines(createFile(bytes, atOnce), from)) lines.push(...some);
  return lines;
}

const encoder = new TextEncoder();

Deno.test("lines are the same however the bytes arrive, and each knows its place", async () => {
  const line = fc.oneof(fc.string(), fc.string({ unit: "binary" }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      async (texts, isEnded, atOnce) => {
        const given = texts.map((text) => text.toWellFormed().replaceAll("\n", ""));
        const bytes = encoder.encode(given.join("\n") + (isEnded && given.length > 0 ? "\n" : ""));
        const lines = await readAllLines(bytes, atOnce);
        const expected = isEnded || given.at(-1) !== "" ? given : given.slice(0, -1);
        assertEquals(lines.map(({ text }) => text), expected);
        for (const { text, offset, length, isTerminated: isEnded } of lines) {
          assertEquals(bytes.slice(offset, offset + length), encoder.encode(text));
          assertEquals(bytes[offset + length] === 10, isEnded);
        }
      },
    ),
    { numRuns: 300, seed: 9 },
  );
});

Deno.test("a line that is no UTF-8 has no text, and the others have theirs", async () => {
  const bytes = new Uint8Array([
    ...encoder.encode("ü\n"),
    0xff,
    10,
    ...encoder.encode("\ufffd\n"),
    0xe2,
  ]);
  const lines = await readAllLines(bytes, 100);
  assertEquals(lines.map(({ text }) => text), ["ü", undefined, "\ufffd", undefined]);
  assertEquals(lines.map(({ offset }) => offset), [0, 3, 5, 9]);
});

Deno.test("reading may begin in the middle", async () => {
  const lines = await readAllLines(encoder.encode("one\ntwo\nthree"), 2, 4);
  assertEquals(lines.map(({ text, offset }) => [text, offset]), [["two", 4], ["three", 8]]);
});
