import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../errors/errors.ts";
import type { JsonSchema } from "../json/json.ts";
import { createValidate } from "./parameters.ts";

const SUBJECT = "The schema of the answer";
const runtype = Object.defineProperty({ tag: "string" }, "parse", { value: () => {} });

for (
  const [position, schema] of Object.entries<JsonSchema>({
    "a property": { type: "object", properties: { city: runtype } },
    "a list": { type: "array", items: { anyOf: [{ type: "null" }, runtype] } },
    "a definition": { $ref: "#/$defs/city", $defs: { city: { not: runtype } } },
  })
) {
  Deno.test(`createValidate() refuses the schema of a library in ${position}`, () => {
    assertThrows(
      () => createValidate(schema, schema, SUBJECT),
      BadRequestError,
      "must be a JSON Schema, not the schema of a library",
    );
  });
}

Deno.test("createValidate() accepts schemas with few or unusual keywords", () => {
  const schemas: readonly JsonSchema[] = [
    {},
    { description: "Any value" },
    { $schema: "https://json-schema.org/draft/2020-12/schema" },
    { const: 5 },
    { items: { type: "string" } },
    { not: {} },
    { title: "Any", "x-order": 1 },
    { type: "object", properties: { city: { "x-order": 1 }, tag: { tag: "string" } } },
    { type: "object", default: { parse: "text" }, examples: [{ tag: "string" }] },
  ];
  for (const schema of schemas) assertEquals(createValidate(schema, schema, SUBJECT), undefined);
});
