import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Policy, PostDispatchContext } from "../../src/core/hooks/policy.ts";
import type { ToolResultMessage } from "../../src/core/messages/message.ts";
import {
  type AgentToolResult,
  errorResult,
  textResult,
} from "../../src/core/messages/tool_result.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineAllEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
const secret = (): AgentToolResult => ({
  content: [text("token=abc")],
  details: { token: "abc" },
  usage,
  cost,
});

/** A policy that replaces every result. */
const replaceBy = (result: unknown): Policy => ({
  name: "replace",
  postDispatch: () => result as AgentToolResult,
});

Deno.test("postDispatch: a returned result replaces the tool's in events, history, request and turn_end", async () => {
  const look = fakeTool({ name: "look", result: secret() });
  const { agent, streamFn } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [look],
    policies: [replaceBy({ content: [text("token=***")], isError: true })],
  });
  const events = await checkEvents(agent.promptStream("Look"));
  assertEquals(JSON.stringify(events).includes("abc"), false);
  assertEquals(JSON.stringify(agent.state.messages).includes("abc"), false);
  const [end] = eventsOfType(events, "tool_execution_end");
  assertEquals([end?.result, end?.isError], [
    { content: [text("token=***")], isError: true, usage, cost },
    true,
  ]);
  const result: ToolResultMessage = {
    id: "message_3",
    role: "tool_result",
    toolCallId: "call_1",
    toolName: "look",
    content: [text("token=***")],
    isError: true,
    usage,
    cost,
    timestamp: 0,
  };
  assertEquals(agent.state.messages[2], result);
  assertEquals(streamFn.calls[1]?.context.messages[2], result);
  assertEquals(eventsOfType(events, "turn_end")[0]?.toolResults, [result]);
});

Deno.test("postDispatch: gets the arguments that ran and a copy of the result, and undefined and null keep it", async () => {
  const seen: unknown[] = [];
  const look = fakeTool({ name: "look", result: secret() });
  const { agent } = testAgent([reply([toolCall("look", { at: "a" })]), reply("Seen")], {
    tools: [look],
    context: { user: "ada" },
    policies: [{ name: "none", postDispatch: () => null as never }, {
      name: "watch",
      preDispatch: ({ arguments: args }) => void Object.assign(args, { at: "b" }),
      postDispatch: ({ toolCall, tool, result, turn, runId, context }) => {
        seen.push(structuredClone({ toolCall, name: tool.name, result, turn, runId, context }));
        Object.assign(result, { content: [], isError: true });
        Object.assign(toolCall.arguments, { at: "c" });
      },
    }],
  });
  const events = await checkEvents(agent.promptStream("Look"));
  assertEquals(seen, [{
    toolCall: { id: "call_1", name: "look", arguments: { at: "b" } },
    name: "look",
    result: secret(),
    turn: 1,
    runId: "run_1",
    context: { user: "ada" },
  }]);
  assertEquals(eventsOfType(events, "tool_execution_end")[0]?.result, secret());
  assertStringIncludes(outlineMessages(agent.state.messages)[2] ?? "", '{"at":"b"}token=abc');
});

Deno.test("postDispatch: policies chain, each with the result as the ones before it left it", async () => {
  const append = (name: string): Policy => ({
    name,
    postDispatch: async ({ result: { content } }) => {
      await Promise.resolve();
      return { content: [...content, text(name)] };
    },
  });
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look", result: secret() })],
    policies: [append("a"), { name: "none", postDispatch: () => undefined }, append("b")],
  });
  const { usage: total, cost: { total: spent } } = await agent.prompt("Look");
  const message = agent.state.messages[2];
  assertEquals(message?.role === "tool_result" && message.content, [
    text("token=abc"),
    text("a"),
    text("b"),
  ]);
  assertEquals([total, spent], [usage, 3]);
});

Deno.test("postDispatch: a policy may report another usage and cost", async () => {
  const half = { ...usage, total: 1 };
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look", result: secret() })],
    policies: [replaceBy({ ...textResult("fine"), usage: half, cost: free })],
  });
  const result = await agent.prompt("Look");
  assertEquals([result.usage.total, result.cost.total], [1, 0]);
});

for (
  const [effect, later] of [
    ["replaces the text", { name: "later", postDispatch: () => textResult("fine") }],
    ["throws", {
      name: "later",
      postDispatch: () => {
        throw new Error("no redactor");
      },
    }],
  ] as const
) {
  Deno.test(`postDispatch: the usage that a policy reports stays when a later policy ${effect}`, async () => {
    const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
      tools: [fakeTool({ name: "look", result: secret() })],
      policies: [replaceBy({ ...textResult("half"), usage: { ...usage, total: 1 } }), later],
    });
    assertEquals((await agent.prompt("Look")).usage.total, 1);
  });
}

for (
  const [failure, postDispatch] of [
    ["throws", () => {
      throw new Error("no redactor");
    }],
    ["rejects", () => Promise.reject(new Error("no redactor"))],
    ["throws a value without a prototype", () => {
      throw Object.assign(Object.create(null), { message: "no redactor" });
    }],
  ] as const
) {
  Deno.test(`postDispatch that ${failure} withholds the result, keeps its usage and cost, and is reported`, async () => {
    const later: unknown[] = [];
    const { agent } = testAgent([reply([toolCall("look")]), reply("Sorry")], {
      tools: [fakeTool({ name: "look", result: secret() })],
      policies: [
        { name: "redact", postDispatch },
        { name: "later", postDispatch: ({ result }) => void later.push(result) },
      ],
    });
    const events = await checkEvents(agent.promptStream("Look"));
    assertEquals(JSON.stringify(events).includes("abc"), false);
    const withheld = errorResult(
      'The result was withheld because the policy "redact" failed: no redactor',
    );
    assertEquals(eventsOfType(events, "tool_execution_end").map(({ result }) => result), [
      { ...withheld, usage, cost },
    ]);
    const [end] = eventsOfType(events, "agent_end");
    assertEquals([end?.usage, end?.cost.total], [usage, 3]);
    assertEquals(later, [{ ...withheld, usage, cost }]);
    const lines = outlineAllEvents(events);
    const start = lines.indexOf("tool_execution_start call_1");
    assertEquals(lines.slice(start, start + 3), [
      "tool_execution_start call_1",
      "warning policy_failed",
      "tool_execution_end call_1",
    ]);
    const [warning] = eventsOfType(events, "warning");
    assertEquals(warning?.data, { policy: "redact" });
  });
}

for (
  const returned of ["masked", "", 0, false, 5, [1], { type: "stop" }, { content: "masked" }, {
    text: "masked",
  }, {
    content: [{ type: "image" }],
  }]
) {
  Deno.test(`postDispatch that returns ${JSON.stringify(returned)}, which is no result, withholds the result`, async () => {
    const { agent } = testAgent([reply([toolCall("look")]), reply("Sorry")], {
      tools: [fakeTool({ name: "look", result: secret() })],
      policies: [replaceBy(returned)],
    });
    const events = await checkEvents(agent.promptStream("Look"));
    assertEquals(JSON.stringify(events).includes("abc"), false);
    const [end] = eventsOfType(events, "tool_execution_end");
    assertEquals([end?.isError, end?.result.usage], [true, usage]);
    assertStringIncludes(
      JSON.stringify(end?.result.content),
      'The result was withheld because the policy \\"replace\\" failed',
    );
  });
}

Deno.test("postDispatch: policies behind one that fails see the error result, and cannot replace it", async () => {
  const seen: string[] = [];
  const fails: Policy = {
    name: "fails",
    postDispatch: () => {
      throw new Error("out of order");
    },
  };
  const watches: Policy = {
    name: "watches",
    postDispatch: ({ result }) => {
      seen.push(JSON.stringify(result));
      return textResult("token=abc");
    },
  };
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look", result: secret() })],
    policies: [fails, watches, { ...watches, name: "watches_too" }],
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(seen.length, 2);
  assertStringIncludes(seen[0] ?? "", "was withheld");
  assertEquals(JSON.stringify(agent.state.messages).includes("abc"), false);
});

Deno.test("postDispatch: is called for failed and cancelled calls, but not for refused ones", async () => {
  const seen: string[] = [];
  const watch: Policy = {
    name: "watch",
    preDispatch: ({ tool }) => tool.name === "denied" ? { type: "skip", reason: "no" } : undefined,
    postDispatch: ({ toolCall: { name }, result: { isError = false } }: PostDispatchContext) =>
      void seen.push(`${name} ${isError}`),
  };
  const { agent } = testAgent([
    reply([toolCall("broken"), toolCall("denied"), toolCall("unknown"), toolCall("stuck")]),
  ], {
    tools: [
      fakeTool({ name: "broken", result: new Error("no file") }),
      fakeTool({ name: "denied" }),
      fakeTool({ name: "stuck", delayMs: Infinity }),
    ],
    policies: [watch],
  });
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  agent.abort();
  await running;
  assertEquals(seen, ["broken true", "stuck true"]);
});

Deno.test("postDispatch: one result does not wait for the policies of another", async () => {
  const { agent } = testAgent([reply([toolCall("a"), toolCall("b")]), reply("Done")], {
    tools: [fakeTool({ name: "a" }), fakeTool({ name: "b" })],
    policies: [{
      name: "slow",
      postDispatch: async ({ toolCall: { name } }) => {
        if (name === "a") await settle();
      },
    }],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(eventsOfType(events, "tool_execution_end").map(({ name }) => name), ["b", "a"]);
  assertEquals(
    eventsOfType(events, "turn_end")[0]?.toolResults.map(({ toolName }) => toolName),
    ["a", "b"],
  );
});

Deno.test("postDispatch that hangs is abandoned 100 ms after the abort, and the result is withheld", async () => {
  const { agent, clock } = testAgent([reply([toolCall("look")])], {
    tools: [fakeTool({ name: "look", result: secret() })],
    policies: [{ name: "slow", postDispatch: () => new Promise(() => {}) }],
  });
  const running = checkEvents(agent.promptStream("Look"));
  await settle();
  agent.abort("enough");
  await settle();
  clock.advance(100);
  const events = await running;
  assertEquals(JSON.stringify(events).includes("abc"), false);
  assertEquals(events.at(-1)?.type, "agent_end");
  assertEquals(clock.sleepers, 0);
});
