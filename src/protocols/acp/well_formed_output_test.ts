import { assertEquals } from "@std/assert";
import { toWellFormedOutput } from "./well_formed_output.ts";

async function write(values: readonly unknown[]): Promise<unknown[]> {
  const lines: unknown[] = [];
  const decoder = new TextDecoder();
  const output = toWellFormedOutput(
    new WritableStream({ write: (line) => void lines.push(JSON.parse(decoder.decode(line))) }),
  );
  const writer = output.getWriter();
  const encoder = new TextEncoder();
  for (const value of values) await writer.write(encoder.encode(`${JSON.stringify(value)}\n`));
  await writer.close();
  return lines;
}

Deno.test("toWellFormedOutput(): replaces lone surrogates, and keeps all other texts", async () => {
  const kept = [
    "",
    "a\\ud83d",
    "\\\\ud83d",
    "\ud83d\ude00",
    "é\n\u0001\u007f",
    "\\u1234\\ud8",
    "\ufffd",
  ];
  assertEquals(await write(kept), kept);
  assertEquals(
    await write([{ "\ud83d": ["a\ud83d", "\ude00b", "\\\ud83d", "\ud83d\ud83d\ude00"] }]),
    [
      { "\ufffd": ["a\ufffd", "\ufffdb", "\\\ufffd", "\ufffd\ud83d\ude00"] },
    ],
  );
});
