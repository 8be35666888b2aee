import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentToolOptions } from "../../src/agent/agent_tool.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import type { AgentToolResult } from "../../src/core/messages/tool_result.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { sharedBudget } from "../../src/policies/mod.ts";
import { checkEvents, findViolation } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { assistantMessage, toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply, type ScriptedStep } from "../../src/testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { scriptedPorts, settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };

/** Creates an agent for a tool, with its own ids. */
function createChild(
  steps: readonly ScriptedStep[],
  options: Partial<AgentOptions> = {},
): { readonly child: Agent; readonly streamFn: ScriptedStream } {
  const streamFn = scriptedStream(steps);
  const child = new Agent({ model: "test/child", streamFn, ...scriptedPorts(), ...options });
  return { child, streamFn };
}

const ask = (prompt = "How is the weather?") => toolCall("weather", { prompt });

Deno.test("asTool(): takes a prompt, runs a new agent, and its text is the result [A113]", async () => {
  const { child, streamFn } = createChild([reply("Sunny"), reply("Rainy")], {
    systemPrompt: "You know the weather",
    tools: [fakeTool({ name: "look" })],
  });
  const tool = child.asTool({ name: "weather", description: "Knows the weather.", readOnly: true });
  assertEquals([tool.name, tool.description, tool.readOnly, tool.parameters["required"]], [
    "weather",
    "Knows the weather.",
    true,
    ["prompt"],
  ]);
  const { agent } = testAgent([reply([ask(), ask("And tomorrow?")]), reply("Fine")], {
    tools: [tool],
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    "tool_result: Sunny",
    "tool_result: Rainy",
    "assistant: Fine",
  ]);
  assertEquals(
    streamFn.calls.map(({ context: { systemPrompt, messages, tools } }) => [
      systemPrompt,
      outlineMessages(messages),
      tools.map(({ name }) => name),
    ]),
    [
      ["You know the weather", ["user: How is the weather?"], ["look"]],
      ["You know the weather", ["user: And tomorrow?"], ["look"]],
    ],
  );
  assertEquals(child.state.messages, []);
});

Deno.test("asTool(): the events of the agent are emitted as sub_agent, in order, inside the call", async () => {
  const { child } = createChild([reply([toolCall("look", {}, { id: "inner" })]), reply("Sunny")], {
    tools: [fakeTool({ name: "look" })],
  });
  const { agent } = testAgent([reply([ask()]), reply("Fine")], {
    tools: [child.asTool({ name: "weather", description: "" })],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  const lines = outlineEvents(events);
  const start = lines.indexOf("tool_execution_start call_1");
  const end = lines.indexOf("tool_execution_end call_1");
  const nested = eventsOfType(events, "sub_agent");
  assertEquals(end - start - 1, nested.length);
  assertEquals(nested.every(({ path }) => path.join() === "call_1"), true);
  const inner = nested.map(({ event }) => event);
  assertEquals(findViolation(inner), undefined);
  assertEquals(outlineEvents(inner), [
    "agent_start",
    "turn_start 1",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "message_update tool_call_start",
    "message_update tool_call_delta",
    "message_end assistant",
    "tool_execution_start inner",
    "tool_execution_end inner",
    "message_start tool_result",
    "message_end tool_result",
    "turn_end tools_executed",
    "turn_start 2",
    "message_start assistant",
    "message_update text_delta",
    "message_end assistant",
    "turn_end complete",
    "agent_end",
  ]);
  assertEquals(inner.map(({ seq }) => seq), inner.map((_event, index) => index + 1));
  assertEquals(
    events.map(({ seq }) => seq),
    events.map((_event, index) => index + 1),
  );
});

Deno.test("asTool(): the events of an agent of an agent have the path of both calls", async () => {
  const { child: grandchild } = createChild([reply("Deep")]);
  const { child } = createChild([
    reply([toolCall("deep", { prompt: "?" }, { id: "b" })]),
    reply("Sunny"),
  ], {
    tools: [grandchild.asTool({ name: "deep", description: "" })],
  });
  const { agent } = testAgent([reply([ask()]), reply("Fine")], {
    tools: [child.asTool({ name: "weather", description: "" })],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  const paths = eventsOfType(events, "sub_agent").map(({ path, event }) =>
    `${path.join("/")} ${event.type}`
  );
  assertEquals(paths.filter((line) => line.endsWith("agent_start")), [
    "call_1 agent_start",
    "call_1/b agent_start",
  ]);
  assertEquals(paths.some((line) => line.endsWith("sub_agent")), false);
});

Deno.test("asTool(): its tokens and cost count in the result of the call and of the run", async () => {
  const { child } = createChild([
    reply([toolCall("look")], { usage, cost }),
    reply("Sunny", { usage, cost }),
  ], {
    tools: [fakeTool({ name: "look" })],
  });
  const { agent } = testAgent([reply([ask()], { usage, cost }), reply("Fine", { usage, cost })], {
    tools: [child.asTool({ name: "weather", description: "" })],
  });
  const result = await agent.prompt("Go");
  assertEquals([result.usage.total, result.cost.total], [28, 12]);
  const message = result.messages[2];
  assertEquals(message?.role === "tool_result" && [message.usage?.total, message.cost?.total], [
    14,
    6,
  ]);
});

Deno.test("asTool(): concurrent calls run agents of their own", async () => {
  const { child, streamFn } = createChild([
    async () => {
      await settle();
      return reply("Slow");
    },
    reply("Fast"),
  ]);
  const { agent } = testAgent([reply([ask("one"), ask("two"), ask("three")]), reply("Fine")], {
    tools: [child.asTool({ name: "weather", description: "" })],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(outlineMessages(agent.state.messages).slice(2, 4), [
    "tool_result: Slow",
    "tool_result: Fast",
  ]);
  assertEquals(streamFn.calls.map(({ context }) => context.messages.length), [1, 1, 1]);
  for (const id of ["call_1", "call_2", "call_3"]) {
    const own = eventsOfType(events, "sub_agent").filter(({ path }) => path[0] === id);
    assertEquals(findViolation(own.map(({ event }) => event)), undefined);
  }
});

Deno.test("asTool(): the context of the run reaches the tools of the agent", async () => {
  const seen: unknown[] = [];
  const { child } = createChild([reply([toolCall("look")]), reply("Sunny")], {
    tools: [fakeTool({ name: "look", result: (_args, { context }) => (seen.push(context), "ok") })],
    context: "that of the child",
  });
  const { agent } = testAgent([reply([ask()]), reply("Fine")], {
    tools: [child.asTool({ name: "weather", description: "" })],
  });
  const user = { name: "ada" };
  await agent.prompt("Go", { context: user });
  assertEquals(seen, [user]);
});

Deno.test("asTool(): an abort reaches the agent with its reason, within the call's grace [A113]", async () => {
  const { child } = createChild([hang({ after: "Half" })]);
  const { agent, clock } = testAgent([reply([ask()])], {
    tools: [child.asTool({ name: "weather", description: "" })],
  });
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  agent.abort("enough");
  const events = await running;
  const [end] = eventsOfType(events, "sub_agent").flatMap(({ event }) =>
    event.type === "agent_end" ? event : []
  );
  assertEquals(end?.stopReason, "aborted");
  const reason = end?.abortReason;
  assertEquals(reason instanceof Error && [reason.message, reason.cause], [
    "tool call cancelled: run aborted",
    "enough",
  ]);
  assertEquals(
    outlineMessages(agent.state.messages)[2],
    "tool_result: tool call cancelled: run aborted",
  );
  assertEquals([clock.sleepers, clock.now()], [0, 0]);
});

Deno.test("asTool(): what a cancelled agent has used until then counts in the run", async () => {
  const { child } = createChild([
    reply([toolCall("look")], { usage, cost }),
    hang({ after: "Half" }),
  ], { tools: [fakeTool({ name: "look" })] });
  const { agent } = testAgent([reply([ask()], { usage, cost }), reply("Fine")], {
    tools: [child.asTool({ name: "weather", description: "" })],
  });
  const running = agent.prompt("Go");
  await settle();
  agent.steer("Never mind");
  const result = await running;
  assertEquals([result.text, result.usage.total, result.cost.total], ["Fine", 14, 6]);
  const message = result.messages[2];
  assertEquals(message?.role === "tool_result" && [message.isError, message.usage?.total], [
    true,
    7,
  ]);
});

Deno.test("asTool(): the tokens of a summary count when the agent does not end in time", async () => {
  const { child } = createChild([reply([toolCall("stuck")])], {
    tools: [fakeTool({ name: "stuck", delayMs: Infinity, ignoresSignal: true })],
    transformContext: (messages) => ({
      messages,
      report: { droppedCount: 0, tokensBefore: 1, tokensAfter: 1, usage, cost },
    }),
    sleep: () => new Promise(() => {}),
  });
  const { agent, clock } = testAgent([reply([ask()]), reply("Fine")], {
    tools: [child.asTool({ name: "weather", description: "" })],
  });
  const running = agent.prompt("Go");
  await settle();
  agent.steer("Never mind");
  await settle();
  clock.advance(100);
  const result = await running;
  assertEquals([result.usage.total, result.cost.total], [7, 3]);
});

for (const end of ["cancelled", "timed out", "aborted"] as const) {
  Deno.test(`asTool(): the usage of an agent that does not end in time counts when its call is ${end}`, async () => {
    const work = (name: string, own: Partial<AgentToolResult> = {}) =>
      fakeTool({ name, result: { content: [], usage, cost, ...own } });
    const { child: grandchild } = createChild([reply("Deep", { usage, cost })]);
    const { child } = createChild([
      reply([toolCall("priced"), toolCall("deep", { prompt: "?" })], { usage, cost }),
      fail("network_error", "Down", { usage }),
      reply([toolCall("stuck")], { usage, cost }),
    ], {
      retry: () => 0,
      prices: { "test/child": { input: 1_000_000, output: 0 } },
      tools: [
        work("priced"),
        grandchild.asTool({ name: "deep", description: "" }),
        fakeTool({ name: "stuck", delayMs: Infinity, ignoresSignal: true }),
      ],
      // The tool ignores the abort, and the time in which the agent would leave it behind never ends.
      sleep: (milliseconds) => milliseconds === 0 ? Promise.resolve() : new Promise(() => {}),
    });
    const { agent, clock } = testAgent([reply([ask()], { usage, cost }), reply("Fine")], {
      tools: [child.asTool({ name: "weather", description: "", timeoutMs: 1_000 })],
    });
    const running = agent.prompt("Go");
    await settle();
    if (end === "cancelled") agent.steer("Never mind");
    if (end === "aborted") agent.abort();
    clock.advance(end === "timed out" ? 1_000 : 0);
    await settle();
    clock.advance(100);
    const { messages, usage: total, cost: totalCost } = await running;
    const message = messages[2];
    assertEquals(
      message?.role === "tool_result" &&
        [message.isError, message.usage?.total, message.cost?.total],
      [true, 35, 15],
    );
    assertEquals([total.total, totalCost.total], [42, 18]);
  });
}

for (
  const [outcome, steps, options, words] of [
    [
      "fails",
      [fail("auth_error", "No key", { after: "Half" })],
      {},
      "The agent did not finish: No key\nIts last reply: Half",
    ],
    [
      "is stopped",
      [reply([toolCall("look")])],
      { maxTurns: 1 },
      "The agent did not finish: The run reached its limit of 1 turn",
    ],
    [
      "is aborted by its provider",
      [fail("aborted", "Cancelled", { after: "Half" })],
      {},
      "The agent did not finish: it was aborted\nIts last reply: Half",
    ],
    [
      "is cut off at the maximum of its reply",
      [reply("Half", { stopReason: "length" })],
      {},
      "The agent did not finish: its last reply was cut off at the maximum of its length\nIts last reply: Half",
    ],
    [
      "waits for an approval",
      [reply([toolCall("look")])],
      { approve: () => ({ type: "pending" }) },
      "The agent did not finish: tool calls wait for approvals",
    ],
  ] as const
) {
  Deno.test(`asTool(): an agent that ${outcome} gives an error result, and its usage counts [A113]`, async () => {
    const { child } = createChild(steps, {
      tools: [fakeTool({ name: "look" })],
      ...options as Partial<AgentOptions>,
    });
    const { agent } = testAgent([reply([ask()]), reply("Sorry")], {
      tools: [child.asTool({ name: "weather", description: "" })],
    });
    const events = await checkEvents(agent.promptStream("Go"));
    assertEquals(eventsOfType(events, "tool_execution_end").map(({ isError }) => isError), [true]);
    assertStringIncludes(outlineMessages(agent.state.messages)[2] ?? "", words);
  });
}

Deno.test("asTool(): uses the model, prompt and tools that the agent has when asTool() is called", async () => {
  const { child, streamFn } = createChild([reply("Sunny")]);
  child.setModel("test/better");
  child.setSystemPrompt("Be brief");
  child.setTools([fakeTool({ name: "look" })]);
  const tool = child.asTool({ name: "weather", description: "" });
  child.setModel("test/worse");
  child.setTools([]);
  const { agent } = testAgent([reply([ask()]), reply("Fine")], { tools: [tool] });
  await agent.prompt("Go");
  const [call] = streamFn.calls;
  assertEquals([call?.model.modelId, call?.context.systemPrompt], ["better", "Be brief"]);
  assertEquals(call?.context.tools.map(({ name }) => name), ["look"]);
});

Deno.test("asTool(): a conversation of the agent itself does not reach the calls", async () => {
  const { child, streamFn } = createChild([reply("Hello"), reply("Sunny")]);
  await child.prompt("Hi");
  const { agent } = testAgent([reply([ask()]), reply("Fine")], {
    tools: [child.asTool({ name: "weather", description: "" })],
  });
  await agent.prompt("Go");
  assertEquals(outlineMessages(streamFn.calls[1]?.context.messages ?? []), [
    "user: How is the weather?",
  ]);
  assertEquals(child.state.messages.length, 2);
});

Deno.test("asTool(): the history and the pending approvals that the agent was created with do not reach the calls", async () => {
  const call = toolCall("write", {}, { id: "a" });
  const { child, streamFn } = createChild([reply("Sunny")], {
    messages: [userMessage("Hi", 0), assistantMessage([call])],
    pendingApprovals: [{ toolCallId: "a", name: "write", arguments: {} }],
  });
  const { agent } = testAgent([reply([ask()]), reply("Fine")], {
    tools: [child.asTool({ name: "weather", description: "" })],
  });
  await agent.prompt("Go");
  assertEquals(streamFn.calls.map(({ context }) => outlineMessages(context.messages)), [
    ["user: How is the weather?"],
  ]);
  assertEquals(child.state.pendingApprovals.length, 1);
});

Deno.test("asTool(): takes the options of a tool", async () => {
  const { child } = createChild([reply("Sunny"), reply("Rainy")]);
  const options: AgentToolOptions = {
    name: "weather",
    label: "Weather",
    description: "",
    sideEffect: "idempotent",
    readOnly: true,
    requiresApproval: ({ prompt }) => prompt !== "How is the weather?",
    interruptible: false,
    sequential: false,
    concurrencyKey: ({ prompt }) => String(prompt),
    timeoutMs: 1_000,
    preview: () => Promise.resolve([]),
  };
  const tool = child.asTool(options);
  const { parameters: _schema, execute: _execute, countedBy: _policies, ...own } = tool;
  assertEquals({ ...own }, { ...options });
  const asked: unknown[] = [];
  const { agent } = testAgent([reply([ask(), ask("Tomorrow?")]), reply("Fine")], {
    tools: [tool],
    approvalMode: "smart",
    approve: ({ arguments: { prompt } }) => (asked.push(prompt), true),
  });
  await agent.prompt("Go");
  assertEquals(asked, ["Tomorrow?"]);
  assertThrows(() => child.asTool({ ...options, timeoutMs: -1 }), BadRequestError, "timeoutMs");
});

Deno.test("asTool() throws for an invalid name", () => {
  const { child } = createChild([]);
  for (const name of ["", "get weather!", undefined as unknown as string]) {
    assertThrows(() => child.asTool({ name, description: "" }), BadRequestError, "tool name");
  }
});

Deno.test("asTool(): a prompt that is blank is an error result", async () => {
  const { child, streamFn } = createChild([]);
  const { agent } = testAgent([reply([ask(" ")]), reply("Sorry")], {
    tools: [child.asTool({ name: "weather", description: "" })],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(eventsOfType(events, "tool_execution_end").map(({ isError }) => isError), [true]);
  streamFn.assertDone();
});

Deno.test("sub-agents: what one spends after its cancelled call is no longer awaited counts in the run and its budget", async () => {
  let spend = (): Promise<void> => Promise.resolve();
  const model = modelSpec("test/child");
  const stuck = fakeTool({
    name: "stuck",
    result: (_args, { onEvent }) => {
      const event = { type: "model_call_end", turn: 1, attempt: 1, model, durationMs: 1 } as const;
      spend = () => onEvent({ ...event, usage, cost });
      return new Promise(() => {});
    },
  });
  const policy = sharedBudget({ tokens: 21 });
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => finish = resolve);
  const { agent, clock } = testAgent([
    reply([toolCall("stuck")], { usage, cost }),
    async () => {
      await finished;
      return reply([toolCall("look")], { usage, cost });
    },
    reply("Not sent"),
  ], { tools: [stuck, fakeTool({ name: "look" })], policies: [policy] });
  const running = agent.prompt("Go");
  await settle();
  agent.steer("Never mind");
  await settle();
  clock.advance(100);
  await settle();
  await spend();
  finish();
  const result = await running;
  assertEquals([result.usage.total, result.cost.total, policy.spent.usage.total], [21, 9, 21]);
  assertEquals(result.stoppedBy?.policy, "shared_budget");
});

Deno.test("sub-agents: an event that arrives after the result of its call does not count twice", async () => {
  const event = {
    type: "model_call_end",
    turn: 1,
    attempt: 1,
    model: modelSpec("test/child"),
    durationMs: 1,
    usage,
    cost,
  } as const;
  const tool = fakeTool({
    name: "ask",
    result: (_args, { onEvent }) => {
      setTimeout(() => onEvent(event));
      return { content: [], usage, cost };
    },
  });
  const { agent } = testAgent([
    reply([toolCall("ask")]),
    async () => {
      await settle();
      return reply("Fine");
    },
  ], { tools: [tool] });
  const result = await agent.prompt("Go");
  assertEquals([result.usage.total, result.cost.total], [7, 3]);
});
