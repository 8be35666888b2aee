import { assertEquals } from "@std/assert";
import { AbortedError } from "../../src/core/errors/errors.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { zeroUsage } from "../../src/core/models/usage.ts";
import type { AssistantMessageEvent } from "../../src/core/streams/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";
import { pending } from "./pending_agent.ts";
import { InstantClock, scriptedPorts, settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

Deno.test("onDelta stop: keeps the text that has arrived and ends the run", async () => {
  const clock = new InstantClock();
  const { agent, streamFn } = testAgent([hang({ after: "Many many words" })], {
    ...scriptedPorts(clock),
    sleep: async (milliseconds) => {
      await settle();
      await clock.sleep(milliseconds);
    },
    policies: [{
      name: "budget",
      onDelta: ({ characters }) =>
        characters > 10 ? { type: "stop", reason: "too many words" } : undefined,
    }],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && [end.stopReason, end.stoppedBy, end.abortReason], [
    "aborted",
    { policy: "budget", reason: "too many words" },
    undefined,
  ]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Many many words"]);
  const [, assistant] = agent.state.messages;
  assertEquals(assistant?.role === "assistant" && assistant.errorCode, "budget_exceeded");
  streamFn.assertDone();
});

Deno.test("onDelta: is called every 250 ms while a reply streams, and no timer is left", async () => {
  const elapsed: number[] = [];
  const { agent, clock } = testAgent([hang({ after: "Half" })], {
    policies: [{ name: "watch", onDelta: ({ elapsedMs }) => void elapsed.push(elapsedMs) }],
  });
  const running = agent.prompt("Hi");
  for (const step of [0, 249, 1, 249, 1]) {
    clock.advance(step);
    await settle();
  }
  assertEquals(elapsed, [0, 250, 500]);
  agent.abort();
  await running;
  assertEquals(clock.sleepers, 0);
});

Deno.test("onDelta: is called before each model call, and a stop makes no request", async () => {
  const models: string[] = [];
  const { agent, streamFn, seen } = testAgent(
    [fail("network_error", "down"), fail("network_error", "down"), reply("Never")],
    {
      retry: ({ attempt }) => attempt === 1 ? 0 : null,
      sleep: () => Promise.resolve(),
      fallback: [{ model: modelSpec("other/spare") }],
      policies: [{
        name: "first",
        onDelta: ({ isStarting, isReplying, model }) => {
          if (!isStarting) return;
          assertEquals(isReplying, true);
          models.push(model.modelId);
          return model.modelId === "spare" ? { type: "stop", reason: "no spare" } : undefined;
        },
      }],
    },
  );
  const { stoppedBy, stopReason } = await agent.prompt("Go");
  assertEquals(models, ["model", "model", "spare"]);
  assertEquals([streamFn.calls.length, stoppedBy?.reason, stopReason], [2, "no spare", "aborted"]);
  assertEquals(eventsOfType(seen, "model_call_start").length, 2);
});

Deno.test("onDelta stop: keeps the usage that the provider reports", async () => {
  const usage = { input: 9, output: 2, cacheRead: 0, cacheWrite: 0, total: 11 };
  const { agent, clock } = testAgent([], {
    streamFn: async function* ({ signal }): AsyncGenerator<AssistantMessageEvent> {
      yield { type: "start" };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      yield { type: "error", stopReason: "aborted", error: new AbortedError(), usage };
    },
    policies: [{
      name: "budget",
      onDelta: ({ elapsedMs }) => elapsedMs > 0 ? { type: "stop", reason: "spent" } : undefined,
    }],
  });
  const running = agent.prompt("Hi");
  await settle();
  clock.advance(250);
  const result = await running;
  assertEquals([result.stoppedBy?.policy, result.usage], ["budget", usage]);
});

for (const batch of ["new", "resumed"] as const) {
  Deno.test(`onDelta stop: takes precedence over a later preDispatch stop of a ${batch} batch`, async () => {
    const released = Promise.withResolvers<void>();
    let isSlow = batch === "new";
    const { agent, clock } = testAgent([reply([toolCall("work")])], {
      tools: [fakeTool({ name: "work" })],
      policies: [{
        name: "first",
        onDelta: ({ elapsedMs }) => elapsedMs >= 250 ? { type: "stop", reason: "time" } : undefined,
      }, {
        name: "second",
        preDispatch: async () => {
          if (!isSlow) return;
          await released.promise;
          return { type: "stop", reason: "too late" };
        },
      }],
      ...(batch === "resumed" && { approve: () => pending }),
    });
    if (batch === "resumed") await agent.prompt("Go");
    isSlow = true;
    const running = batch === "new"
      ? agent.prompt("Go")
      : agent.continue({ approvals: { call_1: true } });
    await settle();
    clock.advance(250);
    await settle();
    released.resolve();
    assertEquals((await running).stoppedBy, { policy: "first", reason: "time" });
    assertEquals(
      outlineMessages(agent.state.messages).at(-1),
      'tool_result: Tool call not run: the policy "first" stopped the run: time',
    );
  });
}

Deno.test("onDelta stop: takes precedence over the postTurn stop of the same turn", async () => {
  const { agent, clock } = testAgent([reply([toolCall("work")])], {
    tools: [fakeTool({ name: "work", delayMs: Infinity })],
    policies: [{
      name: "first",
      onDelta: ({ elapsedMs }) => elapsedMs >= 250 ? { type: "stop", reason: "time" } : undefined,
    }, { name: "second", postTurn: () => ({ type: "stop", reason: "too late" }) }],
  });
  const running = agent.prompt("Go");
  await settle();
  clock.advance(250);
  assertEquals((await running).stoppedBy, { policy: "first", reason: "time" });
});

for (
  const [moment, isSlow] of [["a reply starts", "postTurn"], [
    "a listener delays the model call",
    "model_call_start",
  ]] as const
) {
  Deno.test(`onDelta: no policy is called after a stop while ${moment}`, async () => {
    const released = Promise.withResolvers<void>();
    const stopsReply = isSlow === "postTurn";
    let calls = 0;
    const { agent, clock } = testAgent([reply("Hello")], {
      policies: [{
        name: "first",
        onDelta: ({ isReplying, elapsedMs }) => {
          calls++;
          if (isReplying && elapsedMs > 250) return { type: "stop", reason: "too late" };
          return elapsedMs > 0 ? { type: "stop", reason: "time" } : undefined;
        },
        postTurn: () => stopsReply ? released.promise.then(() => undefined) : undefined,
      }, {
        name: "second",
        onDelta: ({ isReplying }) =>
          isReplying && stopsReply ? { type: "stop", reason: "text" } : undefined,
      }],
    });
    agent.subscribe(({ type }) => type === isSlow ? released.promise : undefined);
    const running = agent.prompt("Hi");
    for (let step = 0; step < 3; step++) {
      await settle();
      clock.advance(250);
    }
    await settle();
    const expected = stopsReply ? 1 : 2;
    assertEquals(calls, expected);
    released.resolve();
    const { stoppedBy } = await running;
    assertEquals([calls, stoppedBy?.reason], [expected, stopsReply ? "text" : "time"]);
  });
}

Deno.test("onDelta stop: cancels the tools, and the run ends with the stop reason of its reply", async () => {
  const { agent, clock } = testAgent([reply([toolCall("work")])], {
    tools: [fakeTool({ name: "work", delayMs: Infinity })],
    policies: [{
      name: "limit",
      onDelta: ({ elapsedMs }) => elapsedMs > 0 ? { type: "stop", reason: "time" } : undefined,
    }],
  });
  const running = agent.prompt("Go");
  await settle();
  clock.advance(250);
  const { stopReason, stoppedBy, abortReason, error } = await running;
  assertEquals([stopReason, stoppedBy?.reason, abortReason, error], [
    "tool_use",
    "time",
    undefined,
    undefined,
  ]);
});

for (const returned of ["stop", 1, {}, { type: "skip", reason: "no" }]) {
  Deno.test(`onDelta that returns ${JSON.stringify(returned)} is reported as a warning, and the reply continues`, async () => {
    const { agent } = testAgent([reply("Hello")], {
      policies: [{ name: "odd", onDelta: () => returned as never }],
    });
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(eventsOfType(events, "warning").map(({ code }) => code), ["policy_failed"]);
    assertEquals(eventsOfType(events, "agent_end")[0]?.stopReason, "stop");
  });
}

Deno.test("onDelta: a policy that throws is reported as a warning, and the reply continues", async () => {
  const { agent } = testAgent([reply("Hello")], {
    policies: [{
      name: "watch",
      onDelta: () => {
        throw new Error("no ink");
      },
    }],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(eventsOfType(events, "warning").map(({ code }) => code), ["policy_failed"]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Hello"]);
});

Deno.test("onDelta: a fake sleep that ends immediately does not block the event loop", async () => {
  const { now, sleep } = new InstantClock();
  const { agent } = testAgent([reply([toolCall("work")]), reply("Done")], {
    now,
    sleep,
    tools: [fakeTool({ name: "work", delayMs: 1 })],
    policies: [{ name: "watch", onDelta: () => {} }],
  });
  assertEquals((await agent.prompt("Work")).text, "Done");
});

Deno.test("onDelta: has no rates when the price list throws or returns a promise", async () => {
  const broken = () => {
    throw new Error("no prices");
  };
  for (
    const prices of [broken, () => Promise.resolve({ input: 1 }), () => Promise.reject(broken)]
  ) {
    const rates: unknown[] = [];
    const { agent } = testAgent([reply("Hello")], {
      prices: prices as never,
      policies: [{ name: "watch", onDelta: (context) => void rates.push(context.rates) }],
    });
    assertEquals((await agent.prompt("Hi")).text, "Hello");
    await settle();
    assertEquals(rates, [undefined]);
  }
});

Deno.test("onDelta: is no longer called when a fake clock stops to advance during sleeps that end immediately", async () => {
  let time = 0;
  let calls = 0;
  const { agent } = testAgent([hang()], {
    now: () => time,
    sleep: () => {
      time = Math.min(time + 250, 500);
      return Promise.resolve();
    },
    policies: [{ name: "watch", onDelta: () => void calls++ }],
  });
  const running = agent.prompt("Hi");
  for (let task = 0; task < 5; task++) await settle();
  assertEquals([time, calls], [500, 3]);
  agent.abort();
  await running;
});

Deno.test("onDelta: is called after the clock is set back", async () => {
  let offset = 0;
  let calls = 0;
  const { agent, clock } = testAgent([hang()], {
    now: () => clock.now() + offset,
    sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal),
    policies: [{ name: "watch", onDelta: () => void calls++ }],
  });
  const running = agent.prompt("Hi");
  await settle();
  offset = -10_000;
  for (let step = 0; step < 2; step++) {
    clock.advance(250);
    await settle();
  }
  assertEquals(calls, 3);
  agent.abort();
  await running;
});

Deno.test("onDelta: has the rates of the model that is called", async () => {
  const rates = { input: 1, output: 2 };
  const fallbackRates = { input: 3, output: 4 };
  const seen: unknown[] = [];
  const fallbackStream = Object.assign(scriptedStream([reply("Hello")]), {
    prices: { "test/fallback": fallbackRates },
  });
  const failing = scriptedStream([fail("network_error", "Down")]);
  const { agent } = testAgent([], {
    streamFn: Object.assign(failing, { prices: () => rates }),
    retry: () => null,
    fallback: [{ model: modelSpec("test/fallback"), streamFn: fallbackStream }],
    policies: [{ name: "watch", onDelta: (context) => void seen.push(context.rates) }],
  });
  await agent.prompt("Hi");
  assertEquals(seen, [rates, fallbackRates]);
});

Deno.test("onDelta: has no rates when the price is unknown or the price list fails", async () => {
  const seen: unknown[] = [];
  const broken = (): never => {
    throw new Error("no price list");
  };
  for (const prices of [undefined, {}, broken]) {
    const { agent } = testAgent([reply("Hello")], {
      prices,
      policies: [{ name: "watch", onDelta: (context) => void seen.push(context.rates) }],
    });
    await agent.prompt("Hi");
  }
  assertEquals(seen, [undefined, undefined, undefined]);
});

Deno.test("onDelta: is called every 250 ms while a tool runs, without a reply", async () => {
  const seen: unknown[] = [];
  const { agent, clock } = testAgent([reply([toolCall("work")])], {
    tools: [fakeTool({ name: "work", delayMs: Infinity })],
    policies: [{
      name: "watch",
      onDelta: ({ isReplying, characters, elapsedMs }) =>
        void seen.push([isReplying, characters, elapsedMs]),
    }],
  });
  const running = agent.prompt("Hi");
  for (const step of [0, 250, 250]) {
    clock.advance(step);
    await settle();
  }
  assertEquals(seen, [[true, 0, 0], [false, 0, 250], [false, 0, 500]]);
  agent.abort();
  await running;
  assertEquals(clock.sleepers, 0);
});

/** One unit of money per token. */
const spent = {
  usage: { input: 5, output: 2, cacheRead: 0, cacheWrite: 0, total: 7 },
  cost: { input: 5, output: 2, cacheRead: 0, cacheWrite: 0, total: 7 },
};

/** Records the spending that `onDelta` gets whenever it changes. */
function recordSpending(): { readonly policy: Policy; readonly seen: unknown[] } {
  const seen: [boolean, number, number | null][] = [];
  const onDelta: Policy["onDelta"] = ({ isReplying, usage, cost }) => {
    seen.push([isReplying, usage.total, cost.total]);
  };
  return { policy: { name: "watch", onDelta }, seen };
}

Deno.test("onDelta: is called at the end of an attempt that fails without usage, with its length", async () => {
  const lengths: number[] = [];
  const { agent } = testAgent([fail("stream_error", "Broken", { after: "Half" })], {
    policies: [{
      name: "watch",
      onDelta: ({ isReplying, characters }) => {
        if (isReplying) lengths.push(characters);
      },
    }],
  });
  await agent.prompt("Hi");
  assertEquals(lengths, [0, 4]);
});

Deno.test("onDelta: has the usage and cost of the earlier attempts of the turn", async () => {
  const { policy, seen } = recordSpending();
  const { agent, clock } = testAgent([], {
    streamFn: scriptedStream([
      fail("network_error", "Down", { usage: spent.usage }),
      fail("model_throttled", "Busy", { usage: spent.usage }),
      reply([toolCall("work")], spent),
    ]),
    prices: { "test/model": { input: 1_000_000, output: 1_000_000 } },
    retry: () => 300,
    tools: [fakeTool({ name: "work", delayMs: Infinity })],
    policies: [policy],
  });
  const running = agent.prompt("Hi");
  for (const step of [0, 250, 50, 200, 100, 150]) {
    clock.advance(step);
    await settle();
  }
  assertEquals(seen, [
    [true, 0, 0],
    [false, 7, 7], // waits for the first retry
    [true, 7, 7],
    [false, 14, 14],
    [true, 14, 14],
    [false, 21, 21], // waits for the tool
  ]);
  agent.abort();
  assertEquals((await running).usage.total, 21);
});

Deno.test("preRequest and onDelta: have the usage of the call whose context was too long", async () => {
  const { policy, seen } = recordSpending();
  const requested: number[] = [];
  const { agent } = testAgent([
    fail("context_window_overflow", "Too long", { usage: spent.usage }),
    reply("Short", spent),
  ], {
    messages: [userMessage("A long story", 0)],
    transformContext: (messages, { overflow }) => overflow ? messages.slice(-1) : messages,
    policies: [policy, {
      name: "request",
      preRequest: ({ usage }) => void requested.push(usage.total),
    }],
  });
  const result = await agent.prompt("Hi");
  assertEquals([requested, seen.map((values) => (values as unknown[])[1])], [[0, 7], [0, 7]]);
  assertEquals([result.usage.total, result.text], [14, "Short"]);
  const message = result.messages.at(-1);
  assertEquals(message?.role === "assistant" && message.usage.total, 14);
});

Deno.test("onDelta: the signal of a turn that has ended does not follow the run", async () => {
  const signals: AbortSignal[] = [];
  const { agent } = testAgent([reply([toolCall("work")]), hang()], {
    tools: [fakeTool({ name: "work" })],
    policies: [{ name: "watch", onDelta: () => {} }],
    transformContext: (messages, { signal }) => {
      signals.push(signal);
      if (signals.length === 2) queueMicrotask(() => agent.abort());
      return messages;
    },
  });
  assertEquals((await agent.prompt("Hi")).stopReason, "aborted");
  assertEquals(signals.map(({ aborted }) => aborted), [false, true]);
});

Deno.test("onDelta stop: right after the end of a reply was read, it is aborted all the same", async () => {
  let time = 0;
  let endSleep = (): void => {};
  const events: AssistantMessageEvent[] = [
    { type: "start" },
    { type: "text_start", contentIndex: 0 },
    { type: "text_delta", contentIndex: 0, delta: "Hello" },
    { type: "text_end", contentIndex: 0 },
    { type: "done", stopReason: "stop", usage: zeroUsage() },
  ];
  const next = (): Promise<IteratorResult<AssistantMessageEvent>> => {
    const value = events.shift();
    if (events.length === 0) endSleep();
    return Promise.resolve(value ? { done: false, value } : { done: true, value });
  };
  const { agent } = testAgent([], {
    streamFn: () => ({ [Symbol.asyncIterator]: () => ({ next }) }),
    now: () => ++time,
    sleep: () => new Promise((resolve) => endSleep = resolve),
    policies: [{
      name: "limit",
      onDelta: ({ characters, isStarting }) =>
        characters > 0 && !isStarting ? { type: "stop", reason: "enough" } : undefined,
    }],
  });
  const { stopReason, stoppedBy, text } = await agent.prompt("Hi");
  assertEquals([stopReason, stoppedBy, text], [
    "aborted",
    { policy: "limit", reason: "enough" },
    "Hello",
  ]);
});
