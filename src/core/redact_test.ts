import { assertEquals } from "@std/assert";
import { findSecrets, redact } from "./redact.ts";

Deno.test("keys of the shapes that providers use are hidden, wherever they stand", () => {
  const keys = [
    "sk-ant-api03-abcdefghijklmnop",
    "sk-proj-abcdefghijklmnop_1234",
    "gsk_abcdefghijklmnop",
    "xai-abcdefghijklmnop",
    "hf_abcdefghijklmnop",
    "AIzaSyAbcdefghijklmnop",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnop1234",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
  ];
  for (const key of keys) {
    assertEquals(redact(key), "[redacted]");
    assertEquals(redact(`KEY=${key}`), "KEY=[redacted]");
    assertEquals(redact(`"key is\\n${key}", so`), '"key is\\n[redacted]", so');
    assertEquals(redact(`/v1/${key}/x`), "/v1/[redacted]/x");
  }
});

Deno.test("what stands behind Bearer is hidden, not the word", () => {
  assertEquals(redact("authorization: Bearer abc.def/ghi=="), "authorization: Bearer [redacted]");
  assertEquals(redact("bearer  0123456789"), "bearer  [redacted]");
});

Deno.test("words and opaque texts that hold the letters of a key by chance stay", () => {
  for (
    const text of [
      "risk-assessment-of-everything",
      "task-list",
      "sk-short",
      "gAAAAABsk-abcdefghijklmnopqrstuv",
      "xAIzaSyAbcdefghijklmnop",
      "the bearer of this",
    ]
  ) assertEquals(redact(text), text);
});

Deno.test("given secrets are hidden as they are, and not when they are as short as a word", () => {
  assertEquals(
    redact("my secret word, my secret word", ["secret word"]),
    "my [redacted], my [redacted]",
  );
  assertEquals(redact("a key of k", ["k", ""]), "a key of k");
});

Deno.test("secrets that overlap are hidden once", () => {
  assertEquals(redact("Bearer sk-abcdefghijklmnop.rest", ["abcdefgh"]), "Bearer [redacted]");
  assertEquals(findSecrets("0123456789", ["01234", "3456"]), [{ start: 0, end: 7 }]);
});

Deno.test("what is hidden stays as it is when it is hidden again", () => {
  const once = redact("Bearer abcdefghijkl, sk-abcdefghijklmnop", ["word"]);
  assertEquals(redact(once, ["word"]), once);
});
