import { assert, assertEquals } from "@std/assert";
import type { JsonSchema } from "../../../src/core/json/json.ts";
import { inlineDefinitions } from "./inline_definitions.ts";

const TEXT = { type: "string" };

/** A schema, and the same without references. */
const SCHEMAS: readonly (readonly [JsonSchema, JsonSchema])[] = [
  [{ properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: TEXT } }, { properties: { a: TEXT } }],
  [
    { items: { $ref: "#/definitions/a~1b", description: "A" }, definitions: { "a/b": TEXT } },
    { items: { ...TEXT, description: "A" } },
  ],
  [
    { items: { $ref: "#/$defs/a" }, $defs: { a: { items: { $ref: "#/$defs/b" } }, b: TEXT } },
    { items: { items: TEXT } },
  ],
  [
    { properties: { next: { $ref: "#" }, a: TEXT }, type: "object" },
    {
      properties: {
        next: { properties: { next: { type: "object" }, a: TEXT }, type: "object" },
        a: TEXT,
      },
      type: "object",
    },
  ],
  [
    { items: { $ref: "#/$defs/List%3Ctext%3E" }, $defs: { "List<text>": TEXT } },
    { items: TEXT },
  ],
  [
    { properties: { a: { anyOf: [{}, TEXT] }, b: { $ref: "#/properties/a/anyOf/1" } } },
    { properties: { a: { anyOf: [{}, TEXT] }, b: TEXT } },
  ],
  [{ items: { $ref: "#/$defs/50%" }, $defs: { "50%": TEXT } }, { items: TEXT }],
  [{ items: { $ref: "#/$defs/%ff" } }, { items: {} }],
  [{ items: { $ref: "#/$defs/gone" } }, { items: {} }],
  [{ items: { $ref: "https://a.example/b" } }, { items: {} }],
  [{ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, {}],
  [
    { properties: { $defs: TEXT, $ref: TEXT }, enum: [{ $ref: "#" }] },
    { properties: { $defs: TEXT, $ref: TEXT }, enum: [{ $ref: "#" }] },
  ],
];

Deno.test("inlineDefinitions(): replaces references by the schemas to which they refer", () => {
  for (const [schema, expected] of SCHEMAS) {
    assertEquals(inlineDefinitions(schema), expected, JSON.stringify(schema));
  }
});

Deno.test("inlineDefinitions(): limits references that multiply", () => {
  const $defs: Record<string, JsonSchema> = { d40: TEXT };
  for (let level = 0; level < 40; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { type: "object", properties: { a: next, b: next } };
  }
  const inlined = inlineDefinitions({ $ref: "#/$defs/d0", $defs });
  assert(JSON.stringify(inlined).length < 100_000);
});
