import { assertEquals, assertNotEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import type { AssistantMessageEvent } from "../../src/core/streams/stream.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, thinking, toolCall } from "../../src/testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { InstantClock, scriptedPorts } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

/** Changes every text, number and flag of a value in place, and every list; leaves errors alone. */
function scramble(value: unknown): void {
  if (typeof value !== "object" || value === null || value instanceof Error) return;
  const record = value as Record<string, unknown>;
  for (const [name, item] of Object.entries(record)) {
    if (typeof item === "string") record[name] = "***";
    else if (typeof item === "number") record[name] = -1;
    else if (typeof item === "boolean") record[name] = !item;
    else scramble(item);
  }
  if (Array.isArray(value)) value.push("***");
}

const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };

const reset = fail("network_error", "Reset", { after: "Half", usage });

const STEPS: readonly ScriptedStep[] = [
  reset,
  reset,
  reply([
    thinking("Hm", { signature: "s" }),
    text("Four calls"),
    toolCall("dig", { at: ["x", 1] }),
    toolCall("edit", { path: "a" }),
    toolCall("ask", { prompt: "Say" }),
    toolCall("nothing", {}),
  ], { usage, cost }),
  fail("context_window_overflow", "Too long", { after: "Half", usage }),
  reply([text("Again"), toolCall("dig", { at: ["y"] })], { usage, cost }),
  reply("Steered"),
  reply("Followed"),
];

/** Runs a prompt that emits almost every kind of event, and returns what must not depend on its listeners. */
async function runEventfulPrompt(listener: (event: AgentEvent) => void) {
  const seen: unknown[] = [];
  const clock = new InstantClock();
  const dig = fakeTool({
    name: "dig",
    result: (args, { onUpdate, messages, context }) => {
      onUpdate({ content: [text("half")], details: { done: 0.5 } });
      seen.push(["execute", structuredClone(args), structuredClone(messages), context]);
      return { content: [text("dug")], details: { deep: { n: 1 } }, usage, cost };
    },
  });
  const child = new Agent({
    model: "test/child",
    ...scriptedPorts(clock),
    streamFn: scriptedStream([reply("From the child", { usage, cost })]),
  });
  const watch: Policy = {
    name: "watch",
    preTurn: ({ messages, usage, newMessages }) =>
      void seen.push(["preTurn", structuredClone([messages, usage, newMessages])]),
    preRequest: ({ request, usage, cost }) =>
      void seen.push(["preRequest", structuredClone([request, usage, cost])]),
    preDispatch: ({ arguments: args, usage, cost }) =>
      void seen.push(["preDispatch", structuredClone([args, usage, cost])]),
    postDispatch: ({ toolCall, result }) =>
      void seen.push(["postDispatch", structuredClone([toolCall, result])]),
    postTurn: ({ message, toolResults, usage, cost, model }) =>
      void seen.push(["postTurn", structuredClone([message, toolResults, usage, cost, model])]),
    postLoop: ({ messages, usage, stopReason }) =>
      void seen.push(["postLoop", structuredClone([messages, usage, stopReason])]),
  };
  const { agent, streamFn } = testAgent(STEPS, {
    ...scriptedPorts(clock),
    systemPrompt: "Be kind",
    tools: [dig, fakeTool({ name: "edit" }), child.asTool({ name: "ask", description: "" })],
    retry: ({ attempt }) => attempt < 2 ? 10 : null,
    fallback: [{ model: { provider: "other", modelId: "spare", thinkingLevel: "off" } }],
    transformContext: (messages, { overflow }) => {
      if (!overflow) return messages;
      const report = { droppedCount: 1, tokensBefore: 2, tokensAfter: 1, usage, cost };
      const droppedMessages = messages.filter((message) => message.role === "user");
      return { messages: messages.slice(-5), report: { ...report, droppedMessages } };
    },
    context: { user: "ada" },
    policies: [watch],
    approve: ({ name, arguments: args }) => {
      seen.push(["approve", name, structuredClone(args)]);
      return name === "edit"
        ? { type: "approved", arguments: { path: "b" }, rule: "edits", origin: "rule" }
        : true;
    },
    interrupt: "after_batch",
  });
  const models: unknown[] = [];
  agent.subscribe(({ type }) => {
    models.push(structuredClone(agent.state.streamingMessage?.provider));
    if (type === "tool_execution_update") {
      agent.emitCustom("progress", { step: [1] });
    }
  });
  agent.subscribe(listener);
  agent.steer("Mind the gap");
  agent.followUp({ text: "And then?" });
  const result = await agent.prompt([{
    role: "user",
    content: [text("Go")],
    metadata: { source: { page: 1 } },
    timestamp: 0,
  }]);
  agent.setModel("test/next:low");
  const { messages, model, systemPrompt } = agent.state;
  const { stopReason, usage: total, cost: spent, turns } = result;
  return {
    history: structuredClone(messages),
    requests: structuredClone(
      streamFn.calls.map(({ signal: _signal, ...request }) => request),
    ),
    state: { model, systemPrompt },
    seen,
    models,
    result: { stopReason, usage: total, cost: spent, turns, text: result.text },
    appended: structuredClone(result.messages),
  };
}

Deno.test("events: a listener that changes every event in place changes neither requests, history, state, tools nor policies", async () => {
  const kinds = new Set<string>();
  const untouched = await runEventfulPrompt((event) => void kinds.add(event.type));
  const scrambled = await runEventfulPrompt(scramble);
  assertEquals(
    [...kinds].sort(),
    [
      "agent_end",
      "agent_start",
      "context_compacted",
      "custom",
      "message_end",
      "message_start",
      "message_update",
      "model_call_end",
      "model_call_start",
      "model_changed",
      "model_fallback",
      "queue_changed",
      "retry",
      "sub_agent",
      "tool_approval_requested",
      "tool_approval_resolved",
      "tool_execution_end",
      "tool_execution_start",
      "tool_execution_update",
      "turn_end",
      "turn_start",
    ].sort(),
  );
  for (const name of Object.keys(untouched) as (keyof typeof untouched)[]) {
    assertEquals(scrambled[name], untouched[name], name);
  }
});

Deno.test("events: changes by a listener are seen by the reader of the stream, which has no other copy", async () => {
  const { agent } = testAgent([reply("Hello")]);
  agent.subscribe(scramble);
  for await (const event of agent.promptStream("Hi")) {
    assertNotEquals(event.type, "agent_start");
  }
});

Deno.test("events: turn_end has the message objects of message_end in a list of its own, and a resumed turn a copy of its reply", async () => {
  const { agent, seen } = testAgent([
    reply([toolCall("edit", {})]),
    reply([toolCall("wire", {})]),
    reply("Done"),
  ], {
    tools: [fakeTool({ name: "edit" }), fakeTool({ name: "wire" })],
    approve: ({ name }) => name === "wire" ? { type: "pending" } : true,
  });
  await agent.prompt("Go");
  await agent.continue({ approvals: { call_2: true } });
  const ended = new Set(
    seen.flatMap((event) => event.type === "message_end" ? [event.message] : []),
  );
  const turns = seen.flatMap((event) => event.type === "turn_end" ? [event] : []);
  assertEquals(turns.map(({ message }) => ended.has(message)), [true, true, false, true]);
  assertEquals(turns.map(({ toolResults }) => toolResults.map((result) => ended.has(result))), [
    [true],
    [],
    [true],
    [],
  ]);
  assertEquals(new Set(turns.map(({ toolResults }) => toolResults)).size, turns.length);
});

/** Runs a call whose approval is pending, and then the call with its decision. */
async function runPending(options: {
  readonly listener?: (event: AgentEvent) => void;
  readonly changeResult?: boolean;
}) {
  const wire = fakeTool({ name: "wire" });
  const { agent } = testAgent([
    reply([toolCall("wire", { to: { account: "ada" } }), toolCall("wire", { to: "bob" })]),
    reply("Sent"),
  ], {
    tools: [wire],
    approve: ({ toolCallId }) => toolCallId === "call_1" ? { type: "pending" } : true,
  });
  if (options.listener) agent.subscribe(options.listener);
  const result = await agent.prompt("Pay");
  if (options.changeResult) scramble(result.pendingApprovals);
  if (options.changeResult) scramble(result.decidedCalls);
  const pending = structuredClone(agent.state.pendingApprovals);
  await agent.continue({ approvals: { call_1: true } });
  return { pending, ran: wire.calls.map(({ arguments: args }) => args) };
}

Deno.test("events: changes of agent_end and of the result do not change the calls that wait for an approval", async () => {
  const expected = {
    pending: [{ toolCallId: "call_1", name: "wire", arguments: { to: { account: "ada" } } }],
    ran: [{ to: { account: "ada" } }, { to: "bob" }],
  };
  assertEquals(await runPending({}), expected);
  assertEquals(await runPending({ listener: scramble }), expected);
  assertEquals(await runPending({ changeResult: true }), expected);
});

Deno.test("prompt(): changes of the result do not change the history", async () => {
  const { agent } = testAgent([reply("Hello")]);
  const result = await agent.prompt("Hi");
  const history = structuredClone(agent.state.messages);
  assertEquals(result.messages, history);
  scramble(result);
  assertEquals(agent.state.messages, history);
});

Deno.test("events: masking the texts of messages does not change a structured answer", async () => {
  const schema = { type: "object", properties: { city: { type: "string" } } } as const;
  for (const isNative of [false, true]) {
    const steps = isNative
      ? [reply('{"city":"Bern"}')]
      : [reply([toolCall("structured_output", { city: "Bern" })])];
    const streamFn = Object.assign(scriptedStream(steps), { hasStrictSchema: () => isNative });
    const { agent } = testAgent([], { streamFn });
    agent.subscribe(scramble);
    assertEquals(await agent.structuredOutput("Which city?", schema), { city: "Bern" });
    streamFn.assertDone();
  }
});

Deno.test("events: an update that the tool changes later, and its arguments, stay as they were", async () => {
  const update = { content: [text("half")], details: { done: 1 } };
  const tool = defineTool({
    name: "dig",
    description: "",
    parameters: { type: "object" },
    execute: (args, { onUpdate }) => {
      onUpdate(update);
      scramble(update);
      scramble(args);
      return "dug";
    },
  });
  const options: Partial<AgentOptions> = { tools: [tool] };
  const { agent, seen } = testAgent(
    [reply([toolCall("dig", { at: "x" })]), reply("Done")],
    options,
  );
  await agent.prompt("Dig");
  const updates = seen.flatMap((event) =>
    event.type === "tool_execution_update" ? event.update : []
  );
  assertEquals(updates, [{ content: [text("half")], details: { done: 1 } }]);
  const [, assistant] = agent.state.messages;
  assertEquals(assistant?.role === "assistant" && assistant.content[0], {
    ...toolCall("dig", { at: "x" }, { id: "call_1" }),
  });
});

Deno.test("events: a stream function may use one object for all deltas, and add members of its own", async () => {
  const start = {
    type: "tool_call_start",
    contentIndex: 1,
    id: "a",
    name: "look",
    raw: 1,
  } as const;
  async function* stream(): AsyncGenerator<AssistantMessageEvent> {
    const delta = { type: "text_delta", contentIndex: 0, delta: "", raw: { big: true } } as const;
    yield { type: "text_start", contentIndex: 0 };
    for (const text of ["a", "b", "c"]) yield Object.assign(delta, { delta: text });
    yield { type: "text_end", contentIndex: 0 };
    yield start;
    yield { type: "tool_call_end", contentIndex: 1 };
    yield { type: "done", stopReason: "stop", usage };
    await Promise.resolve();
  }
  const { agent } = testAgent([], { streamFn: stream, maxTurns: 1 });
  const events = await Array.fromAsync(agent.promptStream("Hi"));
  const deltas = events.flatMap((event) => event.type === "message_update" ? [event.delta] : []);
  const { raw: _raw, ...call } = start;
  assertEquals(deltas, [
    ...["a", "b", "c"].map((delta) => ({ type: "text_delta", contentIndex: 0, delta } as const)),
    call,
  ]);
});
