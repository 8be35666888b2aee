import { assertEquals } from "@std/assert";
import { defineTool } from "../../src/core/tools/tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents } from "./outline.ts";
import { settle } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

Deno.test("onUpdate() emits between start and end, and late updates are dropped [A8, B18]", async () => {
  let late: (() => void) | undefined;
  const tool = fakeTool({
    name: "dig",
    result: async (_args, { onUpdate }) => {
      onUpdate("10 %");
      await Promise.resolve();
      onUpdate({ content: [text("50 %")], details: { done: 0.5 } });
      onUpdate("99 %");
      late = () => onUpdate("101 %");
      return "dug";
    },
  });
  const { agent } = testAgent([
    reply([toolCall("dig")]),
    () => {
      late?.();
      return reply("Done");
    },
  ], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Dig"));
  assertEquals(
    eventsOfType(events, "tool_execution_update").map(({ id, update }) => [id, update]),
    [
      ["call_1", "10 %"],
      ["call_1", { content: [text("50 %")], details: { done: 0.5 } }],
      ["call_1", "99 %"],
    ],
  );
  const lines = outlineEvents(events);
  const end = lines.indexOf("tool_execution_end call_1");
  assertEquals(lines.slice(end - 4, end), [
    "tool_execution_start call_1",
    ...Array(3).fill("tool_execution_update call_1"),
  ]);
});

Deno.test("onUpdate(): a burst is limited to 128 updates, of which the last is the latest [A90]", async () => {
  const tool = fakeTool({
    name: "burst",
    result: (_args, { onUpdate }) => {
      for (let number = 1; number <= 192; number++) onUpdate(`${number}`);
      return "done";
    },
  });
  const { agent } = testAgent([reply([toolCall("burst")]), reply("Done")], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Go"));
  const updates = eventsOfType(events, "tool_execution_update").map(({ update }) => update);
  assertEquals(updates.length, 128);
  assertEquals([updates[0], updates[126], updates[127]], ["1", "127", "192"]);
  assertEquals(eventsOfType(events, "tool_execution_end").map(({ isError }) => isError), [false]);
});

Deno.test("onUpdate() after the call was cancelled emits nothing", async () => {
  const tool = fakeTool({
    name: "dig",
    result: (_args, { signal, onUpdate }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          onUpdate("too late");
          resolve("dug");
        });
        onUpdate("10 %");
      }),
  });
  const { agent } = testAgent([reply([toolCall("dig")])], { tools: [tool] });
  atFirst(agent, "tool_execution_update", () => agent.abort());
  const events = await checkEvents(agent.promptStream("Dig"));
  assertEquals(outlineEvents(events).slice(8), [
    "tool_execution_start call_1",
    "tool_execution_update call_1",
    "tool_execution_end call_1",
    "message_start tool_result",
    "message_end tool_result",
    "turn_end aborted",
    "agent_end",
  ]);
});

Deno.test("onUpdate(): updates that are still queued when a cancelled call ends are dropped", async () => {
  const tool = fakeTool({
    name: "dig",
    result: (_args, { signal, onUpdate }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve("dug"));
        for (const progress of ["10 %", "50 %"]) onUpdate(progress);
      }),
  });
  const { agent } = testAgent([reply([toolCall("dig")])], { tools: [tool] });
  agent.subscribe(async ({ type }) => {
    if (type !== "tool_execution_update") return;
    agent.abort();
    await settle();
  });
  const events = await checkEvents(agent.promptStream("Dig"));
  assertEquals(outlineEvents(events).slice(8, 11), [
    "tool_execution_start call_1",
    "tool_execution_update call_1",
    "tool_execution_end call_1",
  ]);
});

Deno.test("onUpdate() and onEvent() report a promise that was not awaited, whose rejection does not end the process", async () => {
  const dig = defineTool({
    name: "dig",
    description: "Digs.",
    parameters: { type: "object" },
    execute: async (_args, { onUpdate, onEvent }) => {
      const reject = (): never => Promise.reject(new Error("Lost")) as never;
      onUpdate(reject());
      onUpdate({ content: [text("half")], details: { at: reject() } });
      await onEvent(reject());
      return "dug";
    },
  });
  const { agent } = testAgent([reply([toolCall("dig")]), reply("Done")], { tools: [dig] });
  const events = await checkEvents(agent.promptStream("Dig"));
  await settle();
  assertEquals(
    eventsOfType(events, "tool_execution_update").map(({ update }) =>
      typeof update === "object" && update.isError
    ),
    [true, true],
  );
  assertEquals(eventsOfType(events, "warning").map(({ code }) => code), [
    "invalid_sub_agent_event",
  ]);
});
