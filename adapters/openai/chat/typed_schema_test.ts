import { assertEquals } from "@std/assert";
import { detectDialect } from "./dialect.ts";
import { toTypedSchema } from "./typed_schema.ts";

const ALL = ["string", "number", "boolean", "object", "array", "null"];

Deno.test("toTypedSchema(): adds the type to each schema without one", () => {
  assertEquals(
    toTypedSchema({
      properties: {
        value: { description: "Any value." },
        tags: { items: { type: "string" } },
        list: { type: "array" },
        kind: { enum: ["a", 1] },
        link: { $ref: "#/$defs/link" },
        rule: { type: "object", properties: {}, anyOf: [{ required: ["a"] }, { type: "null" }] },
      },
      $defs: { link: { properties: { url: { type: "string" } } } },
    }),
    {
      type: "object",
      properties: {
        value: { type: ALL, description: "Any value." },
        tags: { type: "array", items: { type: "string" } },
        list: { type: "array", items: { type: ALL } },
        kind: { enum: ["a", 1] },
        link: { $ref: "#/$defs/link" },
        rule: {
          type: "object",
          properties: {},
          anyOf: [{ type: "object", required: ["a"] }, { type: "null" }],
        },
      },
      $defs: { link: { type: "object", properties: { url: { type: "string" } } } },
    },
  );
});

Deno.test("detectDialect(): Fireworks gets schemas with types", () => {
  const { toToolSchema } = detectDialect("https://api.fireworks.ai/inference/v1");
  assertEquals(toToolSchema?.({ properties: { a: {} } }), {
    type: "object",
    properties: { a: { type: ALL } },
  });
});
