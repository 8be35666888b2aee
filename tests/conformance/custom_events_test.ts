import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineAllEvents } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

Deno.test("emitCustom(): emits in order with the events of the run, to subscribers and the stream", async () => {
  const tool = fakeTool({
    name: "dig",
    result: () => {
      agent.emitCustom("progress", { done: 0.5 });
      return "dug";
    },
  });
  const { agent, seen } = testAgent([reply([toolCall("dig")]), reply("Done")], { tools: [tool] });
  const events = await checkEvents(agent.promptStream("Dig"));
  const lines = outlineAllEvents(events);
  assertEquals(lines.slice(lines.indexOf("tool_execution_start call_1")).slice(0, 3), [
    "tool_execution_start call_1",
    "custom",
    "tool_execution_end call_1",
  ]);
  const [custom] = eventsOfType(events, "custom");
  assertEquals(custom, {
    type: "custom",
    name: "progress",
    data: { done: 0.5 },
    seq: lines.indexOf("custom") + 1,
  });
  assertEquals(seen, events);
});

Deno.test("emitCustom(): while idle, emits to subscribers without a number", () => {
  const { agent, seen } = testAgent([]);
  for (const data of [null, 0, "text", [1], { a: { b: true } }]) agent.emitCustom("state", data);
  assertEquals(seen, [
    { type: "custom", name: "state", data: null },
    { type: "custom", name: "state", data: 0 },
    { type: "custom", name: "state", data: "text" },
    { type: "custom", name: "state", data: [1] },
    { type: "custom", name: "state", data: { a: { b: true } } },
  ]);
});

Deno.test("emitCustom(): data that is changed later stays as it was", () => {
  const { agent, seen } = testAgent([]);
  const data = { list: [1] };
  agent.emitCustom("state", data);
  data.list.push(2);
  assertEquals(seen, [{ type: "custom", name: "state", data: { list: [1] } }]);
});

const cycle: unknown[] = [];
cycle.push(cycle);

for (
  const [name, data, words] of [
    ["undefined", undefined, 'The data of the event "state" must be JSON: the value is undefined'],
    ["a BigInt", { n: 5n }, 'The data of the event "state" must be JSON: /n is a bigint'],
    ["a cycle", cycle, 'The data of the event "state" must be JSON: /0 contains itself'],
    ["a function", () => {}, "must be JSON: the value is a function"],
  ] as const
) {
  Deno.test(`emitCustom() throws for ${name} and emits nothing`, () => {
    const { agent, seen } = testAgent([]);
    assertThrows(() => agent.emitCustom("state", data), BadRequestError, words);
    assertEquals(seen, []);
  });
}

Deno.test("emitCustom() throws for an empty name", () => {
  const { agent } = testAgent([]);
  assertThrows(() => agent.emitCustom("", 1), BadRequestError, "A custom event must have a name");
});
