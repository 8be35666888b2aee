import { assertEquals, assertStrictEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonSchema } from "../../../src/core/json/json.ts";
import { toToolSchema } from "./tool_schema.ts";
import { toValidSchema } from "./valid_schema.ts";

const NUMBER = { type: "number" };
const TEXT = { type: "string" };

/** A schema, and the one that is sent. */
const SCHEMAS: readonly (readonly [JsonSchema, JsonSchema])[] = [
  [{ type: "array" }, { type: "array", items: {} }],
  [{ type: ["array", "null"] }, { type: ["array", "null"], items: {} }],
  [{ anyOf: [{ type: "array" }, TEXT] }, { anyOf: [{ type: "array", items: {} }, TEXT] }],
  [{ type: "array", items: true }, { type: "array", items: {} }],
  [{ type: "array", items: false }, { type: "array", items: {}, maxItems: 0 }],
  [
    { type: "array", items: [NUMBER, TEXT] },
    { type: "array", prefixItems: [NUMBER, TEXT], items: {} },
  ],
  [
    { type: "array", items: [NUMBER, TEXT], additionalItems: false },
    { type: "array", prefixItems: [NUMBER, TEXT], items: {}, maxItems: 2 },
  ],
  [
    { type: "array", items: [NUMBER], additionalItems: TEXT },
    { type: "array", prefixItems: [NUMBER], items: TEXT },
  ],
  [{ type: "array", items: TEXT, additionalItems: false }, { type: "array", items: TEXT }],
  [{ type: "number", minimum: 1, exclusiveMinimum: true }, { type: "number", exclusiveMinimum: 1 }],
  [{ type: "number", maximum: 1, exclusiveMaximum: false }, { type: "number", maximum: 1 }],
  [
    { type: "object", dependencies: { a: ["b"], c: { required: ["d"] } } },
    {
      type: "object",
      dependentRequired: { a: ["b"] },
      dependentSchemas: { c: { required: ["d"] } },
    },
  ],
  [{ type: "object", properties: { a: { type: "string", required: true } } }, {
    type: "object",
    properties: { a: TEXT },
  }],
  [{ type: "object", required: ["a", "a"] }, { type: "object", required: ["a"] }],
  [{ type: ["string", "string"] }, { type: ["string"] }],
  [{ type: [] }, {}],
  [{ anyOf: [], oneOf: {}, minItems: -1, maxLength: 1.5, multipleOf: 0, enum: "a" }, {}],
  [{ minimum: "1", exclusiveMaximum: NaN, uniqueItems: 1, required: ["a", 1], pattern: 1 }, {}],
  [{ type: "array", items: [] }, { type: "array", items: {} }],
  [{ type: "object", dependencies: {}, dependentRequired: { a: [] } }, {
    type: "object",
    dependentRequired: { a: [] },
  }],
  [{ type: "any", description: null, title: 1 }, {}],
  [{ properties: null, items: null, description: "A" }, { items: {}, description: "A" }],
  [
    { type: "object", properties: { a: true, b: null, c: "string" }, additionalProperties: "x" },
    { type: "object", properties: { a: {}, b: {}, c: {} }, additionalProperties: {} },
  ],
  [
    { type: "object", properties: { items: { type: "array" } }, additionalProperties: false },
    {
      type: "object",
      properties: { items: { type: "array", items: {} } },
      additionalProperties: false,
    },
  ],
  [{ type: "string", pattern: "^a+$" }, { type: "string", pattern: "^a+$" }],
  [
    { type: "string", pattern: "^(?!\\.)a", format: "email" },
    { type: "string", format: "email", description: '{pattern: "^(?!\\\\.)a"}' },
  ],
  [
    { type: "object", properties: { pattern: { pattern: "(a)\\1", description: "A." } } },
    {
      type: "object",
      properties: { pattern: { description: 'A.\n\n{pattern: "(a)\\\\1"}' } },
    },
  ],
  [
    { type: "string", pattern: "^[\\p{L}\\p{N}_. ()-]+$" },
    { type: "string", description: '{pattern: "^[\\\\p{L}\\\\p{N}_. ()-]+$"}' },
  ],
  [
    {
      type: "object",
      patternProperties: { "^a": TEXT, "^\\p{L}": { type: "array" } },
      additionalProperties: false,
    },
    {
      type: "object",
      description: '{patternProperties: ["^\\\\p{L}"]}',
      patternProperties: { "^a": TEXT },
    },
  ],
  [
    {
      type: "object",
      patternProperties: { "^a": { type: "array" } },
      additionalProperties: false,
    },
    {
      type: "object",
      patternProperties: { "^a": { type: "array", items: {} } },
      additionalProperties: false,
    },
  ],
  [
    { $defs: { a: { type: "array" } }, $ref: "#/$defs/a" },
    { $defs: { a: { type: "array", items: {} } }, $ref: "#/$defs/a" },
  ],
];

const ajv = new Ajv2020({ strict: false });

Deno.test("toValidSchema(): returns a schema of draft 2020-12 whose arrays have a schema of their items", () => {
  for (const [schema, expected] of SCHEMAS) {
    const text = JSON.stringify(schema);
    const valid = toValidSchema(schema);
    assertEquals(valid, expected, text);
    assertEquals(toValidSchema(valid), expected, text);
    assertEquals(ajv.validateSchema(valid), true, text);
    assertEquals(JSON.stringify(schema), text);
  }
});

Deno.test("toValidSchema(): keeps the text of a valid schema", () => {
  const schema: JsonSchema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    required: ["a"],
    properties: {
      b: { enum: [1, null], default: [{ type: "array" }], nullable: true },
      a: { maximum: 2, minimum: 1, type: "number", format: "int32" },
    },
    type: "object",
  };
  assertEquals(JSON.stringify(toValidSchema(schema)), JSON.stringify(schema));
});

Deno.test("toToolSchema(): returns the same schema for each request", () => {
  const schema: JsonSchema = { type: "object", properties: { a: { type: "array" } } };
  const completed = toToolSchema(schema);
  assertEquals(completed["properties"], { a: { type: "array", items: {} } });
  assertStrictEquals(toToolSchema(schema), completed);
});
