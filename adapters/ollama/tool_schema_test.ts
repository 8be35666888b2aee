import { assertEquals, assertStrictEquals } from "@std/assert";
import type { JsonSchema } from "../../src/core/json/json.ts";
import { toOllamaSchema } from "./tool_schema.ts";

/** The parameters that a version of Ollama from 2025 passes on to the model, which `api/types.go` names. */
function readAsOllama({ type, required, properties }: JsonSchema): JsonSchema {
  const kept = Object.entries(Object(properties)).map(([name, property]) => {
    const { type, items, description, enum: values } = Object(property);
    return [name, { type, items, description, enum: values }];
  });
  return JSON.parse(JSON.stringify({ type, required, properties: Object.fromEntries(kept) }));
}

Deno.test("toOllamaSchema(): the model reads the members of objects, and what else Ollama drops", () => {
  const parameters = {
    type: "object",
    properties: {
      at: { $ref: "#/$defs/Point", description: "Where." },
      points: { type: "array", items: { $ref: "#/$defs/Point" } },
      mode: { type: "string", enum: ["a", "b"], title: "Mode" },
      count: { type: "integer", minimum: 1, title: "Count" },
      either: { anyOf: [{ type: "string" }, { type: "null" }], description: "Either." },
    },
    required: ["at"],
    $defs: { Point: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
  };
  const point = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };
  assertEquals(readAsOllama(toOllamaSchema(parameters)), {
    type: "object",
    required: ["at"],
    properties: {
      at: {
        type: "object",
        description: 'Where.\n\n{"properties":{"x":{"type":"number"}},"required":["x"]}',
      },
      points: { type: "array", items: point },
      mode: { type: "string", enum: ["a", "b"] },
      count: { type: "integer", description: '{"minimum":1}' },
      either: { description: 'Either.\n\n{"anyOf":[{"type":"string"},{"type":"null"}]}' },
    },
  });
});

Deno.test("toOllamaSchema(): newer versions get the keywords in place, and simple schemas are unchanged", () => {
  const nested = { type: "object", properties: { a: { type: "object", properties: {} } } };
  assertEquals(toOllamaSchema(nested)["properties"], {
    a: { type: "object", properties: {}, description: '{"properties":{}}' },
  });
  const simple = { type: "object", properties: { a: { type: "string", description: "A." } } };
  assertEquals(toOllamaSchema(simple), simple);
  assertStrictEquals(toOllamaSchema(simple), toOllamaSchema(simple));
});
