import { assertEquals } from "@std/assert";
import { AbortedError, NetworkError } from "../../src/core/errors/errors.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { unknownCost, zeroCost, zeroUsage } from "../../src/core/models/usage.ts";
import type { AssistantMessageEvent, StreamFn } from "../../src/core/streams/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineAllEvents } from "./outline.ts";
import { InstantClock, scriptedPorts, settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
const model = modelSpec("test/model");

/** Formats the starts and ends of model calls as `turn.attempt model`, with the code of an error. */
function outlineCalls(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type !== "model_call_start" && event.type !== "model_call_end") return [];
    const { turn, attempt, model: { modelId } } = event;
    const code = event.type === "model_call_end" && event.error ? ` ${event.error.code}` : "";
    return [`${event.type.slice(11)} ${turn}.${attempt} ${modelId}${code}`];
  });
}

Deno.test("model_call_start, model_call_end: surround the deltas of each call, in every turn", async () => {
  const { agent } = testAgent([reply([toolCall("look")], { usage, cost }), reply("Seen")], {
    tools: [fakeTool({ name: "look" })],
  });
  const events = await checkEvents(agent.promptStream("Look"));
  assertEquals(outlineCalls(events), [
    "start 1.1 model",
    "end 1.1 model",
    "start 2.1 model",
    "end 2.1 model",
  ]);
  const [start] = eventsOfType(events, "model_call_start");
  const [end] = eventsOfType(events, "model_call_end");
  assertEquals(start, {
    type: "model_call_start",
    turn: 1,
    attempt: 1,
    model,
    seq: start?.seq ?? 0,
  });
  assertEquals(end, {
    type: "model_call_end",
    turn: 1,
    attempt: 1,
    model,
    ttftMs: 0,
    durationMs: 0,
    usage,
    cost,
    seq: end?.seq ?? 0,
  });
});

Deno.test("model calls: attempts are numbered in the turn over retries, the overflow retry and fallbacks", async () => {
  const { agent } = testAgent([
    fail("network_error", "Reset", { after: "Half" }),
    fail("context_window_overflow", "Too long"),
    fail("network_error", "Reset"),
    fail("network_error", "Reset", { after: "Half" }),
    reply([toolCall("look")]),
    reply("Seen"),
  ], {
    ...scriptedPorts(new InstantClock()),
    tools: [fakeTool({ name: "look" })],
    retry: ({ attempt }) => attempt < 2 ? 0 : null,
    fallback: [{ model: modelSpec("other/spare") }],
    transformContext: (messages, { overflow }) => overflow ? messages.slice(-1) : messages,
  });
  const events = await checkEvents(
    agent.promptStream([userMessage("Before", 0), userMessage("Look", 0)]),
  );
  assertEquals(outlineCalls(events), [
    "start 1.1 model",
    "end 1.1 model network_error",
    "start 1.2 model",
    "end 1.2 model context_window_overflow",
    "start 1.3 model",
    "end 1.3 model network_error",
    "start 1.4 model",
    "end 1.4 model network_error",
    "start 1.5 spare",
    "end 1.5 spare",
    "start 2.1 model",
    "end 2.1 model",
  ]);
  const lines = outlineAllEvents(events);
  const first = lines.indexOf("message_start assistant");
  assertEquals(lines.slice(first, lines.indexOf("message_end assistant") + 1), [
    "message_start assistant",
    "model_call_start 1",
    "message_update text_delta",
    "model_call_end 1",
    "retry 1 discard",
    "model_call_start 2",
    "model_call_end 2",
    "model_call_start 3",
    "model_call_end 3",
    "retry 1",
    "model_call_start 4",
    "message_update text_delta",
    "model_call_end 4",
    "model_fallback spare discard",
    "model_call_start 5",
    "message_update tool_call_start",
    "message_update tool_call_delta",
    "model_call_end 5",
    "message_end assistant",
  ]);
});

Deno.test("overflow retry: the event names the attempt that failed, and discards its output", async () => {
  const { agent } = testAgent([
    fail("network_error", "Reset"),
    fail("context_window_overflow", "Too long", { after: "Half" }),
    reply("Short"),
  ], {
    ...scriptedPorts(new InstantClock()),
    transformContext: (messages, { overflow }) => overflow ? messages.slice(-1) : messages,
  });
  const events = await checkEvents(
    agent.promptStream([userMessage("Before", 0), userMessage("Hi", 0)]),
  );
  assertEquals(
    eventsOfType(events, "retry").map(({ attempt, discard, delayMs, error }) => [
      attempt,
      discard,
      delayMs > 0,
      error.code,
    ]),
    [[1, false, true, "network_error"], [2, true, false, "context_window_overflow"]],
  );
});

/** Creates a model whose events take time on a clock. */
function slowModel(
  clock: ManualClock,
  steps: readonly (number | AssistantMessageEvent)[],
): StreamFn {
  return async function* () {
    await Promise.resolve();
    for (const step of steps) {
      if (typeof step === "number") clock.advance(step);
      else yield step;
    }
  };
}

const start: AssistantMessageEvent = { type: "start" };
const done: AssistantMessageEvent = { type: "done", stopReason: "stop", usage };

for (
  const [first, events, expected] of [
    ["text", [
      30,
      start,
      20,
      { type: "text_start", contentIndex: 0 },
      7,
      { type: "text_delta", contentIndex: 0, delta: "Hello" },
      40,
      { type: "text_delta", contentIndex: 0, delta: " there" },
      { type: "text_end", contentIndex: 0 },
      3,
      done,
      500,
    ], [57, 100]],
    ["thinking", [
      5,
      start,
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_delta", contentIndex: 0, delta: "Hm" },
      { type: "thinking_end", contentIndex: 0 },
      10,
      done,
    ], [5, 15]],
    ["a tool call", [
      8,
      start,
      { type: "tool_call_start", contentIndex: 0, id: "a", name: "look" },
      4,
      { type: "tool_call_delta", contentIndex: 0, delta: "{}" },
      { type: "tool_call_end", contentIndex: 0 },
      done,
    ], [8, 12]],
    ["nothing", [8, start, 4, done], [undefined, 12]],
  ] as const
) {
  Deno.test(`model_call_end: ttftMs and durationMs of a reply whose first content is ${first}`, async () => {
    const clock = new ManualClock();
    const { agent } = testAgent([], {
      ...scriptedPorts(clock),
      streamFn: slowModel(clock, events),
      maxTurns: 1,
    });
    const [end] = eventsOfType(await checkEvents(agent.promptStream("Hi")), "model_call_end");
    assertEquals([end?.ttftMs, end?.durationMs], [...expected]);
    assertEquals(end && "ttftMs" in end, expected[0] !== undefined);
  });
}

Deno.test("model_call_end: the time of listeners, keys and retries before the call does not count", async () => {
  const clock = new ManualClock();
  const { agent } = testAgent([], {
    ...scriptedPorts(clock),
    streamFn: slowModel(clock, [10, start, done]),
    getApiKey: () => (clock.advance(1000), undefined),
  });
  agent.subscribe(async ({ type }) => {
    if (type !== "model_call_start") return;
    await settle();
    clock.advance(500);
  });
  const [end] = eventsOfType(await checkEvents(agent.promptStream("Hi")), "model_call_end");
  assertEquals([end?.ttftMs, end?.durationMs], [undefined, 10]);
});

Deno.test("model_call_end: has the usage and cost of each attempt, and the message has their sum", async () => {
  const prices = { "test/model": { input: 1e6, output: 1e6 } };
  const { agent } = testAgent([
    fail("network_error", "Reset", { usage }),
    reply("Hello", { usage }),
  ], { ...scriptedPorts(new InstantClock()), prices });
  const events = await checkEvents(agent.promptStream("Hi"));
  const attempt = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
  assertEquals(
    eventsOfType(events, "model_call_end").map(({ usage, cost }) => [usage, cost]),
    [[usage, attempt], [usage, attempt]],
  );
  const [end] = eventsOfType(events, "agent_end");
  assertEquals([end?.usage.total, end?.cost.total], [14, 14]);
});

Deno.test("model_call_end: an unknown cost is null, and 0 tokens cost nothing", async () => {
  const { agent } = testAgent([reply("Hello", { usage }), reply("Hello")]);
  const first = await checkEvents(agent.promptStream("Hi"));
  assertEquals(eventsOfType(first, "model_call_end")[0]?.cost, unknownCost());
  const second = await checkEvents(agent.promptStream("Hi"));
  const [end] = eventsOfType(second, "model_call_end");
  assertEquals([end?.usage, end?.cost], [zeroUsage(), zeroCost()]);
});

Deno.test("model_call_end: has the id of the provider's response", async () => {
  const { agent } = testAgent([[
    start,
    { ...done, responseId: "resp_1" } as AssistantMessageEvent,
  ]]);
  const [end] = eventsOfType(await checkEvents(agent.promptStream("Hi")), "model_call_end");
  assertEquals(end?.responseId, "resp_1");
});

Deno.test("model_call_end: has the error of a failed call, and an AbortedError of an aborted one", async () => {
  const failing = testAgent([fail("auth_error", "No key")]);
  const failed = await checkEvents(failing.agent.promptStream("Hi"));
  assertEquals(eventsOfType(failed, "model_call_end").map(({ error }) => error?.code), [
    "auth_error",
  ]);
  const { agent } = testAgent([hang({ after: "Half" })]);
  const running = checkEvents(agent.promptStream("Hi"));
  await settle();
  agent.abort("enough");
  const events = await running;
  const [end] = eventsOfType(events, "model_call_end");
  assertEquals(end?.error instanceof AbortedError && end.error.cause, "enough");
  assertEquals(outlineAllEvents(events).slice(-4), [
    "model_call_end 1",
    "message_end assistant",
    "turn_end aborted",
    "agent_end",
  ]);
});

Deno.test("model calls: an attempt whose key failed does not count as a call", async () => {
  const keys = [new NetworkError("no key service"), "key"];
  const { agent } = testAgent([reply("Hello")], {
    ...scriptedPorts(new InstantClock()),
    getApiKey: () => {
      const key = keys.shift();
      if (key instanceof NetworkError) throw key;
      return key;
    },
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineCalls(events), ["start 1.1 model", "end 1.1 model"]);
});

Deno.test("model calls: a call whose key fails has no events, and neither has an aborted wait for a retry", async () => {
  const keyless = testAgent([], {
    getApiKey: () => {
      throw new Error("no vault");
    },
  });
  assertEquals(outlineCalls(await checkEvents(keyless.agent.promptStream("Hi"))), []);
  const { agent } = testAgent([fail("network_error", "Reset")], { retry: () => 1000 });
  const running = checkEvents(agent.promptStream("Hi"));
  await settle();
  agent.abort();
  assertEquals(outlineCalls(await running), ["start 1.1 model", "end 1.1 model network_error"]);
});

Deno.test("context overflow: the error of the run names the model, that of the event is the provider's", async () => {
  const { agent } = testAgent([fail("context_window_overflow", "Too long")]);
  const { error, messages } = await agent.prompt("Hi");
  assertEquals([error?.code, error?.provider, error?.model, error?.message], [
    "context_window_overflow",
    "test",
    "model",
    "Too long",
  ]);
  assertEquals(messages.length, 1);
  const spare = testAgent([
    fail("network_error", "Reset"),
    fail("context_window_overflow", "Too long"),
  ], { retry: () => null, fallback: [{ model: modelSpec("other/spare") }] });
  const { error: overflow } = await spare.agent.prompt("Hi");
  assertEquals([overflow?.provider, overflow?.model], ["other", "spare"]);
});
