import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../errors/errors.ts";
import type { StandardJsonSchemaSource } from "./infer.ts";
import { getValidateFunction, toJsonSchema } from "./standard_schema.ts";

type StandardProperties = StandardJsonSchemaSource["~standard"];

function createSource(properties: Partial<StandardProperties>): StandardJsonSchemaSource {
  return { "~standard": { version: 1, vendor: "acme", ...properties } };
}

const SUBJECT = "The schema of the tool";

Deno.test("toJsonSchema() returns the JSON Schema of a validator's input", () => {
  const calls: { readonly target: string }[] = [];
  const source = createSource({
    jsonSchema: {
      input: (options) => {
        calls.push(options);
        return { type: "object" };
      },
    },
  });
  assertEquals(toJsonSchema(source, SUBJECT), { type: "object" });
  assertEquals(calls, [{ target: "draft-2020-12" }]);
});

Deno.test("toJsonSchema() accepts validators that are functions, as in ArkType", () => {
  const source = Object.assign(() => {}, createSource({ jsonSchema: { input: () => ({}) } }));
  assertEquals(toJsonSchema(source, SUBJECT), {});
});

Deno.test("toJsonSchema() names the remedy for a validator without a JSON Schema", () => {
  const expectHint = (vendor: string, hint: string) =>
    assertThrows(
      () => toJsonSchema(createSource({ vendor }), SUBJECT),
      BadRequestError,
      `${SUBJECT}: ${vendor} has no JSON Schema for it: ${hint}`,
    );
  expectHint("valibot", "wrap it in toStandardJsonSchema() of @valibot/to-json-schema");
  expectHint("zod", "use Zod 4.2 or later, or pass z.toJSONSchema(schema)");
  expectHint("acme", "pass a JSON Schema");
  expectHint("constructor", "pass a JSON Schema");
});

Deno.test("toJsonSchema() throws a BadRequestError that names the tool when the conversion fails", () => {
  const input = () => {
    throw new Error("Date cannot be represented in JSON Schema");
  };
  assertThrows(
    () => toJsonSchema(createSource({ jsonSchema: { input } }), SUBJECT),
    BadRequestError,
    `${SUBJECT}: acme has no JSON Schema for it: Date cannot be represented in JSON Schema`,
  );
});

Deno.test("toJsonSchema() returns a JSON Schema or TypeBox schema as the same object", () => {
  const typebox = { type: "object", [Symbol.for("TypeBox.Kind")]: "Object" };
  assertStrictEquals(toJsonSchema(typebox, SUBJECT), typebox);
});

Deno.test("toJsonSchema() refuses the schemas of libraries without Standard Schema, and functions", () => {
  // A schema of runtypes is plain data with hidden methods.
  const runtype = Object.defineProperty({ tag: "string" }, "parse", { value: () => {} });
  for (const source of [runtype, { decode: () => {} }, new Date(), new Map(), () => {}, String]) {
    assertThrows(
      () => toJsonSchema(source as unknown as StandardJsonSchemaSource, "The schema of the answer"),
      BadRequestError,
      "The schema of the answer must be a JSON Schema or a Standard Schema",
    );
  }
});

Deno.test("getValidateFunction() returns the output of a validator, at once or as a promise", async () => {
  const double = (value: unknown) => ({ value: Number(value) * 2 });
  const validate = getValidateFunction(createSource({ validate: double }));
  assertEquals(validate?.(2), { valid: true, value: 4 });
  const later = getValidateFunction(
    createSource({ validate: (value) => Promise.resolve(double(value)) }),
  );
  assertEquals(await later?.(3), { valid: true, value: 6 });
});

Deno.test("getValidateFunction() awaits any object with a then(), as promises of other libraries", async () => {
  const thenable = {
    then: (resolve: (result: unknown) => void) => resolve({ issues: [{ message: "is taken" }] }),
  };
  const validate = getValidateFunction(createSource({ validate: () => thenable }));
  assertEquals(await validate?.({}), {
    valid: false,
    errors: [{ path: "", message: "is taken" }],
  });
});

Deno.test("getValidateFunction() converts issues to errors with JSON Pointers", () => {
  const issues = [
    { message: "is taken", path: ["users", 0, { key: "a/b" }] },
    { message: "is odd" },
    { path: [Symbol("x")] },
    "nonsense",
  ];
  assertEquals(getValidateFunction(createSource({ validate: () => ({ issues }) }))?.({}), {
    valid: false,
    errors: [
      { path: "/users/0/a~1b", message: "is taken" },
      { path: "", message: "is odd" },
      { path: "/Symbol(x)", message: "is invalid" },
      { path: "", message: "is invalid" },
    ],
  });
});

Deno.test("getValidateFunction() reads the issues of a result that is a list, as in ArkType", () => {
  const errors: object[] = [{ message: "email must be an email address", path: ["email"] }];
  const result = Object.assign(errors, { issues: errors });
  const validate = getValidateFunction(createSource({ validate: () => result }));
  assertEquals(validate?.({}), {
    valid: false,
    errors: [{ path: "/email", message: "email must be an email address" }],
  });
});

for (const issues of [[], "invalid", {}]) {
  Deno.test(`getValidateFunction(): the issues ${JSON.stringify(issues)} are a failure`, () => {
    const validate = getValidateFunction(createSource({ validate: () => ({ issues }) }));
    assertEquals(validate?.({}), {
      valid: false,
      errors: [{ path: "", message: "is invalid" }],
    });
  });
}

Deno.test("getValidateFunction() throws when a validator returns no result", () => {
  for (const result of [undefined, null, true, [], {}, { issues: undefined }]) {
    const validate = getValidateFunction(createSource({ validate: () => result }));
    assertThrows(
      () => validate?.({}),
      BadRequestError,
      "The validator must return a value or issues",
    );
  }
});

Deno.test("getValidateFunction() returns undefined for a JSON Schema", () => {
  assertEquals(getValidateFunction({ type: "object" }), undefined);
  assertEquals(getValidateFunction(createSource({})), undefined);
});
