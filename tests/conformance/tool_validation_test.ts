import { assertEquals, assertStringIncludes } from "@std/assert";
import type { SchemaValidator } from "../../src/core/schemas/schema.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { type FakeTool, fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

interface CallOutcome {
  /** The arguments that the tool ran with, if it did. */
  readonly calls: readonly unknown[];
  readonly result: string;
  readonly warnings: readonly string[];
}

/** Runs one call of a tool; the run must end normally. */
async function runCall(
  tool: FakeTool,
  args: Parameters<typeof toolCall>[1],
  options: Parameters<typeof testAgent>[1] = {},
): Promise<CallOutcome> {
  const { agent, seen } = testAgent([reply([toolCall(tool.name, args)]), reply("Done")], {
    tools: [tool],
    ...options,
  });
  await checkEvents(agent.promptStream("Go"));
  const [end] = eventsOfType(seen, "agent_end");
  assertEquals([end?.stopReason, end?.error], ["stop", undefined]);
  return {
    calls: tool.calls.map((call) => call.arguments),
    result: outlineMessages(agent.state.messages)[2] ?? "",
    warnings: eventsOfType(seen, "warning").map(({ code }) => code),
  };
}

Deno.test("arguments that nest too deep give an error result, with policies and without", async () => {
  const text = '{"a":'.repeat(20_000) + "1" + "}".repeat(20_000);
  const policies = [{ name: "look", preDispatch: () => undefined }];
  for (const options of [{}, { policies }]) {
    const { calls, result } = await runCall(fakeTool({ name: "look" }), text, options);
    assertEquals(calls, []);
    assertStringIncludes(result, "nested more than 200 levels deep");
  }
});

Deno.test("execute() gets the output of validate, and the history keeps the model's arguments", async () => {
  const output = { at: new Date(0) };
  const tool = fakeTool({ name: "look", validate: () => ({ valid: true, value: output }) });
  const { agent } = testAgent([reply([toolCall("look", { at: "1970" })]), reply("Done")], {
    tools: [tool],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(tool.calls.map((call) => call.arguments), [output]);
  assertEquals(eventsOfType(events, "tool_execution_start")[0]?.arguments, { at: "1970" });
  const [, message] = agent.state.messages;
  assertEquals(message?.role === "assistant" && message.content[0], {
    type: "tool_call",
    id: "call_1",
    name: "look",
    arguments: { at: "1970" },
  });
});

Deno.test("errors of validate go back to the model", async () => {
  const errors = [{ path: "/city", message: "does not exist" }];
  const tool = fakeTool({
    name: "look",
    validate: () => Promise.resolve({ valid: false, errors }),
  });
  const { calls, result, warnings } = await runCall(tool, { city: "Atlantis" });
  assertEquals([calls, warnings], [[], []]);
  assertStringIncludes(result, "- /city: does not exist");
});

Deno.test("arguments that a policy changes are validated again, with their output executed", async () => {
  const tool = fakeTool({
    name: "look",
    validate: ({ n }) => ({ valid: true, value: { doubled: Number(n) * 2 } }),
  });
  const { calls } = await runCall(tool, { n: 1 }, {
    policies: [{
      name: "change",
      preDispatch: (context) => {
        context.arguments["n"] = 5;
      },
    }],
  });
  assertEquals(calls, [{ doubled: 10 }]);
});

Deno.test("a tool whose validate fails is refused and reported", async () => {
  const fail = () => {
    throw new Error("no database");
  };
  for (const validate of [fail, () => Promise.reject(new Error("no database"))]) {
    const tool = fakeTool({ name: "look", validate });
    const { calls, result, warnings } = await runCall(tool, {});
    assertEquals([calls, warnings], [[], ["invalid_tool_schema"]]);
    assertStringIncludes(result, 'The tool "look" cannot be used: validate() failed: no database');
  }
});

Deno.test("validator: one that fails or returns something else is reported, and its calls are refused", async () => {
  const fail = () => {
    throw new Error("broken");
  };
  const validators: unknown[] = [
    fail,
    () => Promise.reject(new Error("broken")),
    () => undefined,
    () => fail,
    () => () => true,
    () => () => ["bad"],
  ];
  for (const validator of validators) {
    const { calls, result, warnings } = await runCall(fakeTool({ name: "look" }), {}, {
      validator: validator as SchemaValidator,
    });
    assertEquals([calls, warnings], [[], ["invalid_tool_schema"]]);
    assertStringIncludes(result, 'The tool "look" cannot be used: ');
  }
});

Deno.test("a pattern that takes exponential time with RegExp does not block", async () => {
  const tool = fakeTool({
    name: "look",
    parameters: { properties: { text: { type: "string", pattern: "^(a+)+$" } } },
  });
  const { result } = await runCall(tool, { text: "a".repeat(10_000) + "!" });
  assertStringIncludes(result, '- /text: must match pattern "^(a+)+$"');
});

Deno.test("$async in a schema does not skip its validation", async () => {
  const tool = fakeTool({
    name: "look",
    parameters: { $async: true, properties: { n: { type: "number" } } },
  });
  const { calls, result, warnings } = await runCall(tool, { n: "x" });
  assertEquals([calls, warnings], [[], ["tool_schema_ignored"]]);
  assertStringIncludes(result, "- /n: must be number");
});

Deno.test("defaults of a tool from defineTool() are filled in", async () => {
  const days: number[] = [];
  const tool = defineTool({
    name: "forecast",
    description: "Returns a forecast.",
    parameters: { type: "object", properties: { days: { type: "integer", default: 3 } } },
    execute: (args) => {
      days.push(args.days);
      return "ok";
    },
  });
  const { agent } = testAgent([reply([toolCall("forecast", {})]), reply("Done")], {
    tools: [tool],
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(days, [3]);
});

Deno.test("tools are checked when an agent is created and when its tools are set", () => {
  const { agent } = testAgent([]);
  const messages: string[] = [];
  const broken = { name: "look", description: "", parameters: {} } as never;
  for (const act of [() => testAgent([], { tools: [broken] }), () => agent.setTools([broken])]) {
    try {
      act();
    } catch (error) {
      messages.push(`${error}`);
    }
  }
  const message = 'Invalid tool "look": execute must be a function, not undefined';
  assertEquals(messages.map((text) => text.endsWith(message)), [true, true]);
});
