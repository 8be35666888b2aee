import { assertEquals } from "@std/assert";
import type { JsonSchema } from "../../../src/core/json/json.ts";
import {
  CLAUDE_KEYWORDS,
  isStrictSchema,
  OPENAI_KEYWORDS,
  toStrictSchema,
} from "./strict_schema.ts";

/** A schema, and what is sent to OpenAI and to Anthropic. */
const SCHEMAS: readonly (readonly [JsonSchema, openai: JsonSchema, claude?: JsonSchema])[] = [
  [{ type: "string", enum: ["a"] }, { type: "string", enum: ["a"] }, { enum: ["a"] }],
  [{ type: "string", const: "a" }, { type: "string", const: "a" }, { const: "a" }],
  [{ type: "string", format: "date" }, { type: "string", format: "date" }],
  [
    { type: "string", format: "uri" },
    { type: "string", description: '{format: "uri"}' },
    { type: "string", format: "uri" },
  ],
  [
    { type: "string", format: "phone", description: "A number" },
    { type: "string", description: 'A number\n\n{format: "phone"}' },
  ],
  [
    { type: "string", pattern: "^a+$" },
    { type: "string", pattern: "^a+$" },
    { type: "string", description: '{pattern: "^a+$"}' },
  ],
  [{ type: "string", pattern: "(?=a)" }, { type: "string", description: '{pattern: "(?=a)"}' }],
  [{ type: "string", pattern: "(?<!a)" }, { type: "string", description: '{pattern: "(?<!a)"}' }],
  [{ type: "string", pattern: "(a)\\1" }, {
    type: "string",
    description: '{pattern: "(a)\\\\1"}',
  }],
  [
    { type: "array", items: { type: "null" }, minItems: 1 },
    { type: "array", items: { type: "null" }, minItems: 1 },
  ],
  [
    { type: "array", items: { type: "null" }, minItems: 2, maxItems: 3 },
    { type: "array", items: { type: "null" }, minItems: 2, maxItems: 3 },
    { type: "array", items: { type: "null" }, description: "{minItems: 2, maxItems: 3}" },
  ],
  [
    { type: "object", properties: { a: { type: "number", multipleOf: 2, default: 4 } } },
    {
      type: "object",
      properties: { a: { type: "number", multipleOf: 2 } },
      additionalProperties: false,
    },
    {
      type: "object",
      properties: { a: { type: "number", description: "{multipleOf: 2}" } },
      additionalProperties: false,
    },
  ],
  [
    { oneOf: [{ type: "string", $comment: "x" }, { type: "null", examples: [null] }] },
    { anyOf: [{ type: "string" }, { type: "null" }] },
  ],
  [
    { oneOf: [{ type: "string" }], anyOf: [{ type: "string", pattern: "a" }, { type: "null" }] },
    {
      anyOf: [{ type: "string", pattern: "a" }, { type: "null" }],
      description: '{oneOf: [{"type":"string"}]}',
    },
    {
      anyOf: [{ type: "string", description: '{pattern: "a"}' }, { type: "null" }],
      description: '{oneOf: [{"type":"string"}]}',
    },
  ],
  [
    {
      anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/definitions/b" }],
      $defs: { a: { type: "string" } },
      definitions: { b: { type: "null" } },
    },
    {
      anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }],
      $defs: { b: { type: "null" }, a: { type: "string" } },
    },
  ],
  [
    {
      type: "object",
      properties: {
        oneOf: { oneOf: [{ type: "string" }, { $ref: "#/properties/definitions/definitions/a" }] },
        definitions: { $ref: "#/properties/oneOf/oneOf/0" },
      },
    },
    {
      type: "object",
      properties: {
        oneOf: { anyOf: [{ type: "string" }, { $ref: "#/properties/definitions/$defs/a" }] },
        definitions: { $ref: "#/properties/oneOf/anyOf/0" },
      },
      additionalProperties: false,
    },
  ],
  [
    { anyOf: [{ $ref: "https://a.example/oneOf/a" }, { $ref: "#/$defs/oneOf" }] },
    { anyOf: [{ $ref: "https://a.example/oneOf/a" }, { $ref: "#/$defs/oneOf" }] },
  ],
  [
    { $ref: "#/definitions/a", description: "x", definitions: { a: { type: "string" } } },
    { $defs: { a: { type: "string" } }, $ref: "#/$defs/a" },
  ],
  [
    {
      type: "object",
      properties: { a: { $ref: "#/$defs/a", title: "x" } },
      $defs: { a: { type: "integer", minimum: 1 } },
    },
    {
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      additionalProperties: false,
      $defs: { a: { type: "integer", minimum: 1 } },
    },
    {
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      additionalProperties: false,
      $defs: { a: { type: "integer", description: "{minimum: 1}" } },
    },
  ],
];

Deno.test("toStrictSchema(): keeps the keywords that a provider enforces, and describes the others", () => {
  for (const [schema, openai, claude = openai] of SCHEMAS) {
    const title = JSON.stringify(schema);
    assertEquals(toStrictSchema(schema, OPENAI_KEYWORDS), openai, title);
    assertEquals(toStrictSchema(schema, CLAUDE_KEYWORDS), claude, title);
  }
});

/** An object whose only property has a schema. */
function withProperty(schema: JsonSchema, others: JsonSchema = {}): JsonSchema {
  const closed = { required: ["a"], additionalProperties: false };
  return { type: "object", properties: { a: schema }, ...closed, ...others };
}

Deno.test("isStrictSchema(): accepts closed objects whose keywords a provider can enforce", () => {
  const accepted = [
    withProperty({ type: "string" }),
    withProperty({ enum: [1, 2] }),
    withProperty({ const: 1 }),
    withProperty({ $ref: "#/$defs/a" }, { $defs: { a: withProperty({ type: "null" }) } }),
    withProperty({ anyOf: [{ type: "string" }, withProperty({ type: "number" })] }),
    withProperty({ type: ["object", "null"], additionalProperties: false }),
    { type: "object", additionalProperties: false },
  ];
  const refused = [
    undefined,
    true,
    { type: "string" },
    { anyOf: [withProperty({ type: "string" })] },
    { type: "object" },
    withProperty({ type: "string" }, { required: [] }),
    withProperty({ type: "string" }, { required: undefined }),
    withProperty({ type: "string" }, { additionalProperties: true }),
    withProperty({ type: ["object", "null"] }),
    withProperty({}),
    withProperty({ description: "anything" }),
    withProperty({ type: "array", items: { type: "object" } }),
    withProperty({ type: "array", prefixItems: [] }),
    withProperty({ type: "string", not: { const: "" } }),
    withProperty({ $ref: "#/$defs/a" }, { $defs: { a: { type: "object" } } }),
    withProperty({ anyOf: [{ type: "string" }, { type: "object" }] }),
    withProperty({ anyOf: [{ type: "string" }], oneOf: [{ type: "string" }] }),
    withProperty({ $ref: "#/$defs/a" }, { $defs: { a: { type: "null" } }, definitions: {} }),
    withProperty({ $ref: "https://schemas.example/a.json" }),
    withProperty({ type: "array", items: true }),
    { type: "object", properties: { a: true }, required: ["a"], additionalProperties: false },
  ];
  for (const schema of accepted) assertEquals(isStrictSchema(schema), true, JSON.stringify(schema));
  for (const schema of refused) assertEquals(isStrictSchema(schema), false, JSON.stringify(schema));
});
