import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Agent, defineTool } from "../../../mod.ts";
import { zeroCost, zeroUsage } from "../../../src/core/models/usage.ts";
import { reply, scriptedStream, text, toolCall } from "../../../src/testing/mod.ts";
import { formatAgents } from "../../render/agents/format_agents.ts";
import { formatUsageTable } from "../../render/status/format_usage.ts";
import { getDisplay } from "../../render/theme/get_display.ts";
import { RecordedConversation } from "./recorded_conversation.ts";

const MODEL = "any/model";

const display = getDisplay({ isTerminal: false }, () => undefined, {});

Deno.test("RecordedConversation: agents and the agents that they start are a tree, with their text", async () => {
  const look = defineTool({
    name: "look",
    description: "Looks",
    parameters: { type: "object", properties: { path: { type: "string" } } },
    execute: () => Promise.resolve({ content: [{ type: "text", text: "Seen." }] }),
  });
  const inner = new Agent({
    model: MODEL,
    tools: [look],
    streamFn: scriptedStream([
      reply([text("I look."), toolCall("look", { path: "a.ts" })]),
      reply("It is fine."),
    ]),
  });
  const outer = new Agent({
    model: MODEL,
    tools: [inner.asTool({ name: "inspect", description: "Inspects" })],
    streamFn: scriptedStream([
      reply([toolCall("inspect", { prompt: "a.ts" })]),
      reply("Inspected."),
    ]),
  });
  const agent = new Agent({
    model: MODEL,
    tools: [outer.asTool({ name: "explore", description: "Explores" })],
    streamFn: scriptedStream([
      reply([toolCall("explore", { prompt: "the code" })]),
      reply("Done."),
    ]),
  });
  const record = new RecordedConversation({ now: () => 0, findTool: () => undefined });
  let running: string[] = [];
  agent.subscribe(async (event) => {
    await record.onEvent(event);
    const isLooking = event.type === "sub_agent" && event.event.type === "tool_execution_end" &&
      event.event.name === "look";
    if (isLooking) running = format(record);
  });
  await agent.prompt("Explore");
  assertEquals(running, [
    '◌ explore [1] · inspect {"prompt":… · 1 turn · $0.0000 · 0 s',
    "└─ ◌ inspect [2] · look a.ts · 1 turn · $0.0000 · 0 s",
  ]);
  assertEquals(
    record.agents.map(({ status, turns, children }) => [status, turns, children.length]),
    [
      ["completed", 2, 1],
    ],
  );
  assertStringIncludes(record.getAgentText(2) ?? "", "I look.\n\n• look a.ts\nIt is fine.");
  assertEquals(record.getAgentText(3), undefined);
});

function format({ agents }: RecordedConversation): string[] {
  return formatAgents(agents, { columns: 60, display, now: 0 })
    .map((line) => line.map((span) => span.text).join(""));
}

Deno.test("RecordedConversation: the prompts of a history are counted", async () => {
  const agent = new Agent({
    model: MODEL,
    streamFn: scriptedStream([reply("One."), reply("Two.")]),
  });
  await agent.prompt("First");
  await agent.prompt("Second");
  const record = new RecordedConversation({ now: () => 0, findTool: () => undefined });
  record.restore(agent.state.messages);
  assertEquals(record.turns.map(({ label }) => label), ["First", "Second"]);
  record.clear();
  assertEquals(record.turns, []);
});

Deno.test("RecordedConversation: calls that run are kept when there are many, and later the last ones", async () => {
  const count = 300;
  const open = Promise.withResolvers<void>();
  const look = defineTool({
    name: "look",
    description: "Looks",
    parameters: { type: "object" },
    execute: async () => {
      await open.promise;
      return "Seen.";
    },
  });
  const agent = new Agent({
    model: MODEL,
    tools: [look],
    streamFn: scriptedStream([
      reply(Array.from({ length: count }, () => toolCall("look", {}))),
      reply("All seen."),
      reply([toolCall("look", {})]),
      reply("Seen again."),
    ]),
  });
  const record = new RecordedConversation({ now: () => 0, findTool: () => undefined });
  let running = 0;
  let ended = 0;
  agent.subscribe(async (event) => {
    const call = await record.onEvent(event);
    if (event.type === "tool_execution_start" && ++running === count) {
      assertEquals(record.runningCalls.length, count);
      open.resolve();
    }
    if (event.type === "tool_execution_end" && call?.end) ended++;
  });
  await agent.prompt("Look");
  assertEquals(ended, count);
  await agent.prompt("Look again");
  assertEquals(ended, count + 1);
  assertEquals([record.calls.length, record.calls.at(-1)?.number], [200, count + 1]);
});

Deno.test("RecordedConversation: the duration of a call does not include that of the calls before it", async () => {
  const work = defineTool({
    name: "work",
    description: "Works",
    parameters: { type: "object" },
    concurrencyKey: () => "work",
    execute: () => {
      now += 1_000;
      return Promise.resolve("Done.");
    },
  });
  let now = 0;
  const agent = new Agent({
    model: MODEL,
    tools: [work],
    streamFn: scriptedStream([
      reply([toolCall("work", {}), toolCall("work", {}), toolCall("work", {})]),
      reply("Done."),
    ]),
  });
  const record = new RecordedConversation({ now: () => now, findTool: () => work });
  const waiting: number[][] = [];
  agent.subscribe(async (event) => {
    await record.onEvent(event);
    waiting.push(record.runningCalls.filter((call) => call.isWaiting).map(({ number }) => number));
  });
  await agent.prompt("Work");
  assertEquals(
    record.calls.map(({ startedAt, end }) => [startedAt, end?.endedAt]),
    [[0, 1_000], [1_000, 2_000], [2_000, 3_000]],
  );
  const changes = waiting.map(String).filter((ids, index, all) => ids !== all[index - 1]);
  assertEquals(changes, ["", "2", "2,3", "3", ""]);
});

Deno.test("RecordedConversation: prompts that are no longer listed are part of the sums", () => {
  const record = new RecordedConversation({ now: () => 0, findTool: () => undefined });
  const usage = { ...zeroUsage(), input: 1, total: 1 };
  for (let count = 1; count <= 260; count++) {
    record.addPrompt({ label: `${count}`, outcome: { usage, cost: zeroCost() }, durationMs: 1 });
  }
  assertEquals([record.turns.length, record.turns[0]?.label], [200, "61"]);
  assertEquals([record.earlierTurns.count, record.earlierTurns.usage.usage.total], [60, 60]);
  assertEquals(record.total.usage.total, 260);
  const table = formatUsageTable(record.turns, {
    columns: 80,
    display,
    before: record.earlierTurns,
  })
    .map((line) => line.map(({ text }) => text).join(""));
  assertMatch(table[1] ?? "", /^210 earlier +210 /);
  assertMatch(table.at(-1) ?? "", /^sum +260 /);
  record.clear();
  assertEquals(record.earlierTurns.count, 0);
});
