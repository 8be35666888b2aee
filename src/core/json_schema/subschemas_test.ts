import { assertEquals } from "@std/assert";
import { normalizeSchema } from "./normalize_schema.ts";
import { getSubschemas } from "./subschemas.ts";

/** The keywords of JSON Schema whose value is a schema, a list of schemas, or schemas by name. */
const KEYWORDS = {
  schema:
    "additionalProperties contains else if items not propertyNames then unevaluatedItems unevaluatedProperties",
  list: "allOf anyOf oneOf prefixItems",
  map: "$defs definitions dependentSchemas patternProperties properties",
} as const;

const inForm = { schema: (item: unknown) => item, list: (item: unknown) => [item] } as const;

for (const [form, keywords] of Object.entries(KEYWORDS)) {
  for (const keyword of keywords.split(" ")) {
    Deno.test(`getSubschemas() returns those of ${keyword}, in which an invalid keyword is reported`, () => {
      const invalid = { required: 5 };
      const value = form === "map" ? { a: invalid } : inForm[form as "schema" | "list"](invalid);
      assertEquals(getSubschemas({ [keyword]: value }), [invalid]);
      assertEquals(normalizeSchema({ [keyword]: value }).ignored.map(({ problem }) => problem), [
        "invalid",
      ]);
    });
  }
}

Deno.test("getSubschemas() omits boolean schemas, values of another form and other keywords", () => {
  const schema = { not: true, anyOf: {}, properties: [{}], const: {}, default: { items: {} } };
  assertEquals(getSubschemas(schema), []);
});
