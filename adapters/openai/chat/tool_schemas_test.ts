import { assertEquals, assertStrictEquals } from "@std/assert";
import { modelSpec } from "../../../src/core/models/model.ts";
import { selectToolSchema } from "./tool_schemas.ts";

const TEXT = { type: "string" };
const PARAMETERS = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  properties: { $at: TEXT, user: { $ref: "#/$defs/User", description: "Who." } },
  $defs: { User: { type: "object", properties: { name: TEXT } } },
};

function convert(modelId: string) {
  return selectToolSchema(modelSpec(`gateway/${modelId}`))(PARAMETERS);
}

Deno.test("selectToolSchema(): Gemini models get no references, which their API rejects", () => {
  for (const modelId of ["google/gemini-3.8-flash", "gemini-2.5-pro", "vertex_ai/Gemini-x"]) {
    assertEquals(convert(modelId), {
      type: "object",
      properties: {
        $at: TEXT,
        user: { type: "object", properties: { name: TEXT }, description: "Who." },
      },
    });
  }
  assertStrictEquals(convert("gemini-2.5-pro"), convert("gemini-2.5-pro"));
});

Deno.test("selectToolSchema(): a model has its own rules, a server others, and most have none", () => {
  assertEquals(convert("openai/gpt-4o"), PARAMETERS);
  assertEquals(
    Object.keys(Object(convert("anthropic/claude-x")["properties"])).includes("$at"),
    false,
  );
  assertEquals(convert("moonshotai/kimi-k3")["$defs"], undefined);
  const ofServer = () => ({ type: "object" });
  const select = (modelId: string) => selectToolSchema(modelSpec(`gateway/${modelId}`), ofServer);
  assertStrictEquals(select("gemini-2.5-pro"), ofServer);
  assertEquals(select("claude-x") === ofServer, false);
});
