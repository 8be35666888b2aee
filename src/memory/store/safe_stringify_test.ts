import { assert, assertEquals } from "@std/assert";
import { safeStringify } from "./safe_stringify.ts";

Deno.test("safeStringify(): converts what JSON.stringify() refuses to text", () => {
  const cycle: Record<string, unknown> = {
    big: 5n,
    list: [undefined, () => {}, 1, 2n],
    no: undefined,
    run: () => {},
  };
  cycle["self"] = { cycle };
  const sibling = { a: 1 };
  const unreadable = {
    get value() {
      throw new Error("unreadable");
    },
  };
  assertEquals(JSON.parse(safeStringify({ cycle, unreadable, siblings: [sibling, sibling] })), {
    cycle: { big: "5", list: [null, null, 1, "2"], self: { cycle: "[circular]" } },
    unreadable: "[unreadable]",
    siblings: [{ a: 1 }, { a: 1 }],
  });
  assertEquals([safeStringify(7n), safeStringify(undefined), safeStringify({})], [
    '"7"',
    "null",
    "{}",
  ]);
});

Deno.test("safeStringify(): converts a value of any depth", () => {
  let value: unknown = 5n;
  for (let level = 0; level < 50_000; level++) value = level % 2 ? [value] : { key: value };
  const json = safeStringify(value);
  assert(json.includes('{"key":"5"}'), json.slice(-80));
  assertEquals(json.length, 25_000 * 2 + 25_000 * '{"key":}'.length + 3);
});
