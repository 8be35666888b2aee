import { assertEquals } from "@std/assert";
import { modelSpec } from "../../../src/core/model.ts";
import { isKimi, toMoonshotSchema } from "./moonshot_schema.ts";

const TEXT = { type: "string" };

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
      pair: { type: "array", prefixItems: [TEXT, TEXT], items: {} },
      any: {},
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
