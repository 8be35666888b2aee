import { assertEquals, assertStringIncludes } from "@std/assert";
import type { AgentOptions } from "../../src/agent/options.ts";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { unknownCost, type Usage, zeroUsage } from "../../src/core/models/usage.ts";
import type { AssistantMessageEvent } from "../../src/core/streams/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";
import { InstantClock, scriptedPorts, settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const usage: Usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
const boom = (): never => {
  throw new Error("broken");
};
/** Rejects later than the caller returns, so that a promise that is not handled ends the test. */
const rejectLater = async (): Promise<never> => {
  await settle();
  throw new Error("broken");
};
/** Runs a prompt to its end, and the tasks after it, in which an unhandled rejection would show. */
async function runPrompt(options: Partial<AgentOptions>, steps = [reply("Hello", { usage })]) {
  const { agent, streamFn } = testAgent(steps, {
    ...scriptedPorts(new InstantClock()),
    ...options,
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  await settle();
  await settle();
  const [end] = eventsOfType(events, "agent_end");
  const warnings = eventsOfType(events, "warning").map(({ code, message }) => [code, message]);
  return { agent, streamFn, events, end, warnings };
}

const USAGES: readonly (readonly [string, unknown, Usage])[] = [
  ["missing", undefined, zeroUsage()],
  ["null", null, zeroUsage()],
  ["empty", {}, zeroUsage()],
  ["partial", { input: 3, output: 4 }, usage],
  ["a total only", { total: 7 }, { ...zeroUsage(), total: 7 }],
  ["NaN", { ...usage, input: NaN, total: NaN }, { ...zeroUsage(), output: 4, total: 4 }],
  ["texts", { input: "3", output: "4" }, zeroUsage()],
  ["negative and infinite", { input: -3, output: Infinity, total: 7 }, {
    ...zeroUsage(),
    total: 7,
  }],
  ["invalid extras", { ...usage, extra: { a: NaN, b: 2, c: "x" } }, { ...usage, extra: { b: 2 } }],
  ["no extras", { ...usage, extra: 5 }, usage],
];

for (const [name, reported, expected] of USAGES) {
  Deno.test(`usage of a custom StreamFn: ${name}`, async () => {
    const done = { type: "done", stopReason: "stop", usage: reported } as AssistantMessageEvent;
    const failed = fail("network_error", "Reset", { usage: reported as Usage });
    const seen: Usage[] = [];
    const { end, events } = await runPrompt({
      policies: [{ name: "watch", postTurn: ({ usage }) => void seen.push(usage) }],
      prices: { "test/model": { input: 1e6, output: 1e6 } },
    }, [failed, [{ type: "start" }, done] as never]);
    const discarded = expected.input + expected.output;
    const twice = {
      ...zeroUsage(),
      input: 2 * expected.input,
      output: 2 * expected.output,
      total: 2 * expected.total,
      ...(discarded > 0 && { extra: { ...(expected.extra && { b: 4 }), discarded } }),
    };
    assertEquals([end?.usage, seen], [twice, [twice]]);
    assertEquals(eventsOfType(events, "model_call_end").map(({ usage }) => usage), [
      expected,
      expected,
    ]);
    // A total alone has no price.
    assertEquals(Number.isFinite(end?.cost.total), expected.input + expected.output > 0);
  });
}

for (
  const [name, reported, total] of [
    ["NaN", { total: NaN }, null],
    ["negative", { total: -1 }, null],
    ["partial", { total: 2 }, 2],
    ["a text", { total: "2" }, null],
  ] as const
) {
  Deno.test(`cost of a custom StreamFn: ${name}`, async () => {
    const done = { type: "done", stopReason: "stop", usage, cost: reported };
    const { end } = await runPrompt({}, [[{ type: "start" }, done] as never]);
    assertEquals(end?.cost, { ...unknownCost(), total });
  });
}

for (
  const [failure, prices] of [
    ["throws", boom],
    ["returns a promise", () => Promise.resolve({ input: 1, output: 1 })],
    ["returns a promise that rejects", rejectLater],
  ] as const
) {
  Deno.test(`prices that ${failure}: the reply is kept, its cost is unknown, and a warning says so`, async () => {
    const { agent, end, warnings } = await runPrompt({ prices: prices as never });
    assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Hello"]);
    assertEquals([end?.stopReason, end?.cost, end?.usage], ["stop", unknownCost(), usage]);
    assertEquals(warnings[0]?.[0], "prices_failed");
  });
}

for (
  const rates of [{}, { input: NaN, output: 1 }, {
    input: -1,
    output: 1,
  }, 5]
) {
  Deno.test(`prices that return ${JSON.stringify(rates)}: the cost is unknown`, async () => {
    const { end } = await runPrompt({ prices: () => rates as never });
    assertEquals([end?.stopReason, end?.cost], ["stop", unknownCost()]);
  });
}

const unreadable = new Proxy({}, {
  get: boom,
  has: boom,
  ownKeys: boom,
});

for (
  const [name, prices] of [
    ["a function that returns null", () => null],
    ["a function that returns a value that cannot be read", () => unreadable],
    ["a table with null", { "test/model": null }],
    ["a table with a value that cannot be read", { "test/model": unreadable }],
  ] as const
) {
  Deno.test(`prices as ${name}: a reply with and without token counts is kept, and its cost is unknown`, async () => {
    const rates: unknown[] = [];
    const watch: Policy = {
      name: "watch",
      onDelta: (context) => void rates.push(context.rates),
      preRequest: (context) => void rates.push(context.rates),
    };
    for (const reported of [usage, zeroUsage()]) {
      const options = { prices: prices as never, policies: [watch] };
      const { agent, end } = await runPrompt(options, [reply("Hello", { usage: reported })]);
      assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Hello"]);
      assertEquals([end?.stopReason, end?.cost, end?.usage], ["stop", unknownCost(), reported]);
    }
    assertEquals(new Set(rates), new Set([undefined]));
  });
}

Deno.test("prices of a streamFn that cannot be read: the reply is kept, and its cost is unknown", async () => {
  const streamFn = Object.defineProperty(scriptedStream([reply("Hello", { usage })]), "prices", {
    get: boom,
  });
  const policies = [{ name: "watch", onDelta() {}, preRequest() {} }];
  const { end } = await runPrompt({ streamFn, policies });
  assertEquals([end?.stopReason, end?.cost], ["stop", unknownCost()]);
});

for (
  const [failure, retry] of [
    ["throws", boom],
    ["returns a promise", () => Promise.resolve(0)],
    ["returns a promise that rejects", rejectLater],
  ] as const
) {
  Deno.test(`retry that ${failure}: the call is not retried, and a warning says so`, async () => {
    const { end, warnings, streamFn } = await runPrompt({ retry: retry as never }, [
      fail("network_error", "Reset"),
    ]);
    assertEquals([end?.error?.message, warnings.map(([code]) => code)], ["Reset", [
      "retry_failed",
    ]]);
    streamFn.assertDone();
  });
}

const NO_DELAYS: readonly (readonly [unknown, ...string[]])[] = [
  [Infinity],
  [undefined],
  [null],
  [NaN, "not NaN"],
  ["soon", 'not "soon"'],
  [{}, "not an object"],
];
for (const [delay, ...problems] of NO_DELAYS) {
  Deno.test(`retry that returns ${String(delay)}: the call is not retried`, async () => {
    const { end, streamFn, warnings } = await runPrompt({ retry: () => delay as number }, [
      fail("network_error", "Reset"),
    ]);
    assertEquals(end?.error?.message, "Reset");
    assertEquals(
      warnings.map(([, message]) => message),
      problems.map((problem) =>
        "The retry strategy failed, so the call is not retried: " +
        `it must return milliseconds or null, ${problem}`
      ),
    );
    streamFn.assertDone();
  });
}

for (
  const [failure, convertToLlm, words] of [
    ["throws", boom, "convertToLlm failed: broken"],
    [
      "returns a promise",
      (message: unknown) => Promise.resolve(message),
      "convertToLlm returned a promise",
    ],
    ["returns a promise that rejects", rejectLater, "convertToLlm returned a promise"],
    ["returns a text", () => "Hi", "convertToLlm failed: a message must be an object"],
    ["returns string content", () => ({ role: "user", content: "Hi" }), "instead of a string"],
    ["returns a custom message", () => ({ role: "custom", type: "a", data: 1 }), "custom message"],
  ] as const
) {
  Deno.test(`convertToLlm that ${failure}: the turn ends in an error, and no request is sent`, async () => {
    const { end, streamFn } = await runPrompt({ convertToLlm: convertToLlm as never }, []);
    assertEquals(end?.stopReason, "error");
    assertStringIncludes(end?.error?.message ?? "", words);
    streamFn.assertDone();
  });
}

for (
  const output of [undefined, null, 5, "messages", {}, { messages: "Hi" }, ["Hi"], {
    messages: [{ role: "user", content: "Hi" }],
  }]
) {
  Deno.test(`transformContext that returns ${JSON.stringify(output)}: the turn ends in an error, and no request is sent`, async () => {
    const { end, streamFn } = await runPrompt({ transformContext: () => output as never }, []);
    assertEquals(end?.stopReason, "error");
    streamFn.assertDone();
  });
}

for (const report of [null, 5, "short"]) {
  Deno.test(`transformContext with the report ${JSON.stringify(report)}: the turn ends in an error, and no request is sent`, async () => {
    const { end, streamFn } = await runPrompt({
      transformContext: (messages) => ({ messages, report }) as never,
    }, []);
    assertStringIncludes(end?.error?.message ?? "", "transformContext failed: its report must be");
    streamFn.assertDone();
  });
}

for (
  const [name, createMessage, problem] of [
    [
      "a promise as its text",
      () => ({ role: "user", content: [{ type: "text", text: rejectLater() }] }),
      "not a promise",
    ],
    [
      "a text as its content",
      () => ({ role: "user", content: "Hi" }),
      "content must be an array of blocks",
    ],
    ["an unknown role", () => ({ role: "system", content: [] }), "the role of a message must be"],
    ["null", () => null, "a message must be an object"],
  ] as const
) {
  Deno.test(`transformContext that returns a message with the mistake "${name}": the turn ends in an error, and no request is sent`, async () => {
    const transformContext = () => [createMessage()] as never;
    const { end, streamFn } = await runPrompt({ transformContext });
    assertStringIncludes(
      end?.error?.message ?? "",
      "transformContext failed: it returned an invalid message",
    );
    assertStringIncludes(end?.error?.message ?? "", problem);
    assertEquals([end?.stopReason, streamFn.calls.length], ["error", 0]);
  });
}

Deno.test("transformContext with a report that is not JSON: the turn ends in an error that says what is not", async () => {
  const { end, streamFn } = await runPrompt({
    transformContext: (messages) => ({ messages, report: { droppedCount: 5n } }) as never,
  }, []);
  assertEquals(
    end?.error?.message,
    "transformContext failed: its report is not JSON: /droppedCount is a bigint",
  );
  assertEquals(streamFn.calls, []);
});

for (
  const report of [
    {},
    { usage: { input: 5 } },
    { usage: { total: NaN }, cost: { total: "1" } },
    { usage: null, cost: 5 },
  ]
) {
  Deno.test(`transformContext with the report ${JSON.stringify(report)}: the usage of the run stays a number`, async () => {
    const { end } = await runPrompt({
      transformContext: (messages) => ({ messages, report }) as never,
    });
    assertEquals(end?.stopReason, "stop");
    assertEquals(Object.values(end?.usage ?? {}).every(Number.isFinite), true);
  });
}

for (
  const [failure, getApiKey] of [
    ["throws", boom],
    ["rejects", rejectLater],
  ] as const
) {
  Deno.test(`getApiKey that ${failure}: the turn ends in an error, and no request is sent`, async () => {
    const { end, streamFn } = await runPrompt({ getApiKey }, []);
    assertEquals([end?.stopReason, end?.error?.message], ["error", "getApiKey failed: broken"]);
    streamFn.assertDone();
  });
}

for (
  const [kind, key] of [["null", null], ["a number", 5], ["an object", { key: "sk-1" }]] as const
) {
  Deno.test(`getApiKey that returns ${kind}: the error names the function, and no request is sent`, async () => {
    const { end, streamFn } = await runPrompt({ getApiKey: () => key as never }, []);
    assertEquals([end?.stopReason, end?.error?.message.slice(0, 47)], [
      "error",
      "getApiKey failed: it must return a string or un",
    ]);
    streamFn.assertDone();
  });
}

for (
  const [failure, onDelta] of [
    ["throws", boom],
    ["throws a value without a prototype", () => {
      throw Object.create(null);
    }],
    ["returns a promise", () => Promise.resolve({ type: "stop", reason: "late" })],
    ["returns a promise that rejects", rejectLater],
  ] as const
) {
  Deno.test(`onDelta that ${failure}: the reply continues, and one warning says so`, async () => {
    const { agent, clock } = testAgent([hang({ after: "Half" })], {
      policies: [{ name: "watch", onDelta: onDelta as never }],
    });
    const running = checkEvents(agent.promptStream("Hi"));
    for (let step = 0; step < 5; step++) {
      await settle();
      clock.advance(250);
    }
    agent.abort();
    const events = await running;
    await settle();
    assertEquals(eventsOfType(events, "warning").map(({ code, data }) => [code, data]), [
      ["policy_failed", { policy: "watch" }],
    ]);
    assertEquals(clock.sleepers, 0);
  });
}

for (
  const [failure, concurrencyKey] of [
    ["throws", boom],
    ["returns a promise", () => Promise.resolve("a")],
    ["returns a promise that rejects", rejectLater],
    ["returns an object", () => ({})],
    ["returns an object without a prototype", () => Object.create(null)],
  ] as const
) {
  Deno.test(`concurrencyKey that ${failure}: all calls run`, async () => {
    const tool = fakeTool({ name: "look", concurrencyKey: concurrencyKey as never });
    const { end } = await runPrompt({ tools: [tool] }, [
      reply([toolCall("look"), toolCall("look")]),
      reply("Seen"),
    ]);
    assertEquals([end?.stopReason, tool.calls.length], ["stop", 2]);
  });
}

for (
  const [failure, requiresApproval] of [
    ["throws", boom],
    ["returns a promise", () => Promise.resolve(false)],
    ["returns a promise that rejects", rejectLater],
    ["returns undefined", () => undefined],
  ] as const
) {
  Deno.test(`requiresApproval that ${failure}: the call needs an approval`, async () => {
    const tool = fakeTool({ name: "look", requiresApproval: requiresApproval as never });
    const asked: string[] = [];
    await runPrompt({
      tools: [tool],
      approvalMode: "smart",
      approve: ({ toolCallId }) => (asked.push(toolCallId), true),
    }, [reply([toolCall("look")]), reply("Seen")]);
    assertEquals([asked, tool.calls.length], [["call_1"], 1]);
  });
}

for (
  const [failure, validator] of [
    ["throws", boom],
    ["rejects", rejectLater],
    ["returns a check that throws", () => boom],
    ["returns no function", () => 5],
    ["returns a check that returns a promise", () => () => Promise.resolve([])],
    ["returns a check that returns a promise that rejects", () => rejectLater],
    ["returns a check that returns true", () => () => true],
  ] as const
) {
  Deno.test(`validator that ${failure}: the call is refused, and the run continues`, async () => {
    const tool = fakeTool({ name: "look" });
    const { end, agent } = await runPrompt({ tools: [tool], validator: validator as never }, [
      reply([toolCall("look")]),
      reply("Sorry"),
    ]);
    assertEquals([end?.stopReason, end?.error, tool.calls], ["stop", undefined, []]);
    assertStringIncludes(outlineMessages(agent.state.messages)[2] ?? "", "tool_result: ");
  });
}

for (
  const [failure, execute] of [
    ["throws", boom],
    ["rejects with undefined", () => Promise.reject(undefined)],
    ["throws a value without a prototype", () => {
      throw Object.create(null);
    }],
    ["rejects", rejectLater],
    ["returns a thenable that throws", () => ({ then: boom })],
  ] as const
) {
  Deno.test(`execute that ${failure}: gives an error result, and the run continues`, async () => {
    const tool = {
      name: "look",
      description: "",
      parameters: { type: "object" },
      execute: execute as never,
    };
    const { end, events } = await runPrompt({ tools: [tool] }, [
      reply([toolCall("look")]),
      reply("Sorry"),
    ]);
    assertEquals(end?.stopReason, "stop");
    assertEquals(eventsOfType(events, "tool_execution_end").map(({ isError }) => isError), [true]);
  });
}

Deno.test("onUpdate() with values that are no update emits what can be read, and does not end the call", async () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const tool = fakeTool({
    name: "look",
    result: (_args, { onUpdate }) => {
      for (const value of [undefined, null, 5n, cycle, () => {}, { a: 1 }]) {
        onUpdate(value as never);
      }
      return "ok";
    },
  });
  const { end, events } = await runPrompt({ tools: [tool] }, [
    reply([toolCall("look")]),
    reply("Seen"),
  ]);
  assertEquals(end?.stopReason, "stop");
  JSON.stringify(events);
  assertEquals(eventsOfType(events, "tool_execution_end").map(({ isError }) => isError), [false]);
});

Deno.test("errors of hooks that are AgentErrors keep their code", async () => {
  const error = new BadRequestError("The key is revoked");
  const { end } = await runPrompt({
    getApiKey: () => {
      throw error;
    },
  }, []);
  assertEquals(end?.error, error);
});
