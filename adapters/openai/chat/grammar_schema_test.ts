import { assertEquals, assertStrictEquals } from "@std/assert";
import { toGrammarSchema } from "./grammar_schema.ts";

Deno.test("toGrammarSchema(): moves bounds and patterns to the descriptions, at every depth", () => {
  const schema = {
    type: "object",
    properties: {
      note: { type: "string", maxLength: 2000, description: "What was done." },
      maxLength: { type: "integer", maximum: 9 },
      steps: {
        type: "array",
        minItems: 1,
        maxItems: 100,
        items: { type: "string", pattern: "^a" },
      },
    },
    required: ["note"],
  };
  const text = JSON.stringify(schema);
  assertEquals(toGrammarSchema(schema), {
    type: "object",
    properties: {
      note: { type: "string", description: "What was done.\n\n{maxLength: 2000}" },
      maxLength: { type: "integer", maximum: 9 },
      steps: {
        type: "array",
        description: "{minItems: 1, maxItems: 100}",
        items: { type: "string", description: '{pattern: "^a"}' },
      },
    },
    required: ["note"],
  });
  assertEquals(JSON.stringify(schema), text);
  assertStrictEquals(toGrammarSchema(schema), toGrammarSchema(schema));
});
