import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { AlreadyRunningError, BadRequestError } from "../../src/core/errors/errors.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { agentLoopContinue } from "../../src/loop/loop.ts";
import type { AgentLoopConfig } from "../../src/loop/run/config.ts";
import { checkEvents, findViolation } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../src/testing/messages.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const usage = { input: 4, output: 3, cacheRead: 2, cacheWrite: 1, total: 10 };

Deno.test("new Agent() is idle and empty, and its setters change the state [A54]", () => {
  const { agent } = testAgent([]);
  const { systemPrompt, model, tools, messages, isRunning, pendingToolCalls, error } = agent.state;
  assertEquals([systemPrompt, tools, messages, isRunning, pendingToolCalls.size, error], [
    "",
    [],
    [],
    false,
    0,
    undefined,
  ]);
  assertEquals(model, { provider: "test", modelId: "model", thinkingLevel: "off" });
  assertEquals(agent.state.streamingMessage, undefined);
  agent.setSystemPrompt("Be brief");
  agent.setModel("other/big:high");
  agent.setThinkingLevel("low");
  agent.setTools([fakeTool({ name: "look" })]);
  agent.setMessages([userMessage("Hi", 0)]);
  agent.appendMessages([userMessage("There", 0)]);
  assertEquals(agent.state.systemPrompt, "Be brief");
  assertEquals(agent.state.model, { provider: "other", modelId: "big", thinkingLevel: "low" });
  assertEquals(agent.state.tools.map(({ name }) => name), ["look"]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "user: There"]);
  agent.clearMessages();
  assertEquals(agent.state.messages, []);
});

Deno.test("prompt() resolves with the appended messages, the usage and the stop reason [4.1, A55]", async () => {
  const { agent } = testAgent([
    reply([toolCall("look")], { usage, cost: usage }),
    reply("Seen", { usage, cost: usage }),
  ], { tools: [fakeTool({ name: "look" })], messages: [userMessage("Before", 0)] });
  const before = agent.state.messages.slice();
  const result = await agent.prompt("Look");
  assertEquals(outlineMessages(result.messages), [
    "user: Look",
    "assistant: look({})",
    "tool_result: ok",
    "assistant: Seen",
  ]);
  const twice = { input: 8, output: 6, cacheRead: 4, cacheWrite: 2, total: 20 };
  assertEquals([result.stopReason, result.turns, result.usage, result.cost], [
    "stop",
    2,
    twice,
    twice,
  ]);
  assertEquals(before.concat(result.messages), agent.state.messages);
  assertEquals([result.error, result.stoppedBy, result.abortReason], [
    undefined,
    undefined,
    undefined,
  ]);
});

Deno.test("promptStream() emits every event, and the history grows with them [4.3, A77]", async () => {
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen"), reply("More")], {
    tools: [fakeTool({ name: "look" })],
  });
  const events = await checkEvents(agent.promptStream("Look"));
  const [end] = eventsOfType(events, "agent_end");
  assertEquals(agent.state.messages, end?.messages);
  agent.followUp("More");
  const again = await checkEvents(agent.continueStream());
  const [secondEnd] = eventsOfType(again, "agent_end");
  assertEquals(agent.state.messages, [...(end?.messages ?? []), ...(secondEnd?.messages ?? [])]);
});

Deno.test("prompt() accepts a text, a text with images, a message or a list of messages", async () => {
  const image = {
    type: "image",
    source: { type: "url", url: "https://example.com/a.png" },
  } as const;
  const { agent } = testAgent([1, 2, 3, 4].map(() => reply("Yes")));
  await agent.prompt("a");
  await agent.prompt({ text: "b", images: [image] });
  await agent.prompt(userMessage("c", 7));
  await agent.prompt([userMessage("d", 8), userMessage("e", 9)]);
  const users = agent.state.messages.filter(({ role }) => role === "user");
  assertEquals(outlineMessages(users), ["user: a", "user: b", "user: c", "user: d", "user: e"]);
  assertEquals(users[1]?.role === "user" && users[1].content[1], image);
  assertEquals(users.map(({ timestamp }) => timestamp), [0, 0, 7, 8, 9]);
});

Deno.test("setMessages(), appendMessages() and clearMessages() throw during a run and do not affect it", async () => {
  const { agent } = testAgent([reply("Hello")]);
  atFirst(agent, "message_update", () => {
    assertThrows(() => agent.setMessages([]), AlreadyRunningError);
    assertThrows(() => agent.appendMessages([userMessage("x", 0)]), AlreadyRunningError);
    assertThrows(() => agent.clearMessages(), AlreadyRunningError);
  });
  assertEquals(outlineMessages((await agent.prompt("Hi")).messages), [
    "user: Hi",
    "assistant: Hello",
  ]);
});

Deno.test("setModel(), setSystemPrompt() and setTools() apply from the next turn [A70, A74, 4.19]", async () => {
  const look = fakeTool({ name: "look" });
  const { agent, streamFn } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [look],
    systemPrompt: "One",
  });
  atFirst(agent, "message_update", () => {
    agent.setModel("other/big");
    agent.setSystemPrompt("Two");
    agent.setTools([look, fakeTool({ name: "listen" })]);
  });
  const events = await checkEvents(agent.promptStream("Look"));
  const requests = streamFn.calls.map(({ model, context: { systemPrompt, tools, messages } }) => [
    model.modelId,
    systemPrompt,
    tools.map(({ name }) => name),
    messages.length,
  ]);
  assertEquals(requests, [
    ["model", "One", ["look"], 1],
    ["big", "Two", ["look", "listen"], 3],
  ]);
  const [changed] = eventsOfType(events, "model_changed");
  assertEquals([changed?.from.modelId, changed?.to], [
    "model",
    { provider: "other", modelId: "big", thinkingLevel: "off" },
  ]);
});

Deno.test("StreamFn: the messages of a request are not modified by later turns", async () => {
  const requests: (readonly unknown[])[] = [];
  const script = scriptedStream([reply([toolCall("look")]), reply("Seen")]);
  const { agent } = testAgent([], {
    tools: [fakeTool({ name: "look" })],
    streamFn: (request) => {
      requests.push(request.context.messages);
      return script(request);
    },
  });
  await agent.prompt("Look");
  assertEquals(requests.map(({ length }) => length), [1, 3]);
});

Deno.test("setModel() emits model_changed also while idle", () => {
  const { agent, seen } = testAgent([]);
  agent.setModel("other/big");
  assertEquals(outlineEvents(seen), ["model_changed"]);
  assertEquals(seen[0]?.seq, undefined);
});

Deno.test("setModel(): message_start names the model of the turn", async () => {
  const { agent, seen } = testAgent([reply("Hello")]);
  agent.setModel("other/model2");
  await agent.prompt("Hi");
  const start = eventsOfType(seen, "message_start").at(-1)?.message;
  assertEquals(start?.role === "assistant" && [start.provider, start.modelId], ["other", "model2"]);
});

Deno.test("streamOptions: are passed with every request, with the key of getApiKey [A67]", async () => {
  const { agent, streamFn } = testAgent([reply("Hello")], {
    streamOptions: { sessionId: "s1", maxTokens: 5 },
    getApiKey: () => "key",
  });
  await agent.prompt("Hi");
  assertEquals(streamFn.calls[0]?.options, { sessionId: "s1", maxTokens: 5, apiKey: "key" });
});

Deno.test("waitForIdle() resolves immediately while idle, and for all callers when a run ends [4.5, A61, 4.13]", async () => {
  const { agent } = testAgent([reply("Hello"), hang()]);
  await agent.waitForIdle();
  const order: string[] = [];
  const running = agent.prompt("Hi");
  const waiters = ["a", "b"].map((name) => agent.waitForIdle().then(() => order.push(name)));
  await Promise.all([running, ...waiters]);
  assertEquals(order, ["a", "b"]);
  const aborted = agent.prompt("Hi");
  await settle();
  agent.abort();
  await agent.waitForIdle();
  assertEquals(agent.state.isRunning, false);
  assertEquals((await aborted).stopReason, "aborted");
});

Deno.test("error: is in the result and in the state until the next run [A62, A73]", async () => {
  const { agent } = testAgent([fail("stream_error", "Broken"), reply("Hello")]);
  const { error } = await agent.prompt("Hi");
  assertEquals([error?.message, agent.state.error, agent.state.isRunning], [
    "Broken",
    error,
    false,
  ]);
  await agent.prompt("Hi");
  assertEquals(agent.state.error, undefined);
});

Deno.test("reset() clears history and queues and restores the options [4.12, A60, B53]", async () => {
  const { agent, seen } = testAgent([fail("stream_error", "Broken"), reply("Hello")], {
    systemPrompt: "One",
    messages: [userMessage("Before", 0)],
  });
  await agent.prompt("Hi");
  agent.steer("a");
  agent.followUp("b");
  agent.setModel("other/big");
  agent.setSystemPrompt("Two");
  agent.reset();
  const { messages, error, model, systemPrompt, isRunning } = agent.state;
  assertEquals([messages, error, model.modelId, systemPrompt, isRunning], [
    [],
    undefined,
    "model",
    "One",
    false,
  ]);
  assertEquals(agent.hasPendingMessages, false);
  await agent.prompt("Hi");
  assertEquals(findViolation(seen), undefined);
});

Deno.test("reset() during a run aborts it, and the agent accepts a prompt immediately [A60]", async () => {
  const { agent, clock, streamFn, seen } = testAgent([
    reply([toolCall("unresponsive")]),
    reply("Hello again"),
  ], { tools: [fakeTool({ name: "unresponsive", delayMs: Infinity, ignoresSignal: true })] });
  const first = agent.prompt("Hi");
  await settle();
  agent.steer("a");
  agent.reset();
  assertEquals(agent.state.isRunning, false);
  const second = agent.prompt("Again");
  agent.followUp("b");
  agent.clearQueues();
  agent.reset();
  agent.reset();
  const third = agent.prompt("Third");
  await settle();
  assertEquals(streamFn.calls.length, 1, "the run that was reset is still ending");
  clock.advance(100);
  const results = await Promise.all([first, second, third]);
  assertEquals(results.map(({ stopReason, abortReason }) => [stopReason, abortReason]), [
    ["aborted", "reset"],
    ["aborted", "reset"],
    ["stop", undefined],
  ]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Third", "assistant: Hello again"]);
  assertEquals(findViolation(seen), undefined, "runs do not overlap");
});

Deno.test("new Agent() and setTools() throw for two tools with the same name [A59]", () => {
  const twice = [fakeTool({ name: "look" }), fakeTool({ name: "look" })];
  assertThrows(
    () => testAgent([], { tools: twice }),
    BadRequestError,
    'Two tools have the name "look"',
  );
  const { agent } = testAgent([]);
  assertThrows(() => agent.setTools(twice), BadRequestError);
});

Deno.test("new Agent() throws for an invalid model name and for a streamFn that is no function", () => {
  assertThrows(
    () => new Agent({ model: "gpt", streamFn: scriptedStream([]) }),
    BadRequestError,
    "provider/model",
  );
  assertThrows(
    () => new Agent({ model: "a/b", streamFn: "openai" as never }),
    BadRequestError,
    "streamFn must be a function, not a string",
  );
});

Deno.test("prompt() fails with advice when streamFn returns no stream of events", async () => {
  const createModel = (): StreamFn => scriptedStream([]);
  for (const [returned, type] of [[createModel(), "function"], [undefined, "undefined"]] as const) {
    const agent = new Agent({ model: "a/b", streamFn: () => returned as never });
    const { error } = await agent.prompt("Hi");
    assertEquals(error?.code, "stream_error");
    assertStringIncludes(error?.message ?? "", `streamFn returned a value of type ${type}, not`);
  }
});

for (
  const [options, words] of [
    [{ maxTurns: 0 }, "maxTurns must be a number above 0, not 0"],
    [{ maxTurns: Number.NaN }, "not NaN"],
    [{ toolTimeoutMs: -1 }, "toolTimeoutMs must be a number above 0, not -1"],
    [
      { approvalMode: "smrt" },
      'approvalMode must be one of always, enabled, smart, bypassed, not "smrt"',
    ],
    [{ interrupt: "now" }, 'interrupt must be one of cancel, boundary, after_batch, not "now"'],
  ] as const
) {
  Deno.test(`new Agent() throws for the invalid option ${JSON.stringify(options)}`, () => {
    assertThrows(() => testAgent([], options as Partial<AgentOptions>), BadRequestError, words);
    const config = { model: modelSpec("a/b"), streamFn: scriptedStream([]), ...options };
    const context = { systemPrompt: "", messages: [userMessage("Hi", 0)], tools: [] };
    assertThrows(
      () => agentLoopContinue(context, config as AgentLoopConfig),
      BadRequestError,
      words,
    );
  });
}

Deno.test("prompt() rejects and steer() throws for input of another type", async () => {
  const { agent } = testAgent([]);
  for (const input of [undefined, null, 5] as unknown as string[]) {
    await assertRejects(() => agent.prompt(input), BadRequestError, "Invalid prompt");
    assertThrows(() => agent.steer(input), BadRequestError, "Invalid prompt");
  }
  assertEquals(agent.state.isRunning, false);
});

Deno.test("reset() in a listener aborts the run", async () => {
  const { agent, seen } = testAgent([reply([toolCall("look")]), reply("Hello")], {
    tools: [fakeTool({ name: "look" })],
  });
  atFirst(agent, "tool_execution_start", () => agent.reset());
  const { stopReason, abortReason } = await agent.prompt("Look");
  assertEquals([stopReason, abortReason, agent.state.messages], ["aborted", "reset", []]);
  await agent.prompt("Hi");
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Hello"]);
  assertEquals(findViolation(seen), undefined);
});

Deno.test("state: has the ids of running calls and a snapshot of the streaming reply", async () => {
  const { agent } = testAgent([
    reply([toolCall("look", { at: "x" }), toolCall("nothing")]),
    reply("Seen"),
  ], {
    tools: [fakeTool({ name: "look" })],
  });
  const pending: string[][] = [];
  const drafts: unknown[] = [];
  agent.subscribe(({ type }) => {
    if (type.startsWith("tool_execution")) pending.push([...agent.state.pendingToolCalls]);
    if (type === "message_update") drafts.push(agent.state.streamingMessage?.content.at(-1));
    if (type === "message_end") assertEquals(agent.state.streamingMessage, undefined);
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(pending, [["call_2"], [], ["call_1"], []]);
  assertEquals(drafts.slice(0, 2), [
    { type: "tool_call", id: "call_1", name: "look", arguments: {}, partialJson: "" },
    { type: "tool_call", id: "call_1", name: "look", arguments: {}, partialJson: '{"at":"x"}' },
  ]);
});

Deno.test("new Agent({ messages }): a run that cannot start leaves the report of repairs to the next one", async () => {
  const { agent, seen } = testAgent([reply("Hello"), reply("Again")], {
    messages: [userMessage("Hi", 0), assistantMessage([])],
    validator: (schema) => {
      if (schema["type"] === "object") throw new Error("no objects");
      return () => [];
    },
  });
  await assertRejects(() => agent.structuredOutput("Count", { type: "integer" }), BadRequestError);
  assertEquals(seen, []);
  for (let run = 0; run < 2; run++) await agent.prompt("Go on");
  assertEquals(eventsOfType(seen, "warning").map(({ code }) => code), ["history_repaired"]);
});

Deno.test("new Agent({ messages }) repairs the history, and the next run reports it once", async () => {
  const call = toolCall("look", {}, { id: "a" });
  const { agent, streamFn } = testAgent([reply("Hello"), reply("Again")], {
    messages: [userMessage("Hi", 0), assistantMessage([call]), assistantMessage([])],
  });
  const events = await checkEvents(agent.promptStream("Go on"));
  const warnings = eventsOfType(events, "warning");
  assertEquals(warnings.map(({ code, data }) => [code, data]), [["history_repaired", [
    { type: "missing_result_added", index: 1, toolCallId: "a" },
    { type: "empty_assistant_dropped", index: 2 },
  ]]]);
  assertEquals(outlineEvents(events)[1], "warning history_repaired");
  assertEquals(streamFn.calls[0]?.context.messages.map(({ role }) => role), [
    "user",
    "assistant",
    "tool_result",
    "user",
  ]);
  assertEquals(eventsOfType(await checkEvents(agent.promptStream("Again")), "warning"), []);
});

Deno.test("setMessages() drops the repairs of the replaced history", async () => {
  const { agent } = testAgent([reply("Hello")], { messages: [assistantMessage([])] });
  agent.clearMessages();
  assertEquals(eventsOfType(await checkEvents(agent.promptStream("Hi")), "warning"), []);
});

Deno.test("appendMessages() reports all repairs together", async () => {
  const { agent } = testAgent([reply("Hello")], { messages: [assistantMessage([])] });
  agent.appendMessages([assistantMessage([])]);
  const [warning] = eventsOfType(await checkEvents(agent.promptStream("Hi")), "warning");
  assertEquals((warning?.data as unknown[]).length, 2);
});

Deno.test("prompt() with messages that would make the history invalid repairs and reports them", async () => {
  const call = toolCall("look", {}, { id: "a" });
  const { agent, streamFn } = testAgent([reply("One"), reply([call]), reply("Two")], {
    tools: [fakeTool({ name: "look" })],
    messages: [userMessage("Hi", 0)],
  });
  await agent.prompt([assistantMessage([call]), userMessage("And?", 0)]);
  const events = await checkEvents(
    agent.promptStream([assistantMessage([call]), userMessage("So?", 0)]),
  );
  assertEquals(eventsOfType(events, "warning").map(({ data }) => data), [[
    { type: "duplicate_call_renamed", index: 5, toolCallId: "a_1" },
    { type: "missing_result_added", index: 5, toolCallId: "a_1" },
  ]]);
  const ids = streamFn.calls.at(-1)?.context.messages.flatMap((message) =>
    message.role === "tool_result" ? [message.toolCallId] : []
  );
  assertEquals(ids, ["a", "a_1", "a_2"]);
});

Deno.test("reset() drops the repairs of the initial history", async () => {
  const { agent, seen } = testAgent([reply("Hello")], {
    messages: [assistantMessage([])],
  });
  agent.reset();
  await agent.prompt("Hi");
  assertEquals(eventsOfType(seen, "warning"), []);
});

Deno.test("call ids of messages that a policy injects during the run are not used again", async () => {
  const injected = toolCall("look", {}, { id: "b" });
  const { agent } = testAgent([
    reply([toolCall("look", {}, { id: "a" })]),
    reply([toolCall("look", {}, { id: "b" })]),
    reply("Done"),
  ], {
    tools: [fakeTool({ name: "look" })],
    policies: [{
      name: "example",
      postTurn: ({ turn }) =>
        turn === 1
          ? {
            type: "inject",
            messages: [assistantMessage([injected]), toolResultMessage(injected, "seen")],
          }
          : undefined,
    }],
  });
  const { messages } = await agent.prompt("Hi");
  const ids = messages.flatMap((message) =>
    message.role === "tool_result" ? [message.toolCallId] : []
  );
  assertEquals(ids.length, 3);
  assertEquals(new Set(ids).size, 3);
  assertEquals(repairHistory(agent.state.messages).repairs, []);
});

Deno.test("waitForIdle() after reset() waits for the run that is still ending", async () => {
  const { agent, clock } = testAgent([hang({ after: "Half", ignoresSignal: true })], {
    policies: [{ name: "slow", postTurn: () => new Promise(() => {}) }],
  });
  const running = agent.prompt("Hi");
  await settle();
  agent.reset();
  let idle = false;
  const waiting = agent.waitForIdle().then(() => idle = true);
  await settle();
  assertEquals(idle, false);
  clock.advance(100);
  await Promise.all([waiting, running]);
});
