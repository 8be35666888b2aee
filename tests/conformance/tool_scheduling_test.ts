import { assertEquals } from "@std/assert";
import type { AgentOptions } from "../../src/agent/options.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { type FakeTool, fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

/** Creates a tool that records its start and end in `log`, and ends when `open()` is called with its key. */
function gatedTool(
  options: Parameters<typeof fakeTool>[0],
  log: string[],
): { tool: FakeTool; open: (key: unknown) => void } {
  const gates = new Map<unknown, PromiseWithResolvers<void>>();
  const getGate = (key: unknown): PromiseWithResolvers<void> => {
    const gate = gates.get(key) ?? Promise.withResolvers<void>();
    gates.set(key, gate);
    return gate;
  };
  const tool = fakeTool({
    ...options,
    result: async ({ key }) => {
      log.push(`+${key}`);
      await getGate(key).promise;
      log.push(`-${key}`);
      return "ok";
    },
  });
  return { tool, open: (key) => getGate(key).resolve() };
}

function createCalls(name: string, ...keys: string[]): ReturnType<typeof toolCall>[] {
  return keys.map((key) => toolCall(name, { key }));
}

Deno.test("sequential tool: does not overlap with any call before or after it [B19, A89]", async () => {
  const log: string[] = [];
  const { tool, open } = gatedTool({ name: "free" }, log);
  const alone = gatedTool({ name: "alone", sequential: true }, log);
  const { agent } = testAgent([
    reply([
      ...createCalls("free", "a", "b"),
      ...createCalls("alone", "c"),
      ...createCalls("free", "d", "e"),
    ]),
    reply("Done"),
  ], { tools: [tool, alone.tool] });
  const running = checkEvents(agent.promptStream("Go"));
  const steps: string[][] = [];
  for (const key of ["b", "a", "c", "e", "d"]) {
    await settle();
    steps.push([...log]);
    open(key);
    alone.open(key);
  }
  await running;
  assertEquals(steps, [
    ["+a", "+b"],
    ["+a", "+b", "-b"],
    ["+a", "+b", "-b", "-a", "+c"],
    ["+a", "+b", "-b", "-a", "+c", "-c", "+d", "+e"],
    ["+a", "+b", "-b", "-a", "+c", "-c", "+d", "+e", "-e"],
  ]);
});

Deno.test("concurrencyKey: calls with one key run one after the other, others concurrently", async () => {
  const log: string[] = [];
  const { tool, open } = gatedTool({
    name: "edit",
    concurrencyKey: ({ key }) => key === "free" ? undefined : String(key).slice(0, 1),
  }, log);
  const { agent } = testAgent([
    reply(createCalls("edit", "a1", "b1", "a2", "free", "a3")),
    reply("Done"),
  ], { tools: [tool] });
  const running = checkEvents(agent.promptStream("Go"));
  const steps: string[][] = [];
  for (const key of ["a1", "b1", "free", "a2", "a3"]) {
    await settle();
    steps.push(log.splice(0));
    open(key);
  }
  await running;
  assertEquals(steps, [["+a1", "+b1", "+free"], ["-a1", "+a2"], ["-b1"], ["-free"], [
    "-a2",
    "+a3",
  ]]);
});

Deno.test("concurrencyKey, requiresApproval: changes of their arguments change neither the call nor the history", async () => {
  const change = (args: Readonly<Record<string, unknown>>) =>
    void Object.assign(args["file"] as object, { path: "b" });
  const work = fakeTool({
    name: "work",
    requiresApproval: (args) => change(args) === null,
  });
  const tool = {
    ...work,
    concurrencyKey: (args: Readonly<Record<string, unknown>>) => String(change(args)),
  };
  const call = toolCall("work", { file: { path: "a" } }, { id: "w" });
  const { agent } = testAgent([reply([call]), reply("Done")], {
    tools: [tool],
    approve: () => true,
    approvalMode: "smart",
  });
  const { messages } = await agent.prompt("Go");
  assertEquals(work.calls.map((call) => call.arguments), [{ file: { path: "a" } }]);
  assertEquals(messages[1]?.role === "assistant" && messages[1].content, [call]);
});

Deno.test("concurrencyKey: keys that are no texts are compared as texts", async () => {
  const log: string[] = [];
  const { tool, open } = gatedTool({
    name: "fetch",
    concurrencyKey: ({ key }) => new URL(String(key), "https://example.com/") as never,
  }, log);
  const { agent } = testAgent([reply(createCalls("fetch", "a", "a", "b")), reply("Done")], {
    tools: [tool],
  });
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  assertEquals(log, ["+a", "+b"]);
  open("a");
  open("b");
  await running;
  assertEquals(log.toSorted(), ["+a", "+a", "+b", "-a", "-a", "-b"]);
});

Deno.test("concurrencyKey: a function that throws counts as no key", async () => {
  const tool = fakeTool({
    name: "edit",
    concurrencyKey: () => {
      throw new Error("no path");
    },
  });
  const { agent } = testAgent([reply([toolCall("edit"), toolCall("edit")]), reply("Done")], {
    tools: [tool],
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(tool.calls.length, 2);
});

/** Runs one call, advances the clock by 50 ms and then by 100 ms; returns the second request and all sleeps. */
async function runUntilTimeout(
  tool: FakeTool,
  options: Partial<AgentOptions> = {},
): Promise<{ request: string[]; waits: number[] }> {
  const { agent, clock, streamFn } = testAgent([reply([toolCall(tool.name)]), reply("Sorry")], {
    tools: [tool],
    ...options,
  });
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  clock.advance(50);
  await settle();
  clock.advance(100);
  const events = await running;
  assertEquals(eventsOfType(events, "turn_end").map(({ reason }) => reason), [
    "tools_executed",
    "complete",
  ]);
  assertEquals(clock.sleepers, 0);
  return {
    request: outlineMessages(streamFn.calls[1]?.context.messages ?? []),
    waits: clock.waits,
  };
}

Deno.test("timeoutMs: gives an error result, and the run continues [B21]", async () => {
  const slow = fakeTool({ name: "slow", delayMs: Infinity, timeoutMs: 50 });
  const { request } = await runUntilTimeout(slow, { toolTimeoutMs: 10_000 });
  assertEquals(request.at(-1), 'tool_result: The tool "slow" timed out after 50 ms');
  const [call] = slow.calls;
  assertEquals([call?.state, call?.context.signal.reason?.code], ["cancelled", "tool_timeout"]);
});

Deno.test("timeoutMs: defaults to the agent's toolTimeoutMs", async () => {
  const { request, waits } = await runUntilTimeout(fakeTool({ name: "slow", delayMs: Infinity }), {
    toolTimeoutMs: 50,
  });
  assertEquals(request.at(-1), 'tool_result: The tool "slow" timed out after 50 ms');
  assertEquals(waits, [50, 100]);
});

Deno.test("timeoutMs: a tool that ignores its signal is abandoned after 100 ms", async () => {
  const unresponsive = fakeTool({
    name: "unresponsive",
    delayMs: Infinity,
    timeoutMs: 50,
    ignoresSignal: true,
  });
  const { request, waits } = await runUntilTimeout(unresponsive);
  assertEquals(request.at(-1), 'tool_result: The tool "unresponsive" timed out after 50 ms');
  assertEquals(waits, [50, 100]);
  assertEquals(unresponsive.calls[0]?.state, "running");
});

Deno.test("timeoutMs: a tool that ends in time leaves no timer", async () => {
  const { agent, clock } = testAgent([reply([toolCall("quick")]), reply("Done")], {
    tools: [fakeTool({ name: "quick", timeoutMs: 50 })],
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals([clock.waits, clock.sleepers], [[50], 0]);
});

Deno.test("timeoutMs: a tool that is cancelled leaves no timer", async () => {
  const tool = fakeTool({ name: "slow", timeoutMs: 60_000, delayMs: Infinity });
  const { agent, clock } = testAgent([reply([toolCall("slow")])], { tools: [tool] });
  const running = agent.prompt("Go");
  await settle();
  agent.abort();
  await running;
  assertEquals(clock.waits, [60_000, 100]);
  assertEquals(clock.sleepers, 0);
});

Deno.test("timeoutMs: Infinity is no limit", async () => {
  const { agent, clock } = testAgent([reply([toolCall("quick")]), reply("Done")], {
    tools: [fakeTool({ name: "quick", timeoutMs: Infinity })],
    toolTimeoutMs: 50,
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(clock.waits, []);
});

Deno.test("tool call: starts after every listener and the reader have received its tool_execution_start", async () => {
  const order: string[] = [];
  const tool = fakeTool({ name: "look", result: () => (order.push("runs"), "ok") });
  const { agent } = testAgent([reply([toolCall("look")]), reply("Done")], { tools: [tool] });
  agent.subscribe(async ({ type }) => {
    if (type !== "tool_execution_start") return;
    await settle();
    order.push("listener");
  });
  for await (const { type } of agent.promptStream("Look")) {
    if (type === "tool_execution_start") order.push("reader");
  }
  assertEquals(order, ["listener", "reader", "runs"]);
});
