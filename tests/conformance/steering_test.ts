import { assertEquals } from "@std/assert";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { type FakeTool, fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const alarm = { role: "custom", type: "alarm", data: 1, timestamp: 0 } as const;
const cancelled = "tool_result: tool call cancelled: user requested steering interrupt";

/**
 * Steers while a call runs and a sequential call waits; returns the events, the next request and the end of the turn.
 */
async function runAndSteer(
  options: Partial<AgentOptions>,
  running: Partial<FakeTool> = {},
): Promise<{ events: AgentEvent[]; request: string[]; reason: string | undefined }> {
  const release = Promise.withResolvers<void>();
  const first = fakeTool({
    name: "first",
    ...running,
    result: async (_args, { signal }) => {
      await Promise.race([
        release.promise,
        new Promise((resolve) => signal.addEventListener("abort", resolve)),
      ]);
      return "finished";
    },
  });
  const { agent, streamFn } = testAgent([
    reply([toolCall("first"), toolCall("second")]),
    reply("Steered"),
  ], { tools: [first, fakeTool({ name: "second", sequential: true })], ...options });
  const events = checkEvents(agent.promptStream("Go"));
  await settle();
  agent.steer("Wait");
  await settle();
  release.resolve();
  const emitted = await events;
  return {
    events: emitted,
    request: outlineMessages(streamFn.calls[1]?.context.messages ?? []).slice(2),
    reason: eventsOfType(emitted, "turn_end")[0]?.reason,
  };
}

Deno.test("interrupt cancel: steering cancels running and waiting calls [3.7, 4.6, A9, A68, B44]", async () => {
  const { events, request, reason } = await runAndSteer({});
  assertEquals([reason, request], ["steering_interrupt", [cancelled, cancelled, "user: Wait"]]);
  const lines = outlineEvents(events);
  assertEquals(lines.slice(lines.indexOf("tool_execution_start call_1")).slice(0, 11), [
    "tool_execution_start call_1",
    "tool_execution_start call_2",
    "queue_changed",
    "tool_execution_end call_2",
    "tool_execution_end call_1",
    "message_start tool_result",
    "message_end tool_result",
    "message_start tool_result",
    "message_end tool_result",
    "turn_end steering_interrupt",
    "turn_start 2",
  ]);
});

Deno.test("interrupt boundary: running calls finish, waiting calls are cancelled [B45]", async () => {
  const { request, reason } = await runAndSteer({ interrupt: "boundary" });
  assertEquals([reason, request], [
    "steering_interrupt",
    ["tool_result: finished", cancelled, "user: Wait"],
  ]);
});

Deno.test("interrupt after_batch: all calls finish [B46]", async () => {
  const { request, reason } = await runAndSteer({ interrupt: "after_batch" });
  assertEquals([reason, request], [
    "tools_executed",
    ["tool_result: finished", "tool_result: ok", "user: Wait"],
  ]);
});

Deno.test("interruptible false: a running call finishes under every interrupt policy [B47]", async () => {
  const { request, reason } = await runAndSteer({}, { interruptible: false });
  assertEquals([reason, request], [
    "steering_interrupt",
    ["tool_result: finished", cancelled, "user: Wait"],
  ]);
});

Deno.test("interruptible false: a call that has not started is cancelled", async () => {
  const last = fakeTool({ name: "last", sequential: true, interruptible: false });
  const { agent } = testAgent([reply([toolCall("look"), toolCall("last")]), reply("Steered")], {
    tools: [fakeTool({ name: "look", delayMs: Infinity }), last],
  });
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  agent.steer("Wait");
  await running;
  assertEquals(last.calls, []);
  assertEquals(outlineMessages(agent.state.messages).slice(2, 4), [cancelled, cancelled]);
});

Deno.test("steering does not wait for a tool that ignores its signal [A10]", async () => {
  const { agent, clock, streamFn } = testAgent([
    reply([toolCall("quick"), toolCall("unresponsive")]),
    reply("Steered"),
  ], {
    tools: [
      fakeTool({ name: "quick" }),
      fakeTool({ name: "unresponsive", delayMs: Infinity, ignoresSignal: true }),
    ],
  });
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  agent.steer("Wait");
  await settle();
  clock.advance(100);
  const events = await running;
  assertEquals(eventsOfType(events, "turn_end").map(({ reason }) => reason), [
    "steering_interrupt",
    "complete",
  ]);
  assertEquals(outlineMessages(streamFn.calls[1]?.context.messages ?? []).slice(2), [
    "tool_result: ok",
    cancelled,
    "user: Wait",
  ]);
});

Deno.test("steering during a reply cancels its calls before they start", async () => {
  const look = fakeTool({ name: "look" });
  const { agent } = testAgent([reply([toolCall("look"), toolCall("look")]), reply("Steered")], {
    tools: [look],
  });
  atFirst(agent, "message_update", () => agent.steer("Wait"));
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(look.calls, []);
  assertEquals(eventsOfType(events, "turn_end")[0]?.reason, "steering_interrupt");
});

Deno.test("cancelled steering does not cancel calls", async () => {
  const look = fakeTool({ name: "look" });
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], { tools: [look] });
  atFirst(agent, "message_update", () => agent.cancelQueued(agent.steer("Wait").id));
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(look.calls.length, 1);
  assertEquals(eventsOfType(events, "turn_end")[0]?.reason, "tools_executed");
});

Deno.test("steering with a custom message: the result of a cancelled call does not mention the user [B48]", async () => {
  const { agent, streamFn } = testAgent([reply([toolCall("slow")]), reply("Steered")], {
    tools: [fakeTool({ name: "slow", delayMs: Infinity })],
  });
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  agent.steer(alarm);
  await running;
  assertEquals(
    outlineMessages(streamFn.calls[1]?.context.messages ?? []).at(-1),
    "tool_result: tool call cancelled: steering interrupt",
  );
});

Deno.test("steeringMode all: the result of a cancelled call mentions the user if any message is a user's", async () => {
  for (
    const [steered, result] of [["Wait", cancelled], [
      alarm,
      "tool_result: tool call cancelled: steering interrupt",
    ]] as const
  ) {
    const { agent } = testAgent([reply([toolCall("look")]), reply("Steered")], {
      tools: [fakeTool({ name: "look" })],
      steeringMode: "all",
    });
    atFirst(
      agent,
      "message_update",
      () => [alarm, steered, alarm].forEach((input) => agent.steer(input)),
    );
    await checkEvents(agent.promptStream("Go"));
    assertEquals(outlineMessages(agent.state.messages)[2], result);
  }
});

Deno.test("steeringMode one_at_a_time: one message per turn, in order [4.18, A69, B49]", async () => {
  const { agent, streamFn } = testAgent([reply("1"), reply("2"), reply("3"), reply("4")]);
  atFirst(agent, "message_update", () => ["a", "b", "c"].forEach((word) => agent.steer(word)));
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(agent.state.messages), [
    "user: Hi",
    "assistant: 1",
    "user: a",
    "assistant: 2",
    "user: b",
    "assistant: 3",
    "user: c",
    "assistant: 4",
  ]);
  streamFn.assertDone();
});

Deno.test("steeringMode all: all messages go into one turn [4.18, A69, B49]", async () => {
  const { agent, streamFn } = testAgent([reply("1"), reply("2")], { steeringMode: "all" });
  atFirst(agent, "message_update", () => ["a", "b", "c"].forEach((word) => agent.steer(word)));
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(streamFn.calls[1]?.context.messages ?? []).slice(2), [
    "user: a",
    "user: b",
    "user: c",
  ]);
});

Deno.test("steering that is queued for a later turn does not interrupt the current batch", async () => {
  const { agent } = testAgent([
    reply([toolCall("look")]),
    reply([toolCall("look")]),
    reply("Done"),
  ], { tools: [fakeTool({ name: "look" })] });
  agent.steer("a");
  agent.steer("b");
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(eventsOfType(events, "turn_end").map(({ reason }) => reason), [
    "tools_executed",
    "tools_executed",
    "complete",
  ]);
  assertEquals(outlineMessages(agent.state.messages).filter((line) => line.startsWith("user")), [
    "user: Hi",
    "user: a",
    "user: b",
  ]);
});

Deno.test("steering while idle follows the next prompt [4.8, B52]", async () => {
  const { agent, streamFn } = testAgent([reply("Hello")]);
  agent.steer("Be brief");
  assertEquals(agent.state.isRunning, false);
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(streamFn.calls[0]?.context.messages ?? []), [
    "user: Hi",
    "user: Be brief",
  ]);
});

for (const transforming of [true, false]) {
  Deno.test(`steering during transformContext is in the same request (${transforming ? "with" : "without"} a transform result) [B51]`, async () => {
    const { agent, streamFn } = testAgent([reply("Hello"), reply("More")], {
      ...(transforming
        ? {
          transformContext: async (messages) => {
            if (messages.length === 1) agent.steer("Be brief");
            await Promise.resolve();
            return messages;
          },
        }
        : { getApiKey: () => void (streamFn.calls.length === 0 && agent.steer("Be brief")) }),
    });
    await checkEvents(agent.promptStream("Hi"));
    const requests = streamFn.calls.map(({ context }) => outlineMessages(context.messages));
    // getApiKey runs after the request was prepared, so steering from there is in the next one.
    assertEquals(requests[0], transforming ? ["user: Hi", "user: Be brief"] : ["user: Hi"]);
    assertEquals(requests.length, transforming ? 1 : 2);
  });
}

Deno.test("followUpMode one_at_a_time: one message whenever the run would end [A12, 4.7]", async () => {
  const { agent } = testAgent([reply([toolCall("look")]), reply("1"), reply("2"), reply("3")], {
    tools: [fakeTool({ name: "look" })],
  });
  agent.followUp("a");
  agent.followUp("b");
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(agent.state.messages), [
    "user: Hi",
    "assistant: look({})",
    "tool_result: ok",
    "assistant: 1",
    "user: a",
    "assistant: 2",
    "user: b",
    "assistant: 3",
  ]);
});

Deno.test("followUpMode all: all messages go into one turn", async () => {
  const { agent } = testAgent([reply("1"), reply("2")], { followUpMode: "all" });
  agent.followUp("a");
  agent.followUp("b");
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    "user: a",
    "user: b",
    "assistant: 2",
  ]);
});

Deno.test("steering that arrived twice during a reply interrupts only the batch of that reply", async () => {
  const { agent } = testAgent([
    reply([toolCall("look")]),
    reply([toolCall("look")]),
    reply("Done"),
  ], { tools: [fakeTool({ name: "look" })] });
  atFirst(agent, "message_update", () => {
    agent.steer("a");
    agent.steer("b");
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(eventsOfType(events, "turn_end").map(({ reason }) => reason), [
    "steering_interrupt",
    "tools_executed",
    "complete",
  ]);
});

for (const interrupt of ["cancel", "boundary"] as const) {
  Deno.test(`steering that is taken back in queue_changed cancels nothing, with interrupt ${interrupt}`, async () => {
    for (const queuedBefore of [[], ["for later", "and later"]]) {
      const tool = fakeTool({
        name: "dig",
        result: async () => {
          agent.steer("wait");
          await settle();
          return "dug";
        },
      });
      const { agent } = testAgent([
        reply([toolCall("dig"), toolCall("dig")]),
        ...queuedBefore.map(() => reply("Next")),
        reply("Done"),
      ], { tools: [{ ...tool, sequential: true }], interrupt });
      agent.subscribe((event) => {
        if (event.type !== "queue_changed") return;
        const wait = agent.queued.steering.find(({ message }) =>
          outlineMessages([message])[0] === "user: wait"
        );
        if (wait) agent.cancelQueued(wait.id);
      });
      for (const words of queuedBefore) agent.steer(words);
      const events = await checkEvents(agent.promptStream("Dig"));
      assertEquals(eventsOfType(events, "turn_end")[0]?.reason, "tools_executed");
      assertEquals(tool.calls.map(({ state }) => state), ["finished", "finished"]);
    }
  });
}
