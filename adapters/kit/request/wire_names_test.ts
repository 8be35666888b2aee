import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { createNameDecoder, hashText, TOOL_NAME_RULE, toWireName } from "./wire_names.ts";

Deno.test("toWireName(): keeps an accepted name", () => {
  assertEquals(toWireName("read_file-2", TOOL_NAME_RULE), "read_file-2");
  assertEquals(toWireName("x".repeat(64), TOOL_NAME_RULE), "x".repeat(64));
});

Deno.test("toWireName(): encodes other names uniquely, and createNameDecoder() decodes them [B73]", () => {
  const names = ["", "a.b", "a b", "a/b", "日本", "x".repeat(65), `${"x".repeat(64)}y`, "a\u0000"];
  const wireNames = names.map((name) => toWireName(name, TOOL_NAME_RULE));
  for (const name of wireNames) assertMatch(name, /^[A-Za-z0-9_-]{1,64}$/);
  assertEquals(new Set(wireNames).size, names.length);
  const decode = createNameDecoder(names, TOOL_NAME_RULE);
  assertEquals(wireNames.map(decode), names);
});

Deno.test("hashText(): depends on the text and has the given length", () => {
  for (const length of [1, 8, 9, 14, 20]) assertEquals(hashText("call_1", length).length, length);
  assertNotEquals(hashText("call_1", 9), hashText("call_2", 9));
  const hashes = new Set(
    Array.from({ length: 10_000 }, (_, index) => hashText(`call_${index}`, 9)),
  );
  assert(hashes.size === 10_000);
});
