import { assertEquals } from "@std/assert";
import { AbortedError } from "../../src/core/errors.ts";
import type { AssistantMessageEvent } from "../../src/core/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { hang, reply } from "../../src/testing/script.ts";
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
