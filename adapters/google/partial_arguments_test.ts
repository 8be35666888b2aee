import { assertEquals } from "@std/assert";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import { PartialArguments } from "./partial_arguments.ts";
import type { WirePartialArg } from "./wire.ts";

function assembleArguments(...pieces: readonly WirePartialArg[]): unknown {
  const args = new PartialArguments();
  for (const piece of pieces) args.add(piece);
  return JSON.parse(JSON.stringify(args));
}

Deno.test("a text goes on where it was", () => {
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

Deno.test("values of all kinds go to their places, in objects and arrays", () => {
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

Deno.test("a huge index makes no huge array", () => {
  assertEquals(assembleArguments({ jsonPath: "$.a[4000000000]", numberValue: 1 }), { a: [1] });
});

Deno.test("no name reaches beyond the arguments", () => {
  const made = assembleArguments({ jsonPath: "$.__proto__.polluted", boolValue: true });
  assertEquals(Reflect.get({}, "polluted"), undefined);
  assertEquals(JSON.stringify(made), '{"__proto__":{"polluted":true}}');
});

Deno.test("whatever comes, there are arguments", () => {
  const random = seededRandom(3);
  const signs = ["$", ".", "[", "]", "'", '"', "a", "0", "\\", "length", "constructor"];
  for (let round = 0; round < 2000; round++) {
    const pieces = Array.from({ length: 4 }, (): WirePartialArg => ({
      jsonPath: Array.from({ length: 6 }, () => signs[Math.floor(random() * signs.length)]).join(
        "",
      ),
      ...(random() < 0.5 ? { stringValue: "x" } : { numberValue: 1 }),
    }));
    assertEquals(typeof assembleArguments(...pieces), "object");
  }
});
