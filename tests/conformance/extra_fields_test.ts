import { assertEquals, assertThrows } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { subAgentTool } from "../../src/sub_agents/sub_agent_tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

const down = fail("network_error", "Down");
const extra: JsonObject = { top_k: 40 };
const noRetry = () => null;

function listExtra({ calls }: ScriptedStream): (string | JsonObject | undefined)[][] {
  return calls.map(({ model, options }) => [model.provider, options.extra]);
}

Deno.test("extra of the agent: is sent to fallback models of its provider only", async () => {
  const { agent, streamFn } = testAgent([down, down, down, reply("Done")], {
    streamOptions: { extra, maxTokens: 9 },
    retry: noRetry,
    fallback: ["other/spare", "test/spare", { model: modelSpec("third/spare") }],
  });
  await agent.prompt("Go");
  assertEquals(streamFn.calls.map(({ options }) => options), [
    { extra, maxTokens: 9 },
    { maxTokens: 9 },
    { extra, maxTokens: 9 },
    { maxTokens: 9 },
  ]);
});

Deno.test("extra of a fallback: replaces that of the run, also when it is empty", async () => {
  const { agent, streamFn } = testAgent([down, down, down, reply("Done")], {
    streamOptions: { extra },
    retry: noRetry,
    fallback: [
      { model: modelSpec("other/spare"), extra: { think: true } },
      { model: modelSpec("test/spare"), extra: {} },
      { model: modelSpec("test/other") },
    ],
  });
  await agent.prompt("Go");
  assertEquals(listExtra(streamFn), [
    ["test", extra],
    ["other", { think: true }],
    ["test", {}],
    ["test", extra],
  ]);
});

Deno.test("extra of the agent: is sent to no other provider after setModel()", async () => {
  const { agent, streamFn } = testAgent([reply("A"), reply("B")], { streamOptions: { extra } });
  agent.setModel("other/model");
  await agent.prompt("Go");
  agent.setModel("test/larger");
  await agent.prompt("Go");
  assertEquals(listExtra(streamFn), [["other", undefined], ["test", extra]]);
});

Deno.test("extra of a run: is for the provider of the current model", async () => {
  const { agent, streamFn } = testAgent([down, reply("Done")], {
    streamOptions: { apiKey: "key-of-test" },
    retry: noRetry,
    fallback: ["test/spare"],
  });
  agent.setModel("other/model");
  await agent.prompt("Go", { streamOptions: { extra } });
  assertEquals(streamFn.calls.map(({ options }) => options), [
    { extra },
    { apiKey: "key-of-test" },
  ]);
});

Deno.test("extra of the agent: stays with its provider when a run has an API key for another one", async () => {
  const { agent, streamFn } = testAgent([down, reply("Done")], {
    streamOptions: { extra },
    retry: noRetry,
    fallback: ["test/spare"],
  });
  agent.setModel("other/model");
  await agent.prompt("Go", { streamOptions: { apiKey: "key-of-other" } });
  assertEquals(streamFn.calls.map(({ options }) => options), [
    { apiKey: "key-of-other" },
    { extra },
  ]);
});

Deno.test("extra of a preRequest policy: is sent to the provider of the model that the request then has", async () => {
  const { agent, streamFn } = testAgent([down, reply("Done")], {
    streamOptions: { extra },
    retry: noRetry,
    fallback: ["test/spare"],
    policies: [{
      name: "router",
      preRequest: () => ({
        type: "change",
        model: modelSpec("other/model"),
        options: { extra: { think: true } },
      }),
    }],
  });
  await agent.prompt("Go");
  assertEquals(listExtra(streamFn), [["other", { think: true }], ["test", undefined]]);
});

Deno.test("extra of a fallback: has no tools that a policy refuses", async () => {
  const { agent, streamFn } = testAgent([down, reply("Done")], {
    retry: noRetry,
    fallback: [{
      model: modelSpec("other/spare"),
      extra: { top_k: 1, tools: [{ type: "web" }, { type: "shell" }] },
    }],
    policies: [{
      name: "no_shell",
      canUseTool: ({ type, tool }) =>
        type === "tool" || tool.type !== "provider_tool" || tool.provider !== "other" ||
        tool.definition["type"] !== "shell",
    }],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(listExtra(streamFn)[1], ["other", { top_k: 1, tools: [{ type: "web" }] }]);
  assertEquals(eventsOfType(events, "warning").map(({ code }) => code), ["extra_left_out"]);
});

Deno.test("subAgentTool(): a sub-agent of another provider does not get the extra of the run", async () => {
  const streamFn = scriptedStream([
    reply([toolCall("small", { prompt: "a" }), toolCall("same", { prompt: "b" })]),
    reply("A"),
    reply("B"),
    reply("Done"),
  ]);
  const agent = new Agent({
    model: "test/model",
    streamFn,
    streamOptions: { extra },
    tools: [
      subAgentTool({ name: "small", description: "", model: "other/small" }),
      subAgentTool({ name: "same", description: "" }),
    ],
  });
  await agent.prompt("Go");
  assertEquals(listExtra(streamFn).slice(1, 3), [["other", undefined], ["test", extra]]);
});

Deno.test("extra: fields that are no object are refused when the agent is made", () => {
  for (const fields of [[], "top_k", null, 1, Promise.resolve({})]) {
    const untyped = fields as unknown as JsonObject;
    assertThrows(
      () => testAgent([], { streamOptions: { extra: untyped } }),
      BadRequestError,
      "streamOptions.extra must be an object, not",
    );
    assertThrows(
      () => testAgent([], { fallback: [{ model: modelSpec("a/b"), extra: untyped }] }),
      BadRequestError,
      "extra must be an object, not",
    );
  }
});
