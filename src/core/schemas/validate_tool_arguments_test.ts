import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { BadRequestError } from "../errors/errors.ts";
import type { JsonSchema } from "../json/json.ts";
import type { ValidationError } from "../json_schema/validation_error.ts";
import type { SchemaValidator } from "./schema.ts";
import { validateToolArguments } from "./validate_tool_arguments.ts";

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

Deno.test("validateToolArguments() returns valid arguments as the same object [2.1]", async () => {
  const args = { city: "Bern", days: 2, unit: "celsius", places: [{ zip: "3000" }] };
  const result = await validateToolArguments(weather, args);
  assert(result.valid);
  assertStrictEquals(result.value, args);
});

Deno.test("validateToolArguments() reports each error with its path and the expected value [2.2, A23, A100]", async () => {
  const args = { city: "", days: "two", unit: "kelvin", places: [{ zip: "1" }, { zip: 2 }] };
  assertEquals(await getErrors(weather, args), [
    { path: "/city", message: "must NOT have fewer than 1 characters" },
    { path: "/days", message: "must be integer" },
    { path: "/unit", message: 'must be one of "celsius", "fahrenheit"' },
    { path: "/places/1/zip", message: "must be string" },
  ]);
});

Deno.test("validateToolArguments() reports a missing field at its own path [2.3, A100]", async () => {
  assertEquals(await getErrors(weather, {}), [{ path: "/city", message: "is required" }]);
  const nested = { properties: { at: { type: "object", required: ["a/b~c"] } } };
  assertEquals(await getErrors(nested, { at: {} }), [{
    path: "/at/a~1b~0c",
    message: "is required",
  }]);
});

Deno.test("validateToolArguments() rejects unknown fields only if the schema does [2.4, A100]", async () => {
  const args = { city: "Bern", "co/untry": "CH" };
  const expected = [{ path: "/co~1untry", message: "is not a known property" }];
  assertEquals(await getErrors(weather, args), expected);
  const { additionalProperties: _closed, ...open } = weather;
  assertEquals(await getErrors(open, args), []);
  assertEquals(await getErrors({ ...open, unevaluatedProperties: false }, args), expected);
});

Deno.test("validateToolArguments() accepts any object, and only objects, for an empty schema [A100]", async () => {
  assertEquals(await getErrors({ type: "object" }, { anything: 1 }), []);
  assertEquals(await getErrors({}, {}), []);
  for (const args of [null, [], "x", 5, undefined]) {
    assertEquals(await getErrors({}, args), [{ path: "", message: "must be object" }]);
  }
});

Deno.test("validateToolArguments() rejects an invalid schema with the reason [A100]", async () => {
  const reject = (schema: JsonSchema, message: string) =>
    assertRejects(() => validateToolArguments(schema, {}), BadRequestError, message);
  await reject({ type: "strnig" }, "Invalid JSON Schema: /type must be one of array, boolean");
  await reject({ properties: 5 }, "Invalid JSON Schema: /properties must be an object");
  await reject({ $ref: "#/nowhere" }, 'Invalid JSON Schema: /$ref refers to "#/nowhere", which');
  await reject(5 as never, "A JSON Schema must be an object");
});

Deno.test("validateToolArguments() describes errors of const, false schemas, anyOf and type lists", async () => {
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
    { path: "/maybe", message: "must be string or null" },
  ]);
});

Deno.test("validateToolArguments() does not coerce values [B26]", async () => {
  const schema = { properties: { count: { type: "integer" }, tags: { type: "array" } } };
  assertEquals((await getErrors(schema, { count: "5", tags: '["x"]' })).length, 2);
});

Deno.test("validateToolArguments() uses the given validator", async () => {
  const rejectAll: SchemaValidator = () => () => [{ path: "/x", message: "is rejected" }];
  const result = await validateToolArguments({ type: "object" }, {}, rejectAll);
  assertEquals(result, {
    valid: false,
    errors: [{ path: "/x", message: "is rejected" }],
  });
});

Deno.test("validateToolArguments() rejects with a BadRequestError when a validator fails or returns something else", async () => {
  const reject = (validator: unknown, message: string) =>
    assertRejects(
      () => validateToolArguments({ type: "object" }, {}, validator as SchemaValidator),
      BadRequestError,
      message,
    );
  const fail = (): never => {
    throw new Error("no");
  };
  await reject(fail, "Invalid JSON Schema: no");
  await reject(() => Promise.reject(new Error("no")), "Invalid JSON Schema: no");
  await reject(() => true, "The validator must return a function");
  await reject(() => Promise.resolve(), "The validator must return a function");
  await reject(() => fail, "The validator failed: no");
  for (const errors of [true, undefined, ["bad"], [{ message: "bad" }], Promise.resolve([])]) {
    await reject(() => () => errors, "The validator must return a list of errors");
  }
});

/** Creates a schema with this number of properties. */
function createLargeSchema(count: number): JsonSchema {
  const names = Array.from({ length: count }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, { enum: [name, "b"] }]));
  return { type: "object", properties };
}

Deno.test("validateToolArguments() compiles a schema with thousands of properties, and refuses one that would take seconds", async () => {
  assertEquals(await getErrors(createLargeSchema(3_000), { p2999: "c" }), [
    { path: "/p2999", message: 'must be one of "p2999", "b"' },
  ]);
  await assertRejects(
    () => validateToolArguments(createLargeSchema(10_000), { p0: "c" }),
    BadRequestError,
    "Invalid JSON Schema: it has more than 10000 subschemas",
  );
});

Deno.test("validateToolArguments() names the remedy when the runtime forbids eval", async () => {
  const forbidden: SchemaValidator = () => {
    throw new EvalError("Code generation from strings disallowed for this context");
  };
  await assertRejects(
    () => validateToolArguments({ type: "object" }, {}, forbidden),
    BadRequestError,
    "Cannot compile the JSON Schema because this runtime forbids eval: pass a `validator`",
  );
});
