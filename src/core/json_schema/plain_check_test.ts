import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { compileWithAjv } from "./ajv_validator.ts";
import type { JsonRecord } from "./json_object.ts";
import { normalizeSchema } from "./normalize_schema.ts";
import { getPlainCheck } from "./plain_check.ts";

const names = ["a", "b", "__proto__", "constructor"];
const scalar = fc.constantFrom<unknown>(null, true, 0, -0, 1, 2, 1.5, 1e300, "", "a", "ab", "😀");
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "medium" },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const count = fc.integer({ min: 0, max: 3 });
const type = fc.constantFrom("array", "boolean", "integer", "null", "number", "object", "string");

/** Schemas of up to five keywords, some of which need ajv. */
const schema = fc.letrec<{ schema: JsonRecord; subschema: unknown }>((tie) => {
  const subschema = tie("subschema");
  const map = fc.dictionary(fc.constantFrom(...names), subschema, {
    maxKeys: 3,
    noNullPrototype: true,
  });
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    nullable: fc.boolean(),
    enum: fc.uniqueArray(fc.oneof({ weight: 9, arbitrary: scalar }, value), { minLength: 1 }),
    const: fc.oneof({ weight: 9, arbitrary: scalar }, value),
    minimum: count,
    maximum: count,
    exclusiveMinimum: fc.oneof(count, fc.boolean()),
    exclusiveMaximum: fc.oneof(count, fc.boolean()),
    minLength: count,
    maxLength: count,
    minItems: count,
    maxItems: count,
    items: fc.oneof(subschema, fc.array(subschema, { maxLength: 2 })),
    required: fc.subarray(names),
    properties: map,
    additionalProperties: subschema,
    description: fc.constant("text"),
    format: fc.constant("date"),
    default: scalar,
    pattern: fc.constantFrom("^a", "b$"),
    anyOf: fc.array(subschema, { minLength: 1, maxLength: 2 }),
  };
  const entries = Object.entries(keywords).map(([name, values]) =>
    values.map((keyword) => [name, keyword] as const)
  );
  return {
    subschema: fc.oneof({ maxDepth: 3, depthSize: "small" }, fc.boolean(), tie("schema")),
    schema: fc.array(fc.oneof(...entries), { minLength: 1, maxLength: 5 }).map((chosen) =>
      Object.fromEntries(chosen)
    ),
  };
}).schema;

Deno.test("plain check: accepts only values that ajv accepts", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(schema, fc.array(value, { maxLength: 20 }), async (random, values) => {
      const normalized = normalizeSchema(random);
      const check = getPlainCheck(normalized);
      const { validate, ignored } = await compileWithAjv(normalized);
      if (!check) return;
      assertEquals(ignored, []);
      for (const item of values) {
        if (!check(item)) continue;
        accepted++;
        assertEquals(validate(item), [], JSON.stringify(item));
      }
    }),
    { numRuns: 300 },
  );
  assert(accepted > 0);
});

Deno.test("plain check: accepts valid arguments of common schemas", () => {
  const normalized = normalizeSchema({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      path: { type: "string", description: "A path.", minLength: 3, maxLength: 10 },
      mode: { enum: ["read", "write", null] },
      kind: { const: "file" },
      lines: { type: "array", items: { type: "integer", minimum: 1 }, minItems: 1, maxItems: 2 },
      ratio: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1, maximum: 1 },
      force: { type: ["boolean", "null"], default: false },
      labels: { type: "object", additionalProperties: { type: "string" } },
    },
    required: ["path"],
    additionalProperties: false,
  });
  const check = getPlainCheck(normalized);
  const args = {
    path: "a.ts",
    mode: null,
    kind: "file",
    lines: [1, 2],
    ratio: 0.5,
    force: true,
    labels: { a: "b" },
  };
  assertEquals(check?.(args), true);
  for (
    const item of [{ path: "a😀b" }, { path: "a".repeat(10), lines: [7] }, {
      ...args,
      mode: "write",
    }]
  ) {
    assertEquals(check?.(item), true, JSON.stringify(item));
  }
  const invalid = [
    {},
    { path: "a😀" },
    { ...args, other: 1 },
    { ...args, path: "a".repeat(11) },
    { ...args, path: undefined },
    { ...args, mode: "delete" },
    { ...args, kind: "directory" },
    { ...args, lines: [] },
    { ...args, lines: [0] },
    { ...args, lines: [1, 2, 3] },
    { ...args, lines: [1.5] },
    { ...args, ratio: 0 },
    { ...args, ratio: 1 },
    { ...args, force: 1 },
    { ...args, labels: { a: 1 } },
    { ...args, labels: [] },
    [],
    "a.ts",
  ];
  for (const item of invalid) assertEquals(check?.(item), false, JSON.stringify(item));
});

Deno.test("plain check: an inherited member does not count as present", () => {
  const check = getPlainCheck(normalizeSchema({ type: "object", required: ["constructor"] }));
  assertEquals([check?.({}), check?.({ constructor: 1 })], [false, true]);
});

Deno.test("plain check: is missing for schemas with other keywords", () => {
  const schemas: readonly JsonRecord[] = [
    { type: "object", properties: { a: { pattern: "^a" } } },
    { type: "object", properties: { a: { anyOf: [{ type: "string" }] } } },
    { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: true } },
    { type: "array", items: false },
    { type: "object", unknown: true },
    { enum: [{}] },
    { const: { toString: 1, valueOf: 1 } },
    { $defs: { toString: true } },
    // ajv takes a property of this name for an unknown one.
    { properties: JSON.parse('{"__proto__":true}'), additionalProperties: false },
  ];
  for (const item of schemas) assertEquals(getPlainCheck(normalizeSchema(item)), undefined);
});

Deno.test("plain check: accepts no number that JSON does not have, as ajv", () => {
  for (const schema of [{ type: "number" }, { type: "integer" }, { type: ["string", "number"] }]) {
    const normalized = normalizeSchema(schema);
    const check = getPlainCheck(normalized);
    for (const number of [NaN, Infinity, -Infinity]) {
      assertEquals([check?.(number), check?.(1)], [false, true]);
    }
  }
});
