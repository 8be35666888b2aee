import { assertEquals } from "@std/assert";
import { KeyReader } from "./key_reader.ts";

/** Reads keys from chunks until the input ends. */
async function readKeys(...chunks: readonly (string | readonly number[])[]): Promise<string[]> {
  const bytes = chunks.map((chunk) =>
    typeof chunk === "string" ? new TextEncoder().encode(chunk) : new Uint8Array(chunk)
  );
  const reader = new KeyReader(() => Promise.resolve(bytes.shift()));
  const keys: string[] = [];
  for (let key = await reader.read(); key !== undefined; key = await reader.read()) keys.push(key);
  return keys;
}

Deno.test("KeyReader: reads one key at a time", async () => {
  assertEquals(await readKeys("yes\r", "n"), ["y", "e", "s", "\r", "n"]);
});

Deno.test("KeyReader: reads characters that are split between chunks", async () => {
  assertEquals(await readKeys([0xf0, 0x9f], [0x91, 0x8b, 0x61]), ["👋", "a"]);
});

Deno.test("KeyReader: reads escape sequences and Alt with a key as one key", async () => {
  assertEquals(await readKeys("\x1b[A\x1b[1;5Dx\x1bOP\x1bby"), [
    "\x1b[A",
    "\x1b[1;5D",
    "x",
    "\x1bOP",
    "\x1bb",
    "y",
  ]);
});

Deno.test("KeyReader: ends at Ctrl+C and Ctrl+D", async () => {
  assertEquals(await readKeys("a\x03b"), ["a"]);
  assertEquals(await readKeys("a\x04b"), ["a"]);
});
