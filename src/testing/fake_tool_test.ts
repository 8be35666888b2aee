import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import { AbortedError, BadRequestError } from "../core/errors/errors.ts";
import type { ToolContext } from "../core/tools/tool.ts";
import { fakeTool, type FakeToolOptions } from "./fake_tool.ts";
import { text, toolCall } from "./messages.ts";
import { reply } from "./script.ts";
import { scriptedStream } from "./scripted_stream.ts";
import { testToolContext } from "./test_tool_context.ts";

function createToolContext(signal: AbortSignal = new AbortController().signal): ToolContext {
  return testToolContext({ toolCallId: "c1", signal });
}

Deno.test("fakeTool() returns ok by default and records its calls", async () => {
  const tool = fakeTool({ name: "lookup" });
  assertEquals(await tool.execute({ word: "tree" }, createToolContext()), "ok");
  assertEquals(tool.name, "lookup");
  assertEquals(tool.parameters, { type: "object" });
  const [call] = tool.calls;
  assertEquals(call?.toolCallId, "c1");
  assertEquals(call?.arguments, { word: "tree" });
  assertEquals(call?.state, "finished");
});

Deno.test("fakeTool() copies properties of the tool from its options", () => {
  const parameters = { type: "object", required: ["path"] };
  const tool = fakeTool({ name: "read", readOnly: true, sequential: true, parameters });
  assertEquals(tool.readOnly, true);
  assertEquals(tool.sequential, true);
  assertEquals(tool.parameters, parameters);
});

Deno.test("fakeTool() refuses options from which no tool can be made, and misspelled ones", () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, 'Pass options with a name, such as { name: "search" }, not undefined'],
    [{}, "The name of a tool must be a text, not undefined"],
    [{ name: 5 }, "The name of a tool must be a text, not 5"],
    [{ name: "" }, "The name of a tool must be a text, not"],
    [{ name: "look", parameters: 5 }, 'Invalid tool "look": parameters must be a JSON Schema'],
    [{ name: "look", timeoutMs: 0 }, 'Invalid tool "look": timeoutMs must be a number above 0'],
    [{ name: "look", delayMs: "5" }, 'delayMs of the fake tool "look" must be a number'],
    [{ name: "look", delayMs: NaN }, 'delayMs of the fake tool "look" must be a number'],
    [{ name: "look", sleep: 5 }, 'sleep of the fake tool "look" must be a function, not 5'],
    [
      { name: "look", execute: () => "a" },
      'option "execute" of the fake tool "look": did you mean result?',
    ],
    [{ name: "look", results: "a" }, 'Unknown property "results" of the fake tool "look"'],
    [{ name: "look", readonly: true }, 'Unknown property "readonly" of the tool "look"'],
  ];
  for (const [options, message] of cases) {
    assertThrows(() => fakeTool(options as FakeToolOptions), BadRequestError, message);
  }
});

Deno.test("fakeTool() fills in properties that are undefined", () => {
  const tool = fakeTool({ name: "look", description: undefined, parameters: undefined } as never);
  assertEquals([tool.description, tool.parameters], ["The fake tool look.", { type: "object" }]);
});

Deno.test("fakeTool() replaces a tool whose properties are copied", async () => {
  const real = fakeTool({ name: "look", description: "Looks.", result: "real" });
  const fake = fakeTool({ ...real, result: "fake" });
  assertEquals(fake.description, "Looks.");
  assertEquals(await fake.execute({}, createToolContext()), "fake");
  assertEquals([fake.calls.length, real.calls.length], [1, 0]);
});

Deno.test("fakeTool() throws a result that is an error, and calls one that is a function", async () => {
  const broken = fakeTool({ name: "a", result: new Error("no such file") });
  const echo = fakeTool({ name: "b", result: ({ word }) => `got ${word}` });
  const strict = fakeTool({ name: "c", result: () => new Error("not that") });
  await assertRejects(() => broken.execute({}, createToolContext()), Error, "no such file");
  assertEquals(await echo.execute({ word: "hi" }, createToolContext()), "got hi");
  await assertRejects(() => strict.execute({}, createToolContext()), Error, "not that");
  assertEquals(broken.calls[0]?.state, "failed");
});

Deno.test("fakeTool() rejects with AbortedError when its signal fires", async () => {
  const controller = new AbortController();
  const tool = fakeTool({ name: "slow", delayMs: Infinity });
  const running = tool.execute({}, createToolContext(controller.signal));
  assertEquals(tool.calls[0]?.state, "running");
  controller.abort();
  await assertRejects(() => Promise.resolve(running), AbortedError);
  assertEquals(tool.calls[0]?.state, "cancelled");
});

Deno.test("fakeTool() finishes after an abort with ignoresSignal", async () => {
  const controller = new AbortController();
  const tool = fakeTool({ name: "uncancellable", delayMs: 1, ignoresSignal: true, result: "late" });
  const running = tool.execute({}, createToolContext(controller.signal));
  controller.abort();
  assertEquals(await running, "late");
});

Deno.test("fakeTool() waits with the sleep option and counts concurrent calls", async () => {
  const wakes: (() => void)[] = [];
  const sleep = (milliseconds: number): Promise<void> => {
    assertEquals(milliseconds, 500);
    return new Promise((resolve) => wakes.push(resolve));
  };
  const tool = fakeTool({ name: "slow", delayMs: 500, sleep });
  const first = [tool.execute({}, createToolContext()), tool.execute({}, createToolContext())];
  assertEquals(tool.maxConcurrent, 2);
  wakes.forEach((wake) => wake());
  await Promise.all(first);
  const third = tool.execute({}, createToolContext());
  wakes.at(-1)?.();
  await third;
  assertEquals(tool.maxConcurrent, 2);
  assert(tool.calls.every(({ state }) => state === "finished"));
});

Deno.test("fakeTool() returns any JSON value, and a result with the usage and cost of the tool", async () => {
  const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
  const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
  const rows = fakeTool({ name: "rows", result: { rows: [1, 2] } });
  const count = fakeTool({ name: "count", result: () => 2 });
  const summary = fakeTool({ name: "summary", result: { content: [text("short")], usage, cost } });
  const streamFn = scriptedStream([
    reply([toolCall("rows"), toolCall("count"), toolCall("summary")]),
    reply("Done"),
  ]);
  const agent = new Agent({ model: "test/model", streamFn, tools: [rows, count, summary] });
  const result = await agent.prompt("Summarize the rows");
  const details = result.messages.flatMap((message) =>
    message.role === "tool_result" ? [message.details] : []
  );
  assertEquals(details, [{ rows: [1, 2] }, 2, undefined]);
  assertEquals([result.usage, result.cost], [usage, cost]);
});
