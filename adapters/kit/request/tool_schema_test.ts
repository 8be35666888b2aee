import { assertEquals } from "@std/assert";
import type { JsonSchema } from "../../../src/core/json.ts";
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
