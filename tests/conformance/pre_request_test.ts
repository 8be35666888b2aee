import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ChangeVerdict, Policy, PreRequestVerdict } from "../../src/core/hooks/policy.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { type ModelSpec, modelSpec } from "../../src/core/models/model.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineAllEvents, outlineEvents, outlineMessages } from "./outline.ts";
import { InstantClock, scriptedPorts, settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const look = () => fakeTool({ name: "look" });
const note = (words: string) => userMessage(words, 0);

/** A policy that changes the requests of the first turn. */
function changeFirst(change: Omit<ChangeVerdict, "type">): Policy {
  return {
    name: "change",
    preRequest: ({ turn }) => turn === 1 ? { type: "change", ...change } : undefined,
  };
}

Deno.test("preRequest: gets the request as it would be sent, without the key of getApiKey", async () => {
  const seen: unknown[] = [];
  const { agent, streamFn } = testAgent([reply("Hello")], {
    tools: [look()],
    systemPrompt: "Be brief",
    streamOptions: { temperature: 0 },
    getApiKey: () => "secret",
    context: { user: "ada" },
    policies: [{
      name: "watch",
      preRequest: ({ request, turn, model, runId, context, messages, signal: _signal }) => {
        const { context: { systemPrompt, messages: sent, tools }, options } = request;
        seen.push({
          model: request.model,
          options,
          ids: [request.runId, request.turn],
          systemPrompt,
          sent: outlineMessages(sent),
          tools,
        });
        seen.push({ turn, model, runId, context, history: outlineMessages(messages) });
      },
    }],
  });
  await checkEvents(agent.promptStream("Hi"));
  const model = modelSpec("test/model");
  assertEquals(seen, [
    {
      model,
      options: { temperature: 0 },
      ids: ["run_1", 1],
      systemPrompt: "Be brief",
      sent: ["user: Hi"],
      tools: [{ name: "look", description: "The fake tool look.", parameters: { type: "object" } }],
    },
    { turn: 1, model, runId: "run_1", context: { user: "ada" }, history: ["user: Hi"] },
  ]);
  assertEquals(streamFn.calls[0]?.options, { temperature: 0, apiKey: "secret" });
});

Deno.test("preRequest change: model, prompt, messages, tool choice and options change for one call only", async () => {
  const model = modelSpec("other/cheap:low");
  const { agent, streamFn } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [look()],
    systemPrompt: "Be brief",
    streamOptions: { temperature: 1, maxTokens: 10 },
    policies: [changeFirst({
      model,
      systemPrompt: "Be long",
      messages: [note("instead")],
      toolChoice: { name: "look" },
      options: { temperature: 0, seed: 1, toolChoice: "none" },
    })],
  });
  await checkEvents(agent.promptStream("Hi"));
  const [first, second] = streamFn.calls;
  assertEquals([first?.model, first?.context.systemPrompt, first?.options], [
    model,
    "Be long",
    { temperature: 0, maxTokens: 10, seed: 1, toolChoice: { name: "look" } },
  ]);
  assertEquals(outlineMessages(first?.context.messages ?? []), ["user: instead"]);
  assertEquals([second?.model, second?.context.systemPrompt, second?.options], [
    modelSpec("test/model"),
    "Be brief",
    { temperature: 1, maxTokens: 10 },
  ]);
  assertEquals(outlineMessages(second?.context.messages ?? []), [
    "user: Hi",
    "assistant: look({})",
    "tool_result: ok",
  ]);
  const [, assistant] = agent.state.messages;
  assertEquals(assistant?.role === "assistant" && [assistant.provider, assistant.modelId], [
    "other",
    "cheap",
  ]);
  assertEquals(agent.state.model, modelSpec("test/model"));
});

Deno.test("preRequest change: events and the reply name the model that is called", async () => {
  const { agent } = testAgent([reply("Hello")], {
    policies: [changeFirst({ model: modelSpec("other/cheap") })],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  const named = events.flatMap((event): readonly Pick<ModelSpec, "provider" | "modelId">[] => {
    switch (event.type) {
      case "model_call_start":
      case "model_call_end":
        return [event.model];
      case "message_start":
      case "message_end":
      case "turn_end":
        return event.message.role === "assistant" ? [event.message] : [];
      default:
        return [];
    }
  });
  assertEquals(named.map(({ provider, modelId }) => `${provider}/${modelId}`), [
    ...Array(5).fill("other/cheap"),
  ]);
});

Deno.test("preRequest change: calls of added tools run, and calls of removed tools do not", async () => {
  const added = fakeTool({ name: "added", result: "added ran" });
  const own = look();
  const { agent, streamFn } = testAgent([
    reply([toolCall("added"), toolCall("look")]),
    reply([toolCall("added")]),
    reply("Done"),
  ], { tools: [own], policies: [changeFirst({ tools: [added] })] });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(streamFn.calls.map(({ context }) => context.tools.map(({ name }) => name)), [
    ["added"],
    ["look"],
    ["look"],
  ]);
  assertEquals([added.calls.length, own.calls.length], [1, 0]);
  assertEquals(
    outlineMessages(agent.state.messages).filter((line) => line.startsWith("tool_result")),
    [
      "tool_result: added ran",
      'tool_result: Tool "look" not found. Available tools: added.',
      'tool_result: Tool "added" not found. Available tools: look.',
    ],
  );
});

Deno.test("preRequest change: the key of getApiKey is that of the changed model's provider", async () => {
  const { agent, streamFn } = testAgent([reply("Hello")], {
    streamOptions: { apiKey: "key of test" },
    getApiKey: (provider) => provider === "other" ? undefined : "key",
    policies: [changeFirst({ model: modelSpec("other/cheap") })],
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(streamFn.calls[0]?.options.apiKey, undefined);
});

Deno.test("preRequest: policies chain, each with the request as the ones before it left it", async () => {
  const seen: unknown[] = [];
  const add = (name: string): Policy => ({
    name,
    preRequest: async ({ request }) => {
      await Promise.resolve();
      seen.push(request.context.systemPrompt);
      return { type: "change", systemPrompt: `${request.context.systemPrompt} ${name}` };
    },
  });
  const { agent, streamFn } = testAgent([reply("Hello")], {
    systemPrompt: "start",
    policies: [add("a"), { name: "none", preRequest: () => ({ type: "continue" }) }, add("b")],
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(seen, ["start", "start a"]);
  assertEquals(streamFn.calls[0]?.context.systemPrompt, "start a b");
});

Deno.test("preRequest: a policy gets the model, its window and the tools that the one before it has chosen", async () => {
  const seen: unknown[] = [];
  const streamFn = Object.assign(scriptedStream([reply("Hello")]), {
    contextWindow: ({ modelId }: ModelSpec) => modelId === "cheap" ? 1_000 : 200_000,
  });
  const { agent } = testAgent([], {
    streamFn,
    tools: [look()],
    policies: [changeFirst({ model: modelSpec("other/cheap"), tools: [] }), {
      name: "watch",
      preRequest: ({ model, request, contextWindow, tools }) =>
        void seen.push(model.modelId, request.model.modelId, contextWindow, tools),
    }],
  });
  await agent.prompt("Hi");
  assertEquals(seen, ["cheap", "cheap", 1_000, []]);
});

Deno.test("preRequest: changes of different parts by several policies add up", async () => {
  const change = (name: string, part: Omit<ChangeVerdict, "type">): Policy => ({
    name,
    preRequest: () => ({ type: "change", ...part }),
  });
  const { agent, streamFn } = testAgent([reply("Hello")], {
    streamOptions: { seed: 1 },
    policies: [
      change("prompt", { systemPrompt: "Be long", options: { temperature: 0 } }),
      change("model", { model: modelSpec("other/cheap") }),
      change("options", { options: { maxTokens: 5 } }),
    ],
  });
  await checkEvents(agent.promptStream("Hi"));
  const [call] = streamFn.calls;
  assertEquals([call?.model.modelId, call?.context.systemPrompt, call?.options], [
    "cheap",
    "Be long",
    { seed: 1, temperature: 0, maxTokens: 5 },
  ]);
});

Deno.test("preRequest stop: sends no request, and later policies are not called", async () => {
  const asked: string[] = [];
  const { agent, streamFn } = testAgent([], {
    policies: [
      { name: "gate", preRequest: () => ({ type: "stop", reason: "too long" }) },
      { name: "later", preRequest: () => void asked.push("later") },
    ],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineAllEvents(events), [
    "agent_start",
    "turn_start 1",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "message_end assistant",
    "turn_end aborted",
    "agent_end",
  ]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && [end.stoppedBy, end.stopReason, end.error], [
    { policy: "gate", reason: "too long" },
    "aborted",
    undefined,
  ]);
  assertEquals(end?.type === "agent_end" && "abortReason" in end, false);
  assertEquals([asked, outlineMessages(agent.state.messages)], [[], ["user: Hi"]]);
  streamFn.assertDone();
});

Deno.test("preRequest: gets, and its stop keeps, the usage and the cost of the summary of transformContext", async () => {
  const seen: unknown[] = [];
  const usage = { input: 8, output: 2, cacheRead: 0, cacheWrite: 0, total: 10 };
  const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
  const { agent } = testAgent([], {
    transformContext: (messages) => ({
      messages,
      report: { droppedCount: 0, tokensBefore: 2, tokensAfter: 1, usage, cost },
    }),
    policies: [{
      name: "gate",
      preRequest: (context) => {
        seen.push(context.usage, context.cost);
        return { type: "stop", reason: "too long" };
      },
    }],
  });
  const result = await agent.prompt("Hi");
  assertEquals([result.stoppedBy?.policy, result.usage, result.cost], ["gate", usage, cost]);
  assertEquals(seen, [usage, cost]);
});

for (
  const [failure, preRequest] of [
    ["throws", () => {
      throw new Error("no quota service");
    }],
    ["rejects", () => Promise.reject(new Error("no quota service"))],
  ] as const
) {
  Deno.test(`preRequest that ${failure} ends the turn in an error and sends no request`, async () => {
    const { agent, streamFn } = testAgent([], { policies: [{ name: "quota", preRequest }] });
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(outlineAllEvents(events).slice(4), [
      "message_start assistant",
      "message_end assistant",
      "turn_end error",
      "agent_end",
    ]);
    const [end] = eventsOfType(events, "agent_end");
    assertEquals(
      [end?.stopReason, end?.error?.message],
      ["error", 'The policy "quota" (preRequest) failed: no quota service'],
    );
    streamFn.assertDone();
  });
}

const INVALID: readonly (readonly [string, unknown])[] = [
  ["a text", "stop"],
  ["a number", 1],
  ["an unknown type", { type: "Change" }],
  ["a skip", { type: "skip", reason: "no" }],
  ["an object without a type", { model: modelSpec("a/b") }],
  ["a model that is a name", { type: "change", model: "other/cheap" }],
  ["a model without a level", { type: "change", model: { provider: "a", modelId: "b" } }],
  ["a prompt that is no text", { type: "change", systemPrompt: 5 }],
  ["messages that are no array", { type: "change", messages: "Hi" }],
  ["a malformed message", { type: "change", messages: [{ role: "user", content: "Hi" }] }],
  ["a custom message", {
    type: "change",
    messages: [{ role: "custom", type: "note", data: 1, timestamp: 0 }],
  }],
  ["no message", { type: "change", messages: [] }],
  ["tools that are no array", { type: "change", tools: {} }],
  ["two tools of one name", { type: "change", tools: [look(), look()] }],
  ["options that are no object", { type: "change", options: "temperature" }],
  ["an unknown option", { type: "change", options: { maxToken: 5 } }],
  ["an invalid tool choice", { type: "change", toolChoice: "any" }],
  ["options with an invalid tool choice", { type: "change", options: { toolChoice: 5 } }],
];

for (const [verdict, returned] of INVALID) {
  Deno.test(`preRequest that returns ${verdict} ends the turn in an error and sends no request`, async () => {
    const { agent, streamFn } = testAgent([], {
      policies: [{ name: "odd", preRequest: () => returned as PreRequestVerdict }],
    });
    const { stopReason, error } = await agent.prompt("Hi");
    assertEquals(stopReason, "error");
    assertStringIncludes(error?.message ?? "", 'The policy "odd" (preRequest) failed: ');
    streamFn.assertDone();
  });
}

Deno.test("preRequest: is called again for the overflow retry, but not for retries and fallbacks", async () => {
  const seen: string[] = [];
  const spare = modelSpec("other/spare");
  const { agent, streamFn } = testAgent([
    fail("network_error", "Reset"),
    fail("context_window_overflow", "Too long"),
    fail("network_error", "Reset"),
    fail("network_error", "Reset"),
    reply("Short"),
  ], {
    ...scriptedPorts(new InstantClock()),
    retry: ({ attempt }) => attempt < 2 ? 0 : null,
    fallback: [{ model: spare }],
    transformContext: (messages, { overflow }) => overflow ? messages.slice(-1) : messages,
    policies: [{
      name: "watch",
      preRequest: ({ request: { context: { messages } } }) => {
        seen.push(outlineMessages(messages).join(", "));
        return { type: "change", systemPrompt: `request ${seen.length}` };
      },
    }],
  });
  await checkEvents(agent.promptStream([note("long story"), note("Hi")]));
  assertEquals(seen, ["user: long story, user: Hi", "user: Hi"]);
  assertEquals(streamFn.calls.map(({ model, context }) => [model.modelId, context.systemPrompt]), [
    ["model", "request 1"],
    ["model", "request 1"],
    ["model", "request 2"],
    ["model", "request 2"],
    ["spare", "request 2"],
  ]);
});

Deno.test("preRequest that hangs is abandoned 100 ms after the abort", async () => {
  const { agent, clock, streamFn } = testAgent([], {
    policies: [{ name: "slow", preRequest: () => new Promise(() => {}) }],
  });
  const running = checkEvents(agent.promptStream("Hi"));
  await settle();
  agent.abort("enough");
  await settle();
  clock.advance(100);
  const events = await running;
  assertEquals(outlineEvents(events).slice(-2), ["turn_end aborted", "agent_end"]);
  assertEquals([clock.waits, clock.sleepers], [[100], 0]);
  streamFn.assertDone();
});

/** A policy that leaves the tool `large` out of each request. */
const hidesLarge: Policy = {
  name: "hides",
  preRequest: ({ tools }) => ({
    type: "hide",
    tools: tools.filter(({ name }) => name === "large"),
  }),
};

Deno.test("hide: a tool is in no request, and a call of it is that of an unknown tool", async () => {
  const large = fakeTool({ name: "large" });
  const { agent, streamFn } = testAgent([reply([toolCall("large", {})]), reply("Done")], {
    tools: [look(), large],
    policies: [hidesLarge],
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(
    streamFn.calls.map(({ context }) => context.tools.map(({ name }) => name)),
    [["look"], ["look"]],
  );
  assertEquals(large.calls.length, 0);
  assertEquals(
    outlineMessages(agent.state.messages)[2],
    'tool_result: Tool "large" not found. Available tools: look.',
  );
});

Deno.test("hide: an agent below the run has the tool, but not in its requests if the policy guards it", async () => {
  const large = fakeTool({ name: "large" });
  const shows: Policy = {
    ...hidesLarge,
    preRequest: (context) => {
      if (context.request.context.messages.length === 1) return hidesLarge.preRequest?.(context);
    },
  };
  const { agent, streamFn } = testAgent([
    reply([toolCall("child", { prompt: "Go" })]),
    reply([toolCall("look", {})]),
    reply([toolCall("large", {})]),
    reply("Child done"),
    reply("Done"),
  ], {
    tools: [look(), large, subAgentTool({ name: "child", description: "" })],
    policies: [shows, { name: "hides_none", preRequest: () => ({ type: "hide", tools: [] }) }],
  });
  await checkEvents(agent.promptStream("Go"));
  const names = streamFn.calls.map(({ context }) =>
    context.tools.map(({ name }) => name).join(" ")
  );
  assertEquals(names.slice(0, 3), ["look child", "look", "look large"]);
  assertEquals(large.calls.length, 1);
});

Deno.test("hide: a tool that does not exist for the model exists for no agent below either", async () => {
  const large = fakeTool({ name: "large" });
  const { agent, streamFn } = testAgent([
    reply([toolCall("child", { prompt: "Go" })]),
    reply("Child done"),
    reply("Done"),
  ], {
    tools: [look(), large, subAgentTool({ name: "child", description: "", maxDepth: 2 })],
    policies: [
      { name: "first_turn", preRequest: hidesLarge.preRequest },
      {
        name: "no_large",
        canUseTool: (offered) => offered.type !== "tool" || offered.tool !== large,
      },
    ],
  });
  await agent.prompt("Go");
  const [, child] = streamFn.calls;
  assertEquals(child?.context.tools.map(({ name }) => name), ["look", "child"]);
});

Deno.test("hide: the tool of a structured answer stays, and an invalid list ends the turn with an error", async () => {
  const hidesAll: Policy = {
    name: "hides_all",
    preRequest: ({ tools }) => ({ type: "hide", tools }),
  };
  const { agent } = testAgent([({ context }) => {
    assertEquals(context.tools.length, 1);
    return reply([toolCall(context.tools[0]?.name ?? "", { value: 7 })]);
  }], { tools: [look()], policies: [hidesAll] });
  const schema = {
    type: "object",
    properties: { value: { type: "integer" } },
    required: ["value"],
  } as const;
  assertEquals(await agent.structuredOutput("Count", schema), { value: 7 });
  const invalid = { type: "hide" } as unknown as PreRequestVerdict;
  const other = testAgent([reply("Done")], {
    policies: [{ name: "odd", preRequest: () => invalid }],
  });
  const { error } = await other.agent.prompt("Go");
  assertStringIncludes(error?.message ?? "", "a hide verdict must have tools");
});

Deno.test("preRequest: is called when the facts about the model are loaded", async () => {
  let isLoaded = false;
  const facts = {
    loadFacts: async () => {
      await settle();
      isLoaded = true;
    },
    contextWindow: () => isLoaded ? 1_000 : undefined,
  };
  const windows: unknown[] = [];
  const policy: Policy = {
    name: "observer",
    preRequest: ({ contextWindow }) => void windows.push(contextWindow),
  };
  const streamFn = Object.assign(scriptedStream([reply("Done")]), facts);
  const { agent } = testAgent([], { streamFn, policies: [policy] });
  await agent.prompt("Go");
  assertEquals(windows, [1_000]);
});
