import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ToolResultMessage } from "../../src/core/messages/message.ts";
import { unknownCost, zeroCost } from "../../src/core/models/usage.ts";
import type { AgentTool } from "../../src/core/tools/tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };

/** Creates a tool that returns any value, as untyped code does. */
function returning(output: unknown): AgentTool {
  return {
    name: "give",
    description: "",
    parameters: { type: "object" },
    execute: () => Promise.resolve(output as string),
  };
}

/** Runs one call of a tool that returns a value; returns its result message, which events and requests share. */
async function runWithOutput(output: unknown): Promise<ToolResultMessage> {
  const { agent, streamFn } = testAgent([reply([toolCall("give")]), reply("Done")], {
    tools: [returning(output)],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  const message = agent.state.messages[2];
  if (message?.role !== "tool_result") throw new Error("there is no tool result");
  const [end] = eventsOfType(events, "tool_execution_end");
  const { content, isError, details } = message;
  const result = {
    content,
    ...(isError && { isError }),
    ...(details !== undefined && { details }),
  };
  assertEquals(end?.result, result);
  assertEquals(end?.isError, isError);
  assertEquals(streamFn.calls[1]?.context.messages[2], message);
  assertEquals(structuredClone(message), JSON.parse(JSON.stringify(message)));
  streamFn.assertDone();
  return message;
}

const JSON_OUTPUTS: readonly (readonly [unknown, string, unknown?])[] = [
  [5, "5"],
  [0, "0"],
  [false, "false"],
  [null, "null"],
  [[1, "two"], '[1,"two"]'],
  [[], "[]"],
  [{ temp: 21 }, '{"temp":21}'],
  [{}, "{}"],
  [{ content: "text" }, '{"content":"text"}'],
  [{ content: [], city: "Bern" }, '{"content":[],"city":"Bern"}'],
  [{ details: 1 }, '{"details":1}'],
  [new Date(0), '"1970-01-01T00:00:00.000Z"', "1970-01-01T00:00:00.000Z"],
  [{ at: undefined, ok: true }, '{"ok":true}', { ok: true }],
  [NaN, "null", null],
];

for (const [output, words, details = output] of JSON_OUTPUTS) {
  Deno.test(`tool output: ${words} is the text for the model and the details`, async () => {
    const message = await runWithOutput(output);
    assertEquals([message.content, message.details, message.isError], [
      [text(words)],
      details,
      false,
    ]);
  });
}

Deno.test("tool output: a string is the text for the model, without details", async () => {
  for (const words of ["sunny", "", '{"a":1}']) {
    const message = await runWithOutput(words);
    assertEquals([message.content, "details" in message], [[text(words)], false]);
  }
});

const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;

const NO_RESULTS: readonly (readonly [string, unknown, string])[] = [
  ["undefined", undefined, "The tool returned an invalid result: the value is undefined. "],
  ["a function", () => "sunny", "The tool returned an invalid result: the value is a function. "],
  ["a symbol", Symbol("sunny"), "The tool returned an invalid result: the value is a symbol. "],
  ["a BigInt", 5n, "The tool returned an invalid result: "],
  ["an object with a BigInt", { n: 5n }, "The tool returned an invalid result: "],
  ["a cycle", cycle, "The tool returned an invalid result: "],
  [
    "details with a cycle",
    { content: [], details: cycle },
    "The tool returned an invalid result: ",
  ],
  ["details with a BigInt", { content: [], details: { n: 5n } }, "returned an invalid result: "],
  ["a text block without a text", { content: [{ type: "text" }] }, "must have a string text"],
  ["an image block without a source", { content: [{ type: "image" }] }, "must have a source"],
  ["a block that is a string", { content: ["sunny"] }, "content must have blocks"],
  ["a block that is null", { content: [null] }, "content must have blocks"],
  ["an object whose toJSON throws", {
    toJSON: () => {
      throw new Error("detached");
    },
  }, "The tool returned an invalid result: the value cannot be read: detached"],
];

for (const [name, output, words] of NO_RESULTS) {
  Deno.test(`tool output: ${name} is an error result that says so`, async () => {
    const { content, isError } = await runWithOutput(output);
    assertEquals(isError, true);
    assertStringIncludes(content[0]?.type === "text" ? content[0].text : "", words);
  });
}

Deno.test("tool output: details that are nested deeply neither end the run nor invalidate the history", async () => {
  for (const depth of [100, 1_000, 4_000, 20_000, 200_000]) {
    let details: unknown = 1;
    for (let level = 0; level < depth; level++) details = [details];
    for (const output of [{ content: [], details }, details, { value: details }]) {
      const { agent } = testAgent([reply([toolCall("give")]), reply("Done")], {
        tools: [returning(output)],
      });
      const { error, messages } = await agent.prompt("Go");
      assertEquals([error, messages.length], [undefined, 4], `depth ${depth}`);
    }
  }
});

Deno.test("tool output: usage and cost count in the message, the result, the policies and agent_end", async () => {
  const seen: unknown[] = [];
  const { agent } = testAgent([
    reply([toolCall("give"), toolCall("give")], { usage, cost }),
    reply("Done"),
  ], {
    tools: [returning({ content: [], usage, cost })],
    policies: [{
      name: "watch",
      postTurn: ({ turn, usage: { total }, cost: { total: spent } }) =>
        void seen.push([turn, total, spent]),
    }],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && [end.usage.total, end.cost.total], [21, 9]);
  assertEquals(seen, [[1, 21, 9], [2, 21, 9]]);
  const result = agent.state.messages[2];
  assertEquals(result?.role === "tool_result" && [result.usage, result.cost], [usage, cost]);
});

Deno.test("tool output: usage without a cost makes the cost of the run unknown", async () => {
  const { agent } = testAgent([reply([toolCall("give")]), reply("Done")], {
    tools: [returning({ content: [], usage })],
  });
  const result = await agent.prompt("Go");
  assertEquals([result.usage, result.cost], [usage, unknownCost()]);
});

for (
  const [reported, expected] of [
    [{ usage }, [7, null]],
    [{ cost }, [0, 3]],
    [{ usage, cost }, [7, 3]],
  ] as const
) {
  Deno.test(`tool output: ${Object.keys(reported).join(" and ")} of a call that is cancelled while it returns count`, async () => {
    const { agent } = testAgent([reply([toolCall("give")])], {
      tools: [
        fakeTool({ name: "give", result: () => (agent.abort(), { content: [], ...reported }) }),
      ],
    });
    const result = await agent.prompt("Go");
    assertEquals([result.usage.total, result.cost.total], [...expected]);
  });
}

Deno.test("tool output: a usage of 0 tokens without a cost costs nothing", async () => {
  const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const { agent } = testAgent([reply([toolCall("give")]), reply("Done")], {
    tools: [returning({ content: [], usage: zero })],
  });
  assertEquals((await agent.prompt("Go")).cost, zeroCost());
});

Deno.test("tool output: partial and invalid usage and cost count as far as they are valid", async () => {
  const { agent } = testAgent([reply([toolCall("give")]), reply("Done")], {
    tools: [returning({
      content: [],
      usage: { input: 5, output: NaN, cacheRead: -1, extra: { reasoning: "many", seen: 2 } },
      cost: { total: 2, input: Infinity },
    })],
  });
  const result = await agent.prompt("Go");
  assertEquals(result.usage, {
    input: 5,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    total: 5,
    extra: { seen: 2 },
  });
  assertEquals([result.cost.total, result.cost.input], [2, null]);
});

Deno.test("tool output: an error whose message is no text is a text for the model, and the history stays valid", async () => {
  for (const message of [["name is empty"], { name: "empty" }, 5n]) {
    const tool = returning("");
    const execute = () => Promise.reject(Object.assign(new Error("lost"), { message }));
    const { agent } = testAgent([reply([toolCall("give")]), reply("Done")], {
      tools: [{ ...tool, execute }],
    });
    await agent.prompt("Go");
    const { messages } = agent.state;
    agent.setMessages(messages);
    const result = messages.find(({ role }) => role === "tool_result");
    const expected = typeof message === "bigint" ? "5" : JSON.stringify(message);
    assertEquals(result?.role === "tool_result" && result.content, [text(expected)]);
  }
});
