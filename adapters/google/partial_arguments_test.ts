import { assertEquals } from "@std/assert";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import { PartialArguments } from "./partial_arguments.ts";
import type { WirePartialArg } from "./wire.ts";

function assembleArguments(...parts: readonly WirePartialArg[]): unknown {
  const args = new PartialArguments();
  for (const part of parts) args.add(part);
  return JSON.parse(JSON.stringify(args));
}

Deno.test("PartialArguments: appends the parts of a string", () => {
  assertEquals(
    assembleArguments(
      { jsonPath: "$.a", stringValue: "one, " },
      { jsonPath: "$.b", stringValue: "x" },
      { jsonPath: "$.a", stringValue: "two" },
      { jsonPath: "$.a", stringValue: "" },
    ),
    { a: "one, two", b: "x" },
  );
});

Deno.test("PartialArguments: sets values of all types in objects and arrays", () => {
  assertEquals(
    assembleArguments(
      { jsonPath: "$.list[0].name", stringValue: "a" },
      { jsonPath: "$.list[0].size", numberValue: 0 },
      { jsonPath: "$.list[1]['odd name']", boolValue: false },
      { jsonPath: '$["quoted"].nothing', nullValue: "NULL_VALUE" },
      { jsonPath: "$.grid[0][0]", numberValue: 1 },
      { jsonPath: "$.grid[0][1]", numberValue: 2 },
    ),
    {
      list: [{ name: "a", size: 0 }, { "odd name": false }],
      quoted: { nothing: null },
      grid: [[1, 2]],
    },
  );
});

Deno.test("PartialArguments: appends a value whose index is beyond the end of the array", () => {
  assertEquals(assembleArguments({ jsonPath: "$.a[4000000000]", numberValue: 1 }), { a: [1] });
});

Deno.test("PartialArguments: treats __proto__ as an ordinary key", () => {
  const args = assembleArguments({ jsonPath: "$.__proto__.polluted", boolValue: true });
  assertEquals(Reflect.get({}, "polluted"), undefined);
  assertEquals(JSON.stringify(args), '{"__proto__":{"polluted":true}}');
});

Deno.test("PartialArguments: gives an object for any sequence of parts", () => {
  const random = seededRandom(3);
  const tokens = ["$", ".", "[", "]", "'", '"', "a", "0", "\\", "length", "constructor"];
  const randomToken = () => tokens[Math.floor(random() * tokens.length)];
  for (let round = 0; round < 2000; round++) {
    const parts = Array.from({ length: 4 }, (): WirePartialArg => ({
      jsonPath: Array.from({ length: 6 }, randomToken).join(""),
      ...(random() < 0.5 ? { stringValue: "x" } : { numberValue: 1 }),
    }));
    assertEquals(typeof assembleArguments(...parts), "object");
  }
});
