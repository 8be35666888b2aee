import { assertEquals } from "@std/assert";
import { KeyReader, splitKeys } from "./key_reader.ts";

type Chunk = string | readonly number[];

/** Reads keys from chunks, which arrive `intervalMs` apart, until the input ends. */
async function readKeys(chunks: readonly Chunk[], intervalMs = 0): Promise<string[]> {
  const bytes = chunks.map((chunk) =>
    typeof chunk === "string" ? new TextEncoder().encode(chunk) : new Uint8Array(chunk)
  );
  let time = 0;
  const reader = new KeyReader({
    readChunk() {
      time += intervalMs;
      return Promise.resolve(bytes.shift());
    },
    now: () => time,
  });
  const keys: string[] = [];
  for (let key = await reader.read(); key !== undefined; key = await reader.read()) keys.push(key);
  return keys;
}

Deno.test("KeyReader: reads what arrives at once", async () => {
  assertEquals(await readKeys(["y", "no\r", "a pasted text", "n"]), [
    "y",
    "no\r",
    "a pasted text",
    "n",
  ]);
});

Deno.test("KeyReader: reads characters that are split between chunks", async () => {
  assertEquals(await readKeys([[0xf0, 0x9f], [0x91, 0x8b], "a"]), ["👋", "a"]);
});

Deno.test("KeyReader: the rest of an escape sequence is no key", async () => {
  assertEquals(await readKeys(["\x1b", "[A"]), ["\x1b", "\x1b[A"]);
  assertEquals(await readKeys(["\x1b", "[", "A", "a"]), ["\x1b", "\x1b[", "\x1b[A", "a"]);
  assertEquals(await readKeys(["\x1b[1;", "5", "A"]), ["\x1b[1;", "\x1b[1;5", "\x1b[1;5A"]);
  assertEquals(await readKeys(["\x1bO", "A"]), ["\x1bO", "\x1bOA"]);
  assertEquals(await readKeys(["\x1b]11;rgb:", "a", "\x07", "n"]), [
    "\x1b]11;rgb:",
    "\x1b]11;rgb:a",
    "\x1b]11;rgb:a\x07",
    "n",
  ]);
});

Deno.test("KeyReader: a key half a second after Escape is a key", async () => {
  assertEquals(await readKeys(["\x1b", "y"], 499), ["\x1b", "\x1by"]);
  assertEquals(await readKeys(["\x1b", "y"], 500), ["\x1b", "y"]);
});

Deno.test("KeyReader: ends at Ctrl+C and Ctrl+D", async () => {
  assertEquals(await readKeys(["a", "\x03", "b"]), ["a"]);
  assertEquals(await readKeys(["a", "b\x04"]), ["a"]);
});

Deno.test("splitKeys(): splits text into keys and sequences, without an incomplete one", () => {
  assertEquals(splitKeys("a👋\x7f\x1b[200~b\x1bc\x1bOA\r"), [
    "a",
    "👋",
    "\x7f",
    "\x1b[200~",
    "b",
    "\x1bc",
    "\x1bOA",
    "\r",
  ]);
  assertEquals(splitKeys("ab\x1b[20"), ["a", "b"]);
  assertEquals(splitKeys(""), []);
});
