import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../errors/errors.ts";
import { compileSchema, formatErrors } from "./compile_schema.ts";
import { ajvValidator, type SchemaValidator } from "./schema.ts";

Deno.test("compileSchema() compiles once per validator and returns cached schemas without a promise", async () => {
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

Deno.test("compileSchema() throws a BadRequestError for whatever a validator throws", async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const thrown of [new Error("broken"), null, proxy]) {
    const validator: SchemaValidator = () => {
      throw thrown;
    };
    assertThrows(() => compileSchema({}, validator), BadRequestError, "Invalid JSON Schema: ");
    const rejecting: SchemaValidator = () => Promise.reject(thrown);
    await assertRejects(
      async () => await compileSchema({}, rejecting),
      BadRequestError,
      "Invalid JSON Schema: ",
    );
  }
});

Deno.test("formatErrors() writes one line per error", () => {
  assertEquals(
    formatErrors([
      { path: "/city", message: "is required" },
      { path: "/days", message: "must be >= 1" },
    ]),
    "- /city: is required\n- /days: must be >= 1",
  );
  assertEquals(
    formatErrors([{ path: "", message: "must be object" }]),
    "- (root): must be object",
  );
});

Deno.test("formatErrors() cuts off long lines", () => {
  const text = formatErrors([{ path: `/${"a".repeat(1_000_000)}`, message: "must be object" }]);
  assertEquals([text.length, text.endsWith("aaa…")], [2_001, true]);
});
