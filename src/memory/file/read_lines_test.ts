import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ReadableFile } from "./file_system.ts";
import { type LogLine, readLines } from "./read_lines.ts";

/** Creates a file that returns at most `maxBytes` per read. */
function createFile(bytes: Uint8Array<ArrayBuffer>, maxBytes: number): ReadableFile {
  return {
    read: (offset, length) =>
      Promise.resolve(bytes.slice(offset, offset + Math.min(length, maxBytes))),
    stat: () => ({ size: bytes.length, modified: 0, inode: null }),
    close: () => {},
  };
}

async function readAllLines(
  bytes: Uint8Array<ArrayBuffer>,
  maxBytes: number,
  from = 0,
): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for await (const batch of readLines(createFile(bytes, maxBytes), from)) lines.push(...batch);
  return lines;
}

const encoder = new TextEncoder();

Deno.test("readLines() returns the same lines and offsets for any chunk size", async () => {
  const line = fc.oneof(fc.string(), fc.string({ unit: "binary" }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      async (texts, endsWithNewline, maxBytes) => {
        const written = texts.map((text) => text.toWellFormed().replaceAll("\n", ""));
        const end = endsWithNewline && written.length > 0 ? "\n" : "";
        const bytes = encoder.encode(written.join("\n") + end);
        const lines = await readAllLines(bytes, maxBytes);
        const expected = endsWithNewline || written.at(-1) !== "" ? written : written.slice(0, -1);
        assertEquals(lines.map(({ text }) => text), expected);
        for (const { text, offset, length, isTerminated } of lines) {
          assertEquals(bytes.slice(offset, offset + length), encoder.encode(text));
          assertEquals(bytes[offset + length] === 10, isTerminated);
        }
      },
    ),
    { numRuns: 300, seed: 9 },
  );
});

Deno.test("readLines(): a line with invalid UTF-8 has no text, other lines do", async () => {
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

Deno.test("readLines() starts at an offset", async () => {
  const lines = await readAllLines(encoder.encode("one\ntwo\nthree"), 2, 4);
  assertEquals(lines.map(({ text, offset }) => [text, offset]), [["two", 4], ["three", 8]]);
});

Deno.test("readLines(): reads a long line in a number of steps that grows with the logarithm of its length", async () => {
  const bytes = new Uint8Array(64 * 1024 * 1024).fill(120);
  const file = createFile(bytes, Infinity);
  let reads = 0;
  const read = (offset: number, length: number) => {
    reads++;
    return file.read(offset, length);
  };
  for await (const [line] of readLines({ ...file, read })) assertEquals(line?.length, bytes.length);
  assert(reads <= 10, `${reads} reads`);
});
