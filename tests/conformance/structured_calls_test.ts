import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { StructuredOutputFailedError } from "../../src/core/errors/errors.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { testAgent } from "./test_agent.ts";

const city = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
} as const;
const answer = reply([toolCall("structured_output", { city: "Bern" })]);
const unknownCall = reply([toolCall("json", { city: "Bern" })]);

Deno.test("structuredOutput(): without other tools, a turn that calls only tools that do not exist is an attempt", async () => {
  const { agent, streamFn } = testAgent(Array.from({ length: 20 }, () => unknownCall));
  const error = await assertRejects(
    () => agent.structuredOutput("Which city?", city, { maxRetries: 2 }),
    StructuredOutputFailedError,
  );
  assertEquals([streamFn.calls.length, error.attempts], [3, 3]);
  assertStringIncludes(error.lastError, "structured_output");
});

Deno.test("structuredOutput(): a turn that calls only tools which the model must not call is an attempt", async () => {
  const look = reply([toolCall("look", {})]);
  const { agent, streamFn } = testAgent(Array.from({ length: 20 }, () => look), {
    tools: [fakeTool({ name: "look" })],
  });
  await assertRejects(
    () => agent.structuredOutput("Which city?", city, { maxRetries: 2, toolChoice: "none" }),
    StructuredOutputFailedError,
  );
  assertEquals(streamFn.calls.length, 3);
});

Deno.test("structuredOutput(): the model answers after a call of a tool that does not exist", async () => {
  const { agent } = testAgent([unknownCall, answer]);
  assertEquals(await agent.structuredOutput("Which city?", city, { maxRetries: 1 }), {
    city: "Bern",
  });
});

Deno.test("structuredOutput(): with other tools, calls of tools that do not exist are no attempts", async () => {
  const { agent } = testAgent([unknownCall, unknownCall, unknownCall, answer], {
    tools: [fakeTool({ name: "look" })],
  });
  assertEquals(await agent.structuredOutput("Which city?", city, { maxRetries: 0 }), {
    city: "Bern",
  });
});
