import { assert, assertEquals } from "@std/assert";
import { toToolSchema } from "./tool_schema.ts";

const A = { type: "string" };
const B = { type: "number" };

Deno.test("toToolSchema(): merges parts, alternatives and references at the root", () => {
  const schema = {
    allOf: [{ $ref: "#/$defs/base" }, { properties: { b: B }, required: ["b"] }],
    anyOf: [{ properties: { c: A } }, { properties: { c: B } }],
    $defs: { base: { properties: { a: A }, required: ["a"] } },
  };
  assertEquals(toToolSchema(schema), {
    $defs: schema.$defs,
    type: "object",
    properties: { a: A, b: B, c: { anyOf: [A, B] } },
    required: ["a", "b"],
  });
});

Deno.test("toToolSchema(): a reference to itself ends", () => {
  const schema = { $ref: "#/$defs/a", $defs: { a: { properties: { a: A }, $ref: "#/$defs/a" } } };
  assertEquals(toToolSchema(schema)["properties"], { a: A });
});

/** Returns a small schema with 2 to the power of `depth` paths from the root to its last definition. */
function createBranches(depth: number, createSiblings: (level: number, branch: number) => object) {
  const $defs: Record<string, object> = { [`d${depth}`]: { properties: { a: A } } };
  for (let level = 0; level < depth; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = {
      allOf: [0, 1].map((branch) => ({ allOf: [next, createSiblings(level, branch)] })),
    };
  }
  return { type: "object", allOf: [{ $ref: "#/$defs/d0" }], $defs };
}

Deno.test("toToolSchema(): definitions that refer to each other often are merged once", () => {
  const start = performance.now();
  const same = toToolSchema(createBranches(100, () => ({})));
  assertEquals(same["properties"], { a: A });
  const different = toToolSchema(createBranches(100, (level, branch) => ({
    properties: { a: { const: 2 * level + branch } },
  })));
  // Takes 10 ms; a copy for every path would never end.
  assert(JSON.stringify(different["properties"]).length < 10_000);
  assert(performance.now() - start < 5_000);
});
