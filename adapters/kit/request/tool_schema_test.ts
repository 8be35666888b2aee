import { assert, assertEquals } from "@std/assert";
import type { JsonSchema } from "../../../src/core/json/json.ts";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { toToolSchema } from "./tool_schema.ts";

const TEXT = { type: "string" };
const COUNT = { type: "number" };

function object(properties: JsonSchema, ...required: string[]): JsonSchema {
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

/** A schema of parameters, and the schema that is sent. */
const SCHEMAS: readonly (readonly [JsonSchema, JsonSchema])[] = [
  [{}, object({})],
  [{ type: "object", title: "x" }, { ...object({}), title: "x" }],
  [object({ a: TEXT }, "a"), object({ a: TEXT }, "a")],
  [
    { anyOf: [object({ a: TEXT, b: TEXT }, "a", "b"), object({ a: COUNT }, "a")] },
    {
      ...object({ a: { anyOf: [TEXT, COUNT] }, b: TEXT }, "a"),
      description: "Requires one of these sets of properties: (a, b), (a).",
    },
  ],
  [
    {
      anyOf: [
        object({ a: TEXT, b: TEXT }, "a", "b"),
        object({ a: TEXT, b: TEXT }, "b", "a"),
        object({ b: TEXT }, "b"),
      ],
    },
    {
      ...object({ a: TEXT, b: TEXT }, "b"),
      description: "Requires one of these sets of properties: (a, b), (b, a), (b).",
    },
  ],
  [
    {
      description: "Finds.",
      oneOf: [object({ a: TEXT }, "a"), object({ a: TEXT, b: TEXT }, "b")],
    },
    {
      ...object({ a: TEXT, b: TEXT }),
      description: "Finds.\n\nRequires one of these sets of properties: (a), (b).",
    },
  ],
  [
    { allOf: [object({ a: TEXT }, "a"), object({ b: TEXT }, "b")], required: ["c"] },
    object({ a: TEXT, b: TEXT }, "c", "a", "b"),
  ],
  [
    { $ref: "#/$defs/in~1put", $defs: { "in/put": object({ a: TEXT }, "a") } },
    { ...object({ a: TEXT }, "a"), $defs: { "in/put": object({ a: TEXT }, "a") } },
  ],
  [
    { $ref: "#/$defs/a%20b/anyOf/0", $defs: { "a b": { anyOf: [object({ a: TEXT })] } } },
    { ...object({ a: TEXT }), $defs: { "a b": { anyOf: [object({ a: TEXT })] } } },
  ],
  [{ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, {
    ...object({}),
    $defs: { a: { $ref: "#/$defs/a" } },
  }],
  [{ $ref: "https://a.example/schema" }, object({})],
  [{ not: {}, enum: [{}], properties: { a: TEXT } }, object({ a: TEXT })],
];

Deno.test("toToolSchema(): the root is an object with the properties of all alternatives and parts", () => {
  for (const [schema, expected] of SCHEMAS) {
    assertEquals(toToolSchema(schema), expected, JSON.stringify(schema));
  }
});

/** Returns a small schema with 2 to the power of `depth` paths from the root to its last definition. */
function createBranches(
  depth: number,
  createSiblings: (level: number, branch: number) => JsonSchema,
): JsonSchema {
  const $defs: Record<string, JsonSchema> = { [`d${depth}`]: object({ a: TEXT }) };
  for (let level = 0; level < depth; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = {
      allOf: [0, 1].map((branch) => ({ allOf: [next, createSiblings(level, branch)] })),
    };
  }
  return { type: "object", allOf: [{ $ref: "#/$defs/d0" }], $defs };
}

Deno.test("toToolSchema(): definitions that refer to each other often are merged once", () => {
  const getThreadTime = startThreadTimer();
  assertEquals(toToolSchema(createBranches(100, () => ({})))["properties"], { a: TEXT });
  const different = toToolSchema(createBranches(100, (level, branch) =>
    object({
      a: { const: 2 * level + branch },
    })));
  // Takes 0.1 s; a copy for every path would never end.
  assert(JSON.stringify(different["properties"]).length < 10_000);
  assert(getThreadTime() < 10_000);
});
