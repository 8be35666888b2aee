import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { createNameDecoder, hashText, TOOL_NAME_RULE, toWireName } from "./wire_names.ts";

Deno.test("a name that the provider accepts stays as it is", () => {
  assertEquals(toWireName("read_file-2", TOOL_NAME_RULE), "read_file-2");
  assertEquals(toWireName("x".repeat(64), TOOL_NAME_RULE), "x".repeat(64));
});

Deno.test("B 73: any other name becomes a legal one of its own, and is found again", () => {
  const names = ["", "a.b", "a b", "a/b", "日本", "x".repeat(65), `${"x".repeat(64)}y`, "a\u0000"];
  const onWire = names.map((name) => toWireName(name, TOOL_NAME_RULE));
  for (const name of onWire) assertMatch(name, /^[A-Za-z0-9_-]{1,64}$/);
  assertEquals(new Set(onWire).size, names.length);
  const back = createNameDecoder(names, TOOL_NAME_RULE);
  assertEquals(onWire.map(back), names);
});

Deno.test("a hash is of its length, and of its text", () => {
  for (const length of [1, 8, 9, 14, 20]) assertEquals(hashText("call_1", length).length, length);
  assertNotEquals(hashText("call_1", 9), hashText("call_2", 9));
  const many = new Set(Array.from({ length: 10_000 }, (_, index) => hashText(`call_${index}`, 9)));
  assert(many.size === 10_000);
});
