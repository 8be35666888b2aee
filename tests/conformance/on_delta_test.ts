import { assertEquals } from "@std/assert";
import { AbortedError } from "../../src/core/errors.ts";
import { modelSpec } from "../../src/core/model.ts";
import type { AssistantMessageEvent } from "../../src/core/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";
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
