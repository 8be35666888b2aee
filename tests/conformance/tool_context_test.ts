import { assert, assertEquals, assertNotStrictEquals, assertStrictEquals } from "@std/assert";
import { type AgentError, StreamError } from "../../src/core/errors/errors.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import type { AgentMessage } from "../../src/core/messages/message.ts";
import { unknownCost, zeroCost, zeroUsage } from "../../src/core/models/usage.ts";
import { defineTool, type ToolContext } from "../../src/core/tools/tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

Deno.test("ToolContext: has the ids, the turn, the context of the run and the history with the reply", async () => {
  const database = { query: () => 1 };
  const seen: unknown[] = [];
  const contexts: ToolContext[] = [];
  const look = fakeTool({
    name: "look",
    result: (_args, context) => {
      const { toolCallId, idempotencyKey, runId, turn, messages } = context;
      seen.push({ toolCallId, idempotencyKey, runId, turn, messages: outlineMessages(messages) });
      contexts.push(context);
      return "ok";
    },
  });
  const { agent } = testAgent(
    [reply([toolCall("look")]), reply([toolCall("look")]), reply("Seen")],
    {
      tools: [look],
      context: database,
    },
  );
  await checkEvents(agent.promptStream("Look"));
  assertEquals(seen, [
    {
      toolCallId: "call_1",
      idempotencyKey: "run_1:call_1",
      runId: "run_1",
      turn: 1,
      messages: ["user: Look", "assistant: look({})"],
    },
    {
      toolCallId: "call_2",
      idempotencyKey: "run_1:call_2",
      runId: "run_1",
      turn: 2,
      messages: ["user: Look", "assistant: look({})", "tool_result: ok", "assistant: look({})"],
    },
  ]);
  assertEquals(contexts.map(({ context }) => context === database), [true, true]);
  assertNotStrictEquals(contexts[0]?.messages, agent.state.messages);
});

Deno.test("ToolContext.messages: cannot be changed, and stays as it was when the tool started", async () => {
  const contexts: ToolContext[] = [];
  const greedy = fakeTool({
    name: "greedy",
    result: (_args, context) => {
      contexts.push(context);
      (context.messages as unknown[]).length = 0;
      return "ok";
    },
  });
  const { agent, streamFn } = testAgent([reply([toolCall("greedy")]), reply("Done")], {
    tools: [greedy],
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(streamFn.calls[1]?.context.messages.length, 3);
  assertEquals(agent.state.messages.length, 4);
  assertEquals(contexts[0]?.messages.length, 2);
});

/** Tries to change every part of a value in place; returns the number of changes. */
function changeParts(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const parts = Object.entries(value).map(([name, part]) =>
    changeParts(part) + Number(Reflect.set(value, name, "changed"))
  );
  return parts.reduce((sum, count) => sum + count, Number(Reflect.set(value, "added", 1)));
}

Deno.test("ToolContext.messages: no part of a message can be changed", async () => {
  const changes: number[] = [];
  const greedy = fakeTool({
    name: "greedy",
    result: (_args, { messages }) => {
      changes.push(changeParts(messages));
      return { content: [{ type: "text", text: "ok" }], details: { deep: [{ x: 1 }] } };
    },
  });
  const steps = [1, 2].map((n) => reply([toolCall("greedy", { list: [{ n }] })]));
  const { agent, streamFn } = testAgent([...steps, reply("Done")], { tools: [greedy] });
  const own: AgentMessage = {
    role: "custom",
    type: "note",
    data: { deep: [{ y: 1 }] },
    timestamp: 0,
  };
  agent.setMessages([own]);
  await checkEvents(agent.promptStream("Go"));
  assertEquals(changes, [0, 0]);
  const sent: readonly AgentMessage[] = streamFn.calls[2]?.context.messages ?? [];
  assertEquals(sent, agent.state.messages.slice(1, 6));
  assert(!JSON.stringify(agent.state.messages).includes("changed"));
  // Only copies are frozen: the history has the message of the caller.
  assertStrictEquals(agent.state.messages[0], own);
  assert(!Object.isFrozen(own));
});

Deno.test("ToolContext.messages: has the same copy of a message in every call", async () => {
  const seen: (readonly AgentMessage[])[] = [];
  const look = fakeTool({
    name: "look",
    result: (_args, { messages }) => {
      seen.push(messages);
      return "ok";
    },
  });
  const steps = [reply([toolCall("look"), toolCall("look")]), reply([toolCall("look")])];
  const { agent } = testAgent([...steps, reply("Done")], { tools: [look] });
  await agent.prompt("Go");
  assertStrictEquals(seen[0], seen[1]);
  assertEquals(seen[2]?.length, 5);
  assertStrictEquals(seen[0]?.[0], seen[2]?.[0]);
});

Deno.test("ToolContext.onEvent: emits events of an agent as sub_agent, with the call as the path", async () => {
  const inner: AgentEvent = { type: "turn_start", turn: 1, seq: 2 };
  const nested: AgentEvent = { type: "sub_agent", path: ["call_9", "call_10"], event: inner };
  const tool = fakeTool({
    name: "delegate",
    result: async (_args, { onEvent }) => {
      await onEvent(inner);
      await onEvent(nested);
      return "ok";
    },
  });
  const { agent } = testAgent([reply([toolCall("delegate")]), reply("Done")], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Go"));
  const lines = outlineEvents(events);
  const start = lines.indexOf("tool_execution_start call_1");
  assertEquals(lines.slice(start, start + 4), [
    "tool_execution_start call_1",
    "sub_agent call_1 turn_start",
    "sub_agent call_1/call_9/call_10 turn_start",
    "tool_execution_end call_1",
  ]);
  assertEquals(events.flatMap((event) => event.type === "sub_agent" ? event.event : []), [
    inner,
    inner,
  ]);
});

Deno.test("ToolContext.onEvent: emits an event after the updates before it", async () => {
  const event = { type: "agent_start", runId: "inner", seq: 1 } as const;
  const tool = fakeTool({
    name: "ask",
    result: async (_args, { onEvent, onUpdate }) => {
      for (const update of ["10 %", "50 %"]) onUpdate(update);
      await onEvent(event);
      return "asked";
    },
  });
  const { agent, seen } = testAgent([reply([toolCall("ask")]), reply("Done")], { tools: [tool] });
  await agent.prompt("Go");
  const types = seen.map(({ type }) => type);
  assertEquals(
    types.slice(types.indexOf("tool_execution_start") + 1, types.indexOf("tool_execution_end")),
    ["tool_execution_update", "tool_execution_update", "sub_agent"],
  );
});

Deno.test("ToolContext.onEvent: emits nothing after the call has ended", async () => {
  let late: (() => Promise<void>) | undefined;
  const tool = fakeTool({
    name: "delegate",
    result: (_args, { onEvent }) => {
      late = () => onEvent({ type: "turn_start", turn: 1 });
      return "ok";
    },
  });
  const { agent } = testAgent([
    reply([toolCall("delegate")]),
    async () => {
      await late?.();
      return reply("Done");
    },
  ], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(events.filter(({ type }) => type === "sub_agent"), []);
});

Deno.test("ToolContext: works when it is destructured, copied and used after an await", async () => {
  const tool = defineTool({
    name: "copy",
    description: "",
    parameters: { type: "object" },
    execute: async (_args, context) => {
      const { onUpdate, onEvent, ...rest } = { ...context };
      await Promise.resolve();
      onUpdate("half");
      await onEvent({ type: "turn_start", turn: 1 });
      return `${rest.turn} ${rest.signal.aborted} ${rest.messages.length}`;
    },
  });
  const { agent } = testAgent([reply([toolCall("copy")]), reply("Done")], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(outlineMessages(agent.state.messages)[2], "tool_result: 1 false 2");
  const lines = outlineEvents(events);
  assertEquals(lines.slice(lines.indexOf("tool_execution_start call_1")).slice(1, 4), [
    "tool_execution_update call_1",
    "sub_agent call_1 turn_start",
    "tool_execution_end call_1",
  ]);
});

const strange = new Proxy({ type: "warning" }, {
  get() {
    throw new Error("unreadable");
  },
});
const invalid: readonly unknown[] = [
  undefined,
  null,
  5,
  {},
  { type: "sub_agent", path: ["a"] },
  { type: "sub_agent", event: { type: "turn_start", turn: 1 } },
  { type: "context_compacted" },
  { type: "tool_execution_end", id: "a" },
  { type: "custom", name: "progress", data: 5n },
  strange,
];

Deno.test("ToolContext.onEvent: a value that is no event is reported as a warning, also when it is not awaited", async () => {
  const tool = fakeTool({
    name: "delegate",
    result: (_args, { onEvent }) => {
      for (const value of invalid) void onEvent(value as never);
      return "ok";
    },
  });
  const { agent } = testAgent([reply([toolCall("delegate")]), reply("Done")], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(eventsOfType(events, "sub_agent"), []);
  const warnings = eventsOfType(events, "warning");
  assertEquals(warnings.map(({ code }) => code), invalid.map(() => "invalid_sub_agent_event"));
  assertEquals(
    warnings[0]?.message,
    'An event of the tool "delegate" is not emitted: it must have a type and the properties of that type',
  );
  assertEquals(outlineMessages(agent.state.messages)[2], "tool_result: ok");
});

Deno.test("ToolContext.onEvent: an event that the tool changes later stays as it was", async () => {
  const abortReason = { by: "user" };
  const tool = fakeTool({
    name: "delegate",
    result: async (_args, { onEvent }) => {
      const data = { done: 1 };
      const custom = { type: "custom", name: "progress", data } as const;
      const inner = { type: "sub_agent", path: ["a"], event: custom } as const;
      await onEvent(inner);
      data.done = 2;
      const usage = zeroUsage();
      const outcome = { messages: [], stopReason: "error", usage, cost: zeroCost() } as const;
      const error = new StreamError("Broken").toJSON();
      await onEvent({ type: "agent_end", ...outcome, error: error as AgentError, abortReason });
      return "ok";
    },
  });
  const { agent } = testAgent([reply([toolCall("delegate")]), reply("Done")], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Go"));
  const [first, second] = eventsOfType(events, "sub_agent");
  assertEquals(first?.path, ["call_1", "a"]);
  assertEquals(first?.event, { type: "custom", name: "progress", data: { done: 1 } });
  const end = second?.event;
  assert(end?.type === "agent_end" && end.error instanceof StreamError);
  assertStrictEquals(end.abortReason, abortReason);
});

Deno.test("ToolContext.run.background: a value that is no event is reported as a warning, and the work continues", async () => {
  const tool = fakeTool({
    name: "delegate",
    result: (_args, { run }) => {
      run.background(async ({ onEvent }) => {
        for (const value of invalid) await onEvent(value as never);
        return "It is done";
      });
      return "started";
    },
  });
  const steps = [reply([toolCall("delegate")]), reply("Waiting"), reply("Thanks")];
  const { agent } = testAgent(steps, { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Go"));
  const warnings = eventsOfType(events, "warning");
  assertEquals(warnings.map(({ code }) => code), invalid.map(() => "invalid_sub_agent_event"));
  assertEquals(outlineMessages(agent.state.messages).slice(-2), [
    "user: It is done",
    "assistant: Thanks",
  ]);
});

Deno.test("ToolContext.onEvent: invalid amounts of an event do not reach the totals", async () => {
  const tool = fakeTool({
    name: "delegate",
    result: async (_args, { onEvent }) => {
      await onEvent(
        { type: "model_call_end", usage: { input: NaN, total: 5 }, cost: null } as never,
      );
      return await new Promise(() => {});
    },
  });
  const { agent, clock } = testAgent([reply([toolCall("delegate")]), reply("Done")], {
    tools: [tool],
    toolTimeoutMs: 50,
  });
  const running = agent.prompt("Go");
  await settle();
  clock.advance(50);
  await settle();
  clock.advance(100);
  const { usage, cost } = await running;
  assertEquals([usage, cost], [{ ...zeroUsage(), total: 5 }, unknownCost()]);
});
