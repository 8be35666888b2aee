import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import type { JsonSchema } from "../../src/core/json/json.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { testAgent } from "./test_agent.ts";

const city = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
} as const;
const misplaced = {
  "in the shape of another library": { schema: city },
  "with a name and a description": { name: "city", description: "A city", schema: city },
  "of properties alone": { city: { type: "string" } },
};

for (const [title, schema] of Object.entries(misplaced)) {
  Deno.test(`structuredOutput() rejects an object ${title} instead of a schema`, async () => {
    const { agent, streamFn } = testAgent([]);
    const error = await assertRejects(
      () => agent.structuredOutput("Which city?", schema as unknown as JsonSchema),
      BadRequestError,
    );
    assertStringIncludes(error.message, "is not a keyword of JSON Schema: pass the schema itself");
    assertEquals(streamFn.calls.length, 0);
  });
}

Deno.test("structuredOutput() accepts a schema without restrictions", async () => {
  for (const schema of [{}, { default: { type: "any" } }, { title: "Anything" }]) {
    const { agent } = testAgent([reply([toolCall("structured_output", { value: 5 })])]);
    assertEquals(await agent.structuredOutput("Which number?", schema), 5);
  }
});

const invalid = [
  [undefined, "The schema of the answer is not JSON: the value is undefined"],
  [null, "A JSON Schema must be an object"],
  ["city", "A JSON Schema must be an object"],
  [[city], "A JSON Schema must be an object"],
] as const;

Deno.test("structuredOutput() rejects a schema that is missing or no object", async () => {
  for (const [schema, message] of invalid) {
    const { agent } = testAgent([]);
    const ask = () => agent.structuredOutput("Which city?", schema as unknown as JsonSchema);
    await assertRejects(ask, BadRequestError, message);
  }
});
