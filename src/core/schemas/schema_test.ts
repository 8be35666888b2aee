import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../errors/errors.ts";
import type { JsonSchema } from "../json/json.ts";
import { ajvValidator } from "./schema.ts";

Deno.test("ajvValidator() resolves references to identifiers of the same schema only", async () => {
  const createSchema = (type: string) => ({
    $id: "https://example.com/call",
    properties: { a: { $ref: "#/$defs/word" }, b: { $ref: "https://example.com/number" } },
    $defs: {
      word: { type },
      number: { $id: "https://example.com/number", type: "number" },
    },
  });
  for (const type of ["string", "boolean"]) {
    const validate = await ajvValidator(createSchema(type));
    assertEquals(validate({ a: 1, b: "x" }), [
      { path: "/a", message: `must be ${type}` },
      { path: "/b", message: "must be number" },
    ]);
  }
});

Deno.test("ajvValidator() does not check formats", async () => {
  const schema = { properties: { at: { type: "string", format: "date-time" } } };
  const validate = await ajvValidator(schema);
  assertEquals(validate({ at: "tomorrow" }), []);
});

/** Returns a schema that is nested `levels` deep. */
function nest(levels: number): JsonSchema {
  let schema: JsonSchema = {};
  for (let level = 1; level < levels; level++) schema = { not: schema };
  return schema;
}

Deno.test("ajvValidator() compiles a schema that is nested 200 levels deep", async () => {
  const validate = await ajvValidator(nest(200));
  assertEquals(validate(1).length, 1);
});

Deno.test("ajvValidator() throws for a schema that is nested more than 200 levels deep, or contains itself", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["not"] = cyclic;
  for (const schema of [cyclic, nest(201), nest(20_000)]) {
    assertThrows(() => ajvValidator(schema), BadRequestError, "more than 200 levels deep");
  }
});

Deno.test("ajvValidator() compiles schemas with the same text once", async () => {
  const createSchema = () => ({ type: "object", properties: { shared: { type: "boolean" } } });
  await ajvValidator(createSchema());
  const { Function: original } = globalThis;
  globalThis.Function = new Proxy(original, {
    construct: () => {
      throw new Error("compiled again");
    },
  });
  try {
    const check = await ajvValidator(createSchema());
    assertEquals(check({ shared: 1 }), [{ path: "/shared", message: "must be boolean" }]);
  } finally {
    globalThis.Function = original;
  }
});
