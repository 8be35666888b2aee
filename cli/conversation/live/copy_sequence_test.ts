import { assertEquals } from "@std/assert";
import { createCopySequence } from "./copy_sequence.ts";

Deno.test("createCopySequence(): encodes a text as UTF-8, unless it is too long for terminals", () => {
  assertEquals(createCopySequence("é\x1b"), "\x1b]52;c;w6kb\x07");
  assertEquals(createCopySequence("x".repeat(55_500))?.length, 74_000 + "\x1b]52;c;\x07".length);
  assertEquals(createCopySequence("x".repeat(55_501)), undefined);
});
