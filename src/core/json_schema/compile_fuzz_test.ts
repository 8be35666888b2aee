import { assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { CompiledJsonSchema } from "./compile.ts";
import type { JsonRecord } from "./json_object.ts";

const names = ["a", "b", "c"];
const scalar = fc.constantFrom<unknown>(null, true, 0, 1, 2, 1.5, "", "a", "ab", "😀");
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "medium" },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const count = fc.integer({ min: 0, max: 2 });
const type = fc.constantFrom("array", "boolean", "integer", "null", "number", "object", "string");

/** Values of each keyword. `contains` and `unevaluatedItems` are missing, for ajv has errors there. */
function createKeywords(
  list: fc.Arbitrary<unknown>,
  map: fc.Arbitrary<unknown>,
  subschema: fc.Arbitrary<unknown>,
): Record<string, fc.Arbitrary<unknown>> {
  const subset = fc.subarray(names);
  const subsets = fc.dictionary(fc.constantFrom(...names), subset, { noNullPrototype: true });
  return {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }),
    const: value,
    minimum: count,
    maximum: count,
    exclusiveMinimum: count,
    exclusiveMaximum: count,
    multipleOf: fc.constantFrom(0.5, 1, 2),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom("^a", "b$", "^(a|b)*$", "^.$"),
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    prefixItems: list,
    items: subschema,
    required: subset,
    minProperties: count,
    maxProperties: count,
    propertyNames: subschema,
    properties: map,
    patternProperties: map,
    additionalProperties: subschema,
    dependentRequired: subsets,
    dependentSchemas: map,
    unevaluatedProperties: subschema,
    $ref: fc.constantFrom("#/$defs/a", "#/$defs/b"),
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: subschema,
    if: subschema,
    then: subschema,
    else: subschema,
  };
}

/** Schemas of up to four keywords, since most combinations of many accept nothing. */
const schema = fc.letrec<{ schema: JsonRecord; subschema: unknown }>((tie) => {
  const subschema = tie("subschema");
  const list = fc.array(subschema, { minLength: 1, maxLength: 3 });
  const map = fc.dictionary(fc.constantFrom(...names), subschema, {
    maxKeys: 3,
    noNullPrototype: true,
  });
  const keywords = Object.entries(createKeywords(list, map, subschema)).map(([name, values]) =>
    values.map((keyword) => [name, keyword] as const)
  );
  return {
    subschema: fc.oneof({ maxDepth: 3, depthSize: "small" }, fc.boolean(), tie("schema")),
    schema: fc.array(fc.oneof(...keywords), { minLength: 1, maxLength: 4 }).map((entries) =>
      // ajv skips an `if` without `then`, though it counts for `unevaluatedProperties`.
      Object.fromEntries([["then", true], ...entries])
    ),
  };
}).schema;

Deno.test("CompiledJsonSchema: agrees with ajv on random schemas and values", () => {
  fc.assert(
    fc.property(schema, fc.array(value, { maxLength: 8 }), (random, values) => {
      const $defs = { a: { type: ["object", "string"] }, b: { items: { $ref: "#" }, minItems: 1 } };
      const complete = { ...random, $defs };
      const ajv = new Ajv2020({ strict: false, ownProperties: true, logger: false });
      const validate = ajv.compile(complete);
      const compiled = new CompiledJsonSchema(complete);
      assertEquals(compiled.ignored, []);
      for (const item of values) {
        assertEquals(compiled.validate(item).length === 0, validate(item), JSON.stringify(item));
      }
    }),
    { numRuns: 50 },
  );
});
