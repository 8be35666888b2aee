import { assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonSchema } from "../../src/core/json/json.ts";
import { extractText } from "../../src/core/messages/content.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import type { AgentTool } from "../../src/core/tools/tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

Deno.test("tool calls start together, end as they finish, and their results keep call order [3.6, A4, B12, B13]", async () => {
  const fastEnded = Promise.withResolvers<void>();
  const slow = fakeTool({
    name: "slow",
    result: () => fastEnded.promise.then(() => "slow"),
  });
  const fast = fakeTool({ name: "fast", result: "fast" });
  const { agent } = testAgent([reply([toolCall("slow"), toolCall("fast")]), reply("Done")], {
    tools: [slow, fast],
  });
  agent.subscribe((event) => {
    if (event.type === "tool_execution_end" && event.name === "fast") fastEnded.resolve();
  });
  const events = await checkEvents(agent.promptStream("Go"));
  const lines = outlineEvents(events);
  assertEquals(lines.slice(lines.indexOf("message_end assistant") + 1, -5), [
    "tool_execution_start call_1",
    "tool_execution_start call_2",
    "tool_execution_end call_2",
    "tool_execution_end call_1",
    "message_start tool_result",
    "message_end tool_result",
    "message_start tool_result",
    "message_end tool_result",
    "turn_end tools_executed",
    "turn_start 2",
  ]);
  assertEquals(
    eventsOfType(events, "turn_end")[0]?.toolResults.map(({ toolName }) => toolName),
    ["slow", "fast"],
  );
});

Deno.test("unknown tool: gets start, end and a result that lists the available tools [B14]", async () => {
  const { agent, streamFn } = testAgent([
    reply([toolCall("lok"), toolCall("look")]),
    reply("Sorry"),
  ], { tools: [fakeTool({ name: "look" }), fakeTool({ name: "listen" })] });
  const events = await checkEvents(agent.promptStream("Look"));
  const lines = outlineEvents(events);
  assertEquals(lines.slice(lines.indexOf("message_end assistant") + 1).slice(0, 4), [
    "tool_execution_start call_1",
    "tool_execution_end call_1",
    "tool_execution_start call_2",
    "tool_execution_end call_2",
  ]);
  assertEquals(
    outlineMessages(streamFn.calls[1]?.context.messages ?? [])[2],
    'tool_result: Tool "lok" not found. Available tools: look, listen.',
  );
});

Deno.test("invalid arguments: the result names each path and the expected value [3.17, A23, B15]", async () => {
  const tool = fakeTool({
    name: "paint",
    parameters: {
      type: "object",
      properties: {
        colour: { enum: ["red", "blue"] },
        at: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
      },
    },
  });
  const { agent, streamFn } = testAgent([
    reply([toolCall("paint", { colour: "green", at: {} })]),
    reply("Sorry"),
  ], { tools: [tool] });
  await checkEvents(agent.promptStream("Paint"));
  assertEquals(tool.calls, []);
  assertEquals(
    outlineMessages(streamFn.calls[1]?.context.messages ?? []).at(-1),
    'tool_result: Invalid arguments for "paint":\n' +
      '- /colour: must be one of "red", "blue"\n' +
      "- /at/x: is required",
  );
});

Deno.test("invalid arguments: a JSON text is not coerced to an array [B26]", async () => {
  const tool = fakeTool({
    name: "pick",
    parameters: { type: "object", properties: { names: { type: "array" } } },
  });
  const { agent, streamFn } = testAgent([
    reply([toolCall("pick", { names: '["x"]' })]),
    reply("Sorry"),
  ], { tools: [tool] });
  await checkEvents(agent.promptStream("Pick"));
  assertEquals(tool.calls, []);
  assertStringIncludes(
    outlineMessages(streamFn.calls[1]?.context.messages ?? []).at(-1) ?? "",
    "- /names: must be array",
  );
});

Deno.test("unreadable arguments: the error result quotes them [A42, B34]", async () => {
  const tool = fakeTool({ name: "write" });
  const { agent, streamFn } = testAgent([
    reply([toolCall("write", '{"path": "a'), toolCall("write", "[1]"), toolCall("write", "")]),
    reply("Sorry"),
  ], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Write"));
  assertEquals(eventsOfType(events, "tool_execution_end").map(({ isError }) => isError), [
    true,
    true,
    false,
  ]);
  const [first = "", second = ""] = outlineMessages(streamFn.calls[1]?.context.messages ?? [])
    .slice(2);
  assertStringIncludes(first, 'They were: {"path": "a');
  assertStringIncludes(second, "must be a JSON object");
  assertStringIncludes(second, "They were: [1]");
  assertEquals(tool.calls.map((call) => call.arguments), [{}]);
  assertEquals(
    outlineMessages(agent.state.messages)[1],
    "assistant: write({}) write({}) write({})",
  );
});

Deno.test("unreadable arguments: the quote is truncated", async () => {
  const { agent, streamFn } = testAgent([
    reply([toolCall("write", `{"text": "${"x".repeat(5000)}`)]),
    reply("Sorry"),
  ], { tools: [fakeTool({ name: "write" })] });
  await checkEvents(agent.promptStream("Write"));
  const result = outlineMessages(streamFn.calls[1]?.context.messages ?? []).at(-1) ?? "";
  assertEquals(result.length < 800, true);
  assertStringIncludes(result, "(5010 characters)");
});

Deno.test("unreadable arguments: up to 500 characters are quoted completely", async () => {
  const quote = async (length: number) => {
    const args = "x".repeat(length);
    const { agent } = testAgent([reply([toolCall("write", args)]), reply("Sorry")], {
      tools: [fakeTool({ name: "write" })],
    });
    await agent.prompt("Write");
    return outlineMessages(agent.state.messages)[2]?.split("They were: ")[1];
  };
  assertEquals(await quote(500), "x".repeat(500));
  assertEquals(await quote(501), `${"x".repeat(500)}… (501 characters)`);
});

for (
  const [kind, thrown, message] of [
    ["an error", new Error("no such file"), "no such file"],
    ["a string", "disk full", "disk full"],
    ["undefined", undefined, "undefined"],
    ["an error without a message", new Error(""), "Error"],
  ] as const
) {
  Deno.test(`a tool that throws ${kind} gives an error result, and the others run [A24, B16]`, async () => {
    const throwing: AgentTool = {
      name: "throwing",
      description: "",
      parameters: { type: "object" },
      execute: () => {
        throw thrown;
      },
    };
    const rejecting = { ...throwing, name: "rejecting", execute: () => Promise.reject(thrown) };
    const { agent, streamFn } = testAgent([
      reply([toolCall("throwing"), toolCall("rejecting"), toolCall("fine")]),
      reply("Sorry"),
    ], { tools: [throwing, rejecting, fakeTool({ name: "fine" })] });
    await checkEvents(agent.promptStream("Go"));
    assertEquals(outlineMessages(streamFn.calls[1]?.context.messages ?? []).slice(2), [
      `tool_result: ${message}`,
      `tool_result: ${message}`,
      "tool_result: ok",
    ]);
  });
}

Deno.test("a tool result with empty content is emitted unchanged, and one that is no result becomes data or an error [B17]", async () => {
  const answering = (name: string, answer: unknown): AgentTool => ({
    name,
    description: "",
    parameters: { type: "object" },
    execute: () => Promise.resolve(answer as string),
  });
  const { agent } = testAgent([
    reply([toolCall("bare"), toolCall("mute"), toolCall("empty")]),
    reply("Fine"),
  ], {
    tools: [
      answering("bare", { content: [], details: 1 }),
      answering("mute", undefined),
      answering("empty", ""),
    ],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(eventsOfType(events, "tool_execution_end").map(({ result }) => result), [
    { content: [], details: 1 },
    {
      content: [
        text(
          "The tool returned an invalid result: the value is undefined. " +
            "It must return a string, a JSON value or { content: [...] }.",
        ),
      ],
      isError: true,
    },
    { content: [text("")] },
  ]);
});

Deno.test("duplicate call ids become unique within a reply and within the history [B22]", async () => {
  const tool = fakeTool({ name: "look" });
  const twice = reply([
    toolCall("look", { n: 1 }, { id: "a" }),
    toolCall("look", { n: 2 }, { id: "a" }),
  ]);
  const { agent } = testAgent([twice, twice, reply("Seen")], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Look"));
  const ids = ["a", "a_1", "a_2", "a_3"];
  assertEquals(tool.calls.map(({ toolCallId }) => toolCallId), ids);
  assertEquals(eventsOfType(events, "tool_execution_end").map(({ id }) => id), ids);
  assertEquals(repairHistory(agent.state.messages).repairs, []);
  const started = eventsOfType(events, "message_update").flatMap(({ delta }) =>
    delta.type === "tool_call_start" ? [delta.id] : []
  );
  assertEquals(started, ids);
});

Deno.test("a call without an id gets one from newId", async () => {
  const events = [
    { type: "start" },
    { type: "tool_call_start", contentIndex: 0, id: "", name: "look" },
    { type: "tool_call_end", contentIndex: 0 },
    {
      type: "done",
      stopReason: "tool_use",
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
  ] as const;
  const tool = fakeTool({ name: "look" });
  const ids = ["first", "second"];
  const { agent } = testAgent([events, events, reply("Seen")], {
    tools: [tool],
    newId: (kind) => kind === "call" ? ids.shift() ?? "none left" : crypto.randomUUID(),
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(tool.calls.map(({ toolCallId }) => toolCallId), ["first", "second"]);
});

Deno.test("a tool that modifies its arguments changes neither history nor events [B25]", async () => {
  const greedy = fakeTool({
    name: "greedy",
    result: (args) => {
      Object.assign(args, { stolen: true });
      (args["list"] as unknown[]).push(4);
      return "ok";
    },
  });
  const { agent, streamFn } = testAgent(
    [reply([toolCall("greedy", { list: [1] })]), reply("Done")],
    {
      tools: [greedy],
    },
  );
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(eventsOfType(events, "tool_execution_start")[0]?.arguments, { list: [1] });
  assertEquals(
    outlineMessages(streamFn.calls[1]?.context.messages ?? [])[1],
    'assistant: greedy({"list":[1]})',
  );
});

Deno.test("a tool that modifies its result later changes neither events nor messages", async () => {
  const progress = { content: [text("starting")], details: { done: 0 } };
  const tool = fakeTool({
    name: "dig",
    result: (_args, { onUpdate }) => {
      for (let done = 1; done <= 3; done++) {
        progress.details.done = done;
        onUpdate(progress);
      }
      return progress;
    },
  });
  const { agent } = testAgent([
    reply([toolCall("dig")]),
    () => {
      progress.details.done = 100;
      progress.content.push(text("and more"));
      return reply("Done");
    },
  ], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Dig"));
  const updates = eventsOfType(events, "tool_execution_update").map(({ update }) => update);
  assertEquals(
    updates,
    [1, 2, 3].map((done) => ({ content: [text("starting")], details: { done } })),
  );
  const [end] = eventsOfType(events, "tool_execution_end");
  assertEquals(end?.result, { content: [text("starting")], details: { done: 3 } });
  assertEquals(outlineMessages(agent.state.messages)[2], "tool_result: starting");
});

Deno.test("50 calls in one reply all get results [A43]", async () => {
  const tool = fakeTool({ name: "look", result: ({ n }) => `seen ${n}` });
  const calls = Array.from({ length: 50 }, (_, n) => toolCall("look", { n }));
  const { agent, streamFn } = testAgent([reply(calls), reply("Seen")], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Look"));
  assertEquals(eventsOfType(events, "tool_execution_start").length, 50);
  assertEquals(eventsOfType(events, "tool_execution_end").length, 50);
  const results = outlineMessages(streamFn.calls[1]?.context.messages ?? []).slice(2);
  assertEquals(results, calls.map((_, n) => `tool_result: seen ${n}`));
});

Deno.test("execute() gets the call id and a unique idempotency key", async () => {
  const tool = fakeTool({ name: "pay" });
  const { agent } = testAgent([reply([toolCall("pay"), toolCall("pay")]), reply("Paid")], {
    tools: [tool],
  });
  await checkEvents(agent.promptStream("Pay"));
  assertEquals(tool.calls.map(({ context }) => context.idempotencyKey), [
    "run_1:call_1",
    "run_1:call_2",
  ]);
});

Deno.test("a tool result keeps isError and details", async () => {
  const tool = fakeTool({
    name: "bash",
    result: { content: [text("Exit code: 42")], details: { exitCode: 42 }, isError: false },
  });
  const { agent } = testAgent([reply([toolCall("bash")]), reply("Done")], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Go"));
  const [turn] = eventsOfType(events, "turn_end");
  const [result] = turn?.toolResults ?? [];
  assertEquals([extractText(result?.content ?? []), result?.details, result?.isError], [
    "Exit code: 42",
    { exitCode: 42 },
    false,
  ]);
});

Deno.test("a tool with an invalid keyword in its schema is reported once, and its other keywords apply [A100]", async () => {
  const tool = fakeTool({
    name: "odd",
    parameters: { properties: { a: { type: "nonsense" }, b: { type: "string" } } },
  });
  const { agent, seen } = testAgent([
    reply([toolCall("odd", { b: 5 }), toolCall("odd", { a: 5, b: "x" })]),
    reply("Done"),
  ], { tools: [tool] });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(tool.calls.map((call) => call.arguments), [{ a: 5, b: "x" }]);
  const [warning, ...others] = eventsOfType(seen, "warning");
  assertEquals([warning?.code, warning?.data], ["tool_schema_ignored", { tool: "odd" }]);
  assertStringIncludes(warning?.message ?? "", "/properties/a/type must be one of array, boolean");
  assertEquals(others, []);
});

Deno.test("a schema nested more than 200 levels deep is reported and its tool refused", async () => {
  let parameters: JsonSchema = { type: "object" };
  for (let level = 0; level < 300; level++) parameters = { type: "object", not: parameters };
  const tool = fakeTool({ name: "odd", parameters });
  const { agent, seen } = testAgent([reply([toolCall("odd")]), reply("Sorry")], { tools: [tool] });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(tool.calls, []);
  assertEquals(eventsOfType(seen, "warning").map(({ code, data }) => [code, data]), [
    ["invalid_tool_schema", { tool: "odd" }],
  ]);
});

Deno.test("validator: the arguments are checked by a custom validator instead of the built-in one", async () => {
  const tool = fakeTool({ name: "look" });
  const { agent, streamFn } = testAgent([reply([toolCall("look", { n: 1 })]), reply("Sorry")], {
    tools: [tool],
    validator: () => () => [{ path: "/n", message: "must be prime" }],
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(tool.calls, []);
  assertStringIncludes(
    outlineMessages(streamFn.calls[1]?.context.messages ?? []).at(-1) ?? "",
    "- /n: must be prime",
  );
});

Deno.test("length stop: closed calls run, open calls do not [3.13, A19, A20, B27]", async () => {
  const tool = fakeTool({ name: "write" });
  const { agent, streamFn } = testAgent([
    reply([toolCall("write", { n: 1 }), toolCall("write", '{"n": 2, "te')], {
      stopReason: "length",
    }),
    reply([toolCall("write", { n: 3 })], { stopReason: "length" }),
    reply("Done"),
  ], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Write"));
  assertEquals(tool.calls.map((call) => call.arguments), [{ n: 1 }, { n: 3 }]);
  assertEquals(eventsOfType(events, "turn_end").map(({ reason }) => reason), [
    "tools_executed",
    "tools_executed",
    "complete",
  ]);
  assertEquals(eventsOfType(events, "tool_execution_end").map(({ id, isError }) => [id, isError]), [
    ["call_2", true],
    ["call_1", false],
    ["call_3", false],
  ]);
  streamFn.assertDone();
});
