import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "./errors.ts";
import type { StandardJsonSchemaSource } from "./infer.ts";
import type { JsonSchema } from "./json.ts";
import {
  ajvValidator,
  compileSchema,
  formatErrors,
  type SchemaValidator,
  toJsonSchema,
  validateToolArguments,
  type ValidationError,
} from "./schema.ts";

const weather = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 1 },
    days: { type: "integer", minimum: 1 },
    unit: { enum: ["celsius", "fahrenheit"] },
    places: { type: "array", items: { type: "object", properties: { zip: { type: "string" } } } },
  },
  required: ["city"],
  additionalProperties: false,
};

async function getErrors(schema: JsonSchema, args: unknown): Promise<readonly ValidationError[]> {
  const result = await validateToolArguments(schema, args);
  return result.valid ? [] : result.errors;
}

Deno.test("2.1 valid arguments pass, and come back as they are", async () => {
  const args = { city: "Bern", days: 2, unit: "celsius", places: [{ zip: "3000" }] };
  const result = await validateToolArguments(weather, args);
  assert(result.valid);
  assertStrictEquals(result.value, args);
});

Deno.test("2.2, A 23, A 100 each fault is told with its path and what was expected", async () => {
  const args = { city: "", days: "two", unit: "kelvin", places: [{ zip: "1" }, { zip: 2 }] };
  assertEquals(await getErrors(weather, args), [
    { path: "/city", message: "must NOT have fewer than 1 characters" },
    { path: "/days", message: "must be integer" },
    { path: "/unit", message: 'must be one of "celsius", "fahrenheit"' },
    { path: "/places/1/zip", message: "must be string" },
  ]);
});

Deno.test("2.3, A 100 a required field that is missing is told at its own path", async () => {
  assertEquals(await getErrors(weather, {}), [{ path: "/city", message: "is required" }]);
  const nested = { properties: { at: { type: "object", required: ["a/b~c"] } } };
  assertEquals(await getErrors(nested, { at: {} }), [{
    path: "/at/a~1b~0c",
    message: "is required",
  }]);
});

Deno.test("2.4, A 100 fields that the schema does not know pass or not, as the schema says", async () => {
  const args = { city: "Bern", "co/untry": "CH" };
  const expected = [{ path: "/co~1untry", message: "is not a known property" }];
  assertEquals(await getErrors(weather, args), expected);
  const { additionalProperties: _closed, ...open } = weather;
  assertEquals(await getErrors(open, args), []);
  assertEquals(await getErrors({ ...open, unevaluatedProperties: false }, args), expected);
});

Deno.test("A 100 an empty object schema takes any object, and objects only", async () => {
  assertEquals(await getErrors({ type: "object" }, { anything: 1 }), []);
  assertEquals(await getErrors({}, {}), []);
  for (const args of [null, [], "x", 5, undefined]) {
    assertEquals(await getErrors({}, args), [{ path: "", message: "must be object" }]);
  }
});

Deno.test("A 100 a schema that is none is refused, with the reason", async () => {
  for (const schema of [{ type: "strnig" }, { properties: 5 }, { $ref: "#/nowhere" }]) {
    const refused = await assertRejects(
      () => validateToolArguments(schema, {}),
      BadRequestError,
      "The JSON Schema is not valid: ",
    );
    assert(refused.cause instanceof Error);
  }
});

Deno.test("constants, forbidden fields and choices have words as well", async () => {
  const schema = {
    properties: {
      kind: { const: "file" },
      gone: false,
      id: { anyOf: [{ type: "string" }, { type: "integer" }] },
      maybe: { type: ["string", "null"] },
    },
  };
  assertEquals(await getErrors(schema, { kind: 1, gone: 1, id: true, maybe: 5 }), [
    { path: "/kind", message: 'must be "file"' },
    { path: "/gone", message: "is not allowed" },
    { path: "/id", message: "must be string" },
    { path: "/id", message: "must be integer" },
    { path: "/id", message: "must match a schema in anyOf" },
    { path: "/maybe", message: "must be string,null" },
  ]);
});

Deno.test("B 26 nothing is coerced", async () => {
  const schema = { properties: { count: { type: "integer" }, tags: { type: "array" } } };
  assertEquals((await getErrors(schema, { count: "5", tags: '["x"]' })).length, 2);
});

Deno.test("draft, identity and references within a schema do not get in the way of another", async () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: "https://example.com/call",
    type: "object",
    properties: { a: { $ref: "#/$defs/word" }, b: { $ref: "https://example.com/number" } },
    $defs: {
      word: { type: "string" },
      number: { $id: "https://example.com/number", type: "number" },
    },
  };
  for (let time = 0; time < 2; time++) {
    assertEquals(await getErrors(structuredClone(schema), { a: 1, b: "x" }), [
      { path: "/a", message: "must be string" },
      { path: "/b", message: "must be number" },
    ]);
  }
});

Deno.test("formats are told to the model, but not checked", async () => {
  const schema = { properties: { at: { type: "string", format: "date-time" } } };
  assertEquals(await getErrors(schema, { at: "tomorrow" }), []);
});

Deno.test("a schema is compiled once for each validator, and asked again without a promise", async () => {
  let compiled = 0;
  const validator: SchemaValidator = () => {
    compiled++;
    return () => [];
  };
  const schema = { type: "object" };
  const first = await compileSchema(schema, validator);
  assertStrictEquals(compileSchema(schema, validator), first);
  assertEquals(compiled, 1);
  await compileSchema(schema, ajvValidator);
  assert(!(compileSchema(schema, ajvValidator) instanceof Promise));
  assertStrictEquals(compileSchema(schema, validator), first);
});

Deno.test("an injected validator replaces the default one", async () => {
  const nothing: SchemaValidator = () => () => [{ path: "/x", message: "is not to my taste" }];
  const result = await validateToolArguments({ type: "object" }, {}, nothing);
  assertEquals(result, {
    valid: false,
    errors: [{ path: "/x", message: "is not to my taste" }],
  });
});

Deno.test("where eval is forbidden, the error says what to do", async () => {
  const forbidden: SchemaValidator = () => {
    throw new EvalError("Code generation from strings disallowed for this context");
  };
  await assertRejects(
    () => validateToolArguments({ type: "object" }, {}, forbidden),
    BadRequestError,
    "This runtime forbids eval, which the default validator needs: pass a `validator`",
  );
});

Deno.test("a Standard Schema validator is asked for its JSON Schema", () => {
  const asked: { readonly target: string }[] = [];
  const source: StandardJsonSchemaSource = {
    "~standard": {
      version: 1,
      vendor: "acme",
      jsonSchema: {
        input: (options) => {
          asked.push(options);
          return { type: "object", properties: { city: { type: "string" } } };
        },
      },
    },
  };
  assertEquals(toJsonSchema(source), {
    type: "object",
    properties: { city: { type: "string" } },
  });
  assertEquals(asked, [{ target: "draft-2020-12" }]);
});

Deno.test("a validator that cannot tell its JSON Schema is refused by name", () => {
  assertThrows(
    () => toJsonSchema({ "~standard": { version: 1, vendor: "acme" } }),
    BadRequestError,
    "The acme validator has no JSON Schema form",
  );
});

Deno.test("a JSON Schema stands for itself, one of TypeBox as well", async () => {
  // TypeBox marks its schemas with symbols, which are no part of JSON.
  const typebox = { ...weather, [Symbol.for("TypeBox.Kind")]: "Object" };
  assertStrictEquals(toJsonSchema(typebox), typebox);
  assertEquals(await getErrors(typebox, { city: 5 }), [{
    path: "/city",
    message: "must be string",
  }]);
});

Deno.test("errors become lines that a model can act on", async () => {
  assertEquals(
    formatErrors(await getErrors(weather, { days: 0 })),
    "- /city: is required\n- /days: must be >= 1",
  );
  assertEquals(
    formatErrors([{ path: "", message: "must be object" }]),
    "- (the whole value): must be object",
  );
});
