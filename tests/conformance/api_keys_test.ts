import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { testAgent } from "./test_agent.ts";

Deno.test("apiKey of a run: is sent to the provider of the current model only", async () => {
  const { agent, streamFn } = testAgent(
    [fail("network_error", "Down"), reply([toolCall("look")]), reply("Done"), reply("Again")],
    {
      tools: [fakeTool({ name: "look" })],
      streamOptions: { apiKey: "key-of-test" },
      retry: () => null,
      fallback: [{ model: modelSpec("test/model") }],
    },
  );
  agent.setModel("other/model");
  agent.subscribe(({ type }) => {
    if (type === "tool_execution_start") agent.setModel("third/model");
  });
  await agent.prompt("Go", { streamOptions: { apiKey: "key-of-run" } });
  agent.setModel("test/model");
  await agent.prompt("Again");
  assertEquals(streamFn.calls.map(({ model, options }) => [model.provider, options.apiKey]), [
    ["other", "key-of-run"],
    ["test", undefined],
    ["third", undefined],
    ["test", "key-of-test"],
  ]);
});

Deno.test("asTool(): after setModel(), sends the API key of the agent's options to no other provider", async () => {
  const streamFn = scriptedStream([reply("Sunny"), reply("Rainy")]);
  const streamOptions = { apiKey: "key-of-test", maxTokens: 9 };
  const child = new Agent({ model: "test/child", streamFn, streamOptions });
  child.setModel("other/child");
  const other = child.asTool({ name: "weather", description: "Knows the weather." });
  child.setModel("test/larger:high");
  const same = child.asTool({ name: "weather", description: "Knows the weather." });
  for (const tool of [other, same]) {
    const { agent } = testAgent([reply([toolCall("weather", { prompt: "Now?" })]), reply("Fine")], {
      tools: [tool],
    });
    await agent.prompt("Go");
  }
  assertEquals(streamFn.calls.map(({ model, options }) => ({ model, options })), [
    { model: modelSpec("other/child"), options: { maxTokens: 9 } },
    { model: modelSpec("test/larger:high"), options: { maxTokens: 9, apiKey: "key-of-test" } },
  ]);
});

Deno.test("apiKey of a preRequest policy: is sent to the provider of the model that the request then has", async () => {
  const { agent, streamFn } = testAgent([
    fail("network_error", "Down"),
    fail("network_error", "Down"),
    reply("Done"),
    reply("Again"),
  ], {
    streamOptions: { apiKey: "key-of-test" },
    retry: () => null,
    fallback: [{ model: modelSpec("test/model") }, { model: modelSpec("other/fallback") }],
    policies: [{
      name: "router",
      preRequest: ({ turn, request }) => ({
        type: "change",
        ...(request.context.messages.length === 1 && { model: modelSpec("other/model") }),
        options: { apiKey: `key-${turn}` },
      }),
    }],
  });
  await agent.prompt("Go");
  await agent.prompt("Again");
  assertEquals(streamFn.calls.map(({ model, options }) => [model.provider, options.apiKey]), [
    ["other", "key-1"],
    ["test", undefined],
    ["other", "key-1"],
    ["test", "key-1"],
  ]);
});

Deno.test("apiKey of the agent: is not sent to another server that a fallback calls under the same provider", async () => {
  const spare = scriptedStream([fail("network_error", "Down"), reply("Done")]);
  const { agent, streamFn } = testAgent([fail("network_error", "Down")], {
    streamOptions: { apiKey: "key-of-test", maxTokens: 9 },
    retry: () => null,
    fallback: [
      { model: modelSpec("test/spare"), streamFn: spare },
      { model: modelSpec("test/spare"), streamFn: spare, getApiKey: () => "key-of-spare" },
    ],
  });
  await agent.prompt("Go");
  assertEquals(streamFn.calls[0]?.options, { apiKey: "key-of-test", maxTokens: 9 });
  assertEquals(spare.calls.map(({ options }) => options), [
    { maxTokens: 9 },
    { maxTokens: 9, apiKey: "key-of-spare" },
  ]);
});
