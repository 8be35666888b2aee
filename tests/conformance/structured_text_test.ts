import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { outlineMessages } from "./outline.ts";

const city = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
} as const;

const look = defineTool({
  name: "look",
  description: "Looks.",
  parameters: { type: "object" },
  execute: () => "nothing",
});

Deno.test("structuredOutput() accepts a text with the JSON of the answer instead of the call of its tool", async () => {
  for (const text of ['{"city": "Bern"}', '```json\n{"city": "Bern"}\n```']) {
    for (const tools of [[], [look]]) {
      const streamFn = scriptedStream([reply(text)]);
      const agent = new Agent({ model: "any/model", tools, streamFn });
      assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
      streamFn.assertDone();
    }
  }
});

Deno.test("structuredOutput() accepts a text with the JSON of a list", async () => {
  const streamFn = scriptedStream([reply('["Bern", "Rome"]')]);
  const agent = new Agent({ model: "any/model", streamFn });
  const cities = { type: "array", items: { type: "string" } } as const;
  assertEquals(await agent.structuredOutput("Which cities?", cities), ["Bern", "Rome"]);
});

Deno.test("structuredOutput() asks for the call of its tool after a text that does not match", async () => {
  const streamFn = scriptedStream([reply('{"city": 5}'), reply('{"city": "Bern"}')]);
  const agent = new Agent({ model: "any/model", streamFn });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  const [feedback = ""] = outlineMessages(streamFn.calls[1]?.context.messages ?? []).slice(-1);
  assertStringIncludes(feedback, 'must be given by calling the tool "structured_output"');
});

Deno.test("structuredOutput() does not take the call of a tool that is written as text for the answer", async () => {
  const person = {
    type: "object",
    properties: { name: { type: "string" } },
    required: ["name"],
  } as const;
  for (
    const text of [
      '{"name":"look","parameters":{}}',
      '{"name":"structured_output","arguments":{"name":"Ada"}}',
    ]
  ) {
    const streamFn = scriptedStream([reply(text), reply('{"name": "Ada"}')]);
    const agent = new Agent({ model: "any/model", tools: [look], streamFn });
    assertEquals(await agent.structuredOutput("Who?", person), { name: "Ada" });
    streamFn.assertDone();
  }
});

Deno.test("structuredOutput() takes the replies of agents that its tools run neither for the answer nor for attempts", async () => {
  for (const text of ["Somewhere", '{"city": "Rome"}']) {
    // The ids of the runs are equal, as with a counter for each agent.
    const newId = () => "id";
    const helper = new Agent({
      model: "any/helper",
      streamFn: scriptedStream([reply(text)]),
      newId,
    });
    const streamFn = scriptedStream([
      reply([toolCall("help", { prompt: "Where?" })]),
      reply([toolCall("structured_output", { city: "Bern" })]),
    ]);
    const tools = [helper.asTool({ name: "help", description: "Helps." })];
    const agent = new Agent({ model: "any/model", tools, streamFn, newId });
    const answer = await agent.structuredOutput("Which city?", city, { maxRetries: 0 });
    assertEquals(answer, { city: "Bern" });
    assertStringIncludes(outlineMessages(agent.state.messages)[2] ?? "", text);
  }
});
