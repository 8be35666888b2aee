import { assertEquals } from "@std/assert";
import { modelSpec } from "../../../src/core/models/model.ts";
import { isKimi, toMoonshotSchema } from "./moonshot_schema.ts";

const TEXT = { type: "string" };
const ANY = {
  anyOf: [
    ...["string", "number", "boolean", "object", "null"].map((type) => ({ type })),
    { type: "array", items: TEXT },
  ],
};

Deno.test("toMoonshotSchema(): moves types to alternatives, and inlines definitions", () => {
  const schema = {
    type: "object",
    properties: {
      id: { type: "string", anyOf: [{ format: "uuid" }, { type: "string", maxLength: 3 }] },
      either: { oneOf: [TEXT, { type: "null" }] },
      list: {
        type: "array",
        items: { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }, true] },
      },
      pair: { type: "array", items: [TEXT, TEXT] },
      any: true,
      ref: { $ref: "#/definitions/text", type: "string", description: "A text" },
    },
    definitions: { text: { type: "string", minLength: 1 } },
  };
  assertEquals(toMoonshotSchema(schema), {
    type: "object",
    properties: {
      id: { anyOf: [{ type: "string", format: "uuid" }, { type: "string", maxLength: 3 }] },
      either: { oneOf: [TEXT, { type: "null" }] },
      list: {
        type: "array",
        items: {
          anyOf: [{ type: "object", required: ["a"] }, { type: "object", required: ["b"] }, true],
        },
      },
      pair: { type: "array", prefixItems: [TEXT, TEXT], items: ANY },
      any: ANY,
      ref: { type: "string", minLength: 1, description: "A text" },
    },
  });
});

Deno.test("isKimi(): recognizes the model behind gateways", () => {
  const ids = ["kimi-k3", "moonshotai/kimi-k2.5:free", "accounts/x/models/Kimi-K2", "akimik"];
  assertEquals(ids.map((modelId) => isKimi(modelSpec(`a/${modelId}`))), [
    true,
    true,
    true,
    false,
  ]);
});

Deno.test("toMoonshotSchema(): each schema has a type, that of its values or of its keywords", () => {
  const { properties } = toMoonshotSchema({
    type: "object",
    properties: {
      mode: { enum: ["smart", "full"] },
      level: { enum: [1, 2.5] },
      mixed: { enum: ["a", 1, null] },
      kind: { const: true },
      value: { description: "Any value." },
      flag: true,
      list: { type: "array" },
      pairs: { items: { properties: { at: { minimum: 1 } } } },
      name: { minLength: 1 },
      either: { anyOf: [{ required: ["a"] }, { const: 1 }, { type: ["string", "null"] }] },
    },
  });
  assertEquals(properties, {
    mode: { type: "string", enum: ["smart", "full"] },
    level: { type: "number", enum: [1, 2.5] },
    mixed: { type: "string", enum: ["a", 1, null] },
    kind: { type: "boolean", const: true },
    value: { description: "Any value.", ...ANY },
    flag: ANY,
    list: { type: "array", items: ANY },
    pairs: {
      type: "array",
      items: { type: "object", properties: { at: { type: "number", minimum: 1 } } },
    },
    name: { type: "string", minLength: 1 },
    either: {
      anyOf: [
        { type: "object", required: ["a"] },
        { type: "integer", const: 1 },
        { type: ["string", "null"] },
      ],
    },
  });
});
