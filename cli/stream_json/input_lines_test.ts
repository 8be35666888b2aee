import { assertEquals, assertRejects } from "@std/assert";
import { MAX_LINE_BYTES, readInputLines } from "./input_lines.ts";
import { parseInput } from "./parse_input.ts";

/** Returns the lengths of the lines of an input that are not empty. */
async function measure(...chunks: readonly Uint8Array[]): Promise<number[]> {
  const lines = readInputLines(ReadableStream.from(chunks), new AbortController().signal);
  return (await Array.fromAsync(lines)).map(({ length }) => length).filter((length) => length > 0);
}

Deno.test("readInputLines(): limits each line, not the input", async () => {
  const line = new Uint8Array(MAX_LINE_BYTES / 2 + 1).fill(32);
  line[line.length - 1] = 10;
  const length = MAX_LINE_BYTES / 2;
  assertEquals(await measure(line, line, line), [length, length, length]);
  await assertRejects(
    () => measure(new Uint8Array(MAX_LINE_BYTES), new Uint8Array(1)),
    RangeError,
    "a line is longer than 20 MB",
  );
});

Deno.test("parseInput(): a line that is not UTF-8 is invalid", async () => {
  const text = '{"type":"prompt","text":"?"}';
  const line = new TextEncoder().encode(text);
  assertEquals((await parseInput(line)).type, "message");
  line[text.indexOf("?")] = 0xff;
  assertEquals((await parseInput(line)).type, "invalid");
});

Deno.test("parseInput(): approved arguments with numbers that cannot be kept are invalid, and texts with them are not", async () => {
  const parse = async (id: string) =>
    await parseInput(new TextEncoder().encode(
      `{"type":"approval","toolCallId":"c","decision":{"type":"approved","arguments":{"id":${id}}}}`,
    ));
  assertEquals(await parse("1234567890123456789"), {
    type: "invalid",
    reason:
      "decision.arguments: The number 1234567890123456789 has more digits than a number keeps; write it as a text or round it",
  });
  assertEquals(await parse("1e400"), {
    type: "invalid",
    reason: "decision.arguments are not readable, since a number is out of range",
  });
  for (const id of ['"1234567890123456789"', "1234567890123456800"]) {
    assertEquals((await parse(id)).type, "message");
  }
});
