import { assertEquals, assertRejects } from "@std/assert";
import {
  AlreadyRunningError,
  BadRequestError,
  NoMessagesError,
} from "../../src/core/errors/errors.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { checkEvents, findViolation } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { hang, reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

Deno.test("subscribe() calls the listener with every event until it is unsubscribed [4.9, 4.10, A71]", async () => {
  const { agent } = testAgent([reply("One"), reply("Two")]);
  const received: AgentEvent[] = [];
  const unsubscribe = agent.subscribe((event) => void received.push(event));
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(received, events);
  unsubscribe();
  unsubscribe();
  await agent.prompt("Hi");
  assertEquals(received.length, events.length);
});

Deno.test("subscribe() twice with one function calls it twice; each unsubscribe removes one", async () => {
  const { agent } = testAgent([reply("One"), reply("Two")]);
  let received = 0;
  const listener = ({ type }: AgentEvent): void => void (type === "agent_end" && received++);
  const unsubscribe = agent.subscribe(listener);
  agent.subscribe(listener);
  await agent.prompt("Hi");
  unsubscribe();
  await agent.prompt("Hi");
  assertEquals(received, 3);
});

for (
  const [failure, fail] of [
    ["throws", () => {
      throw new Error("listener failed");
    }],
    ["rejects", () => Promise.reject(new Error("listener failed"))],
  ] as const
) {
  Deno.test(`subscribe(): a listener that ${failure} is removed and reported; other listeners get every event [4.11, A71, B54]`, async () => {
    const { agent, seen } = testAgent([reply("Hello")]);
    let calls = 0;
    agent.subscribe(({ type }) => {
      calls++;
      return type === "turn_start" ? fail() : undefined;
    });
    const later: AgentEvent[] = [];
    agent.subscribe((event) => void later.push(event));
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(calls, 2);
    assertEquals(seen, events);
    assertEquals(later, events);
    assertEquals(outlineEvents(events).slice(1, 4), [
      "turn_start 1",
      "warning listener_failed",
      "message_start user",
    ]);
    const [warning] = eventsOfType(events, "warning");
    assertEquals(warning?.message, "A listener failed and was removed: listener failed");
    assertEquals(agent.state.error, undefined);
  });
}

Deno.test("subscribe(): a listener that throws while idle is reported to the other listeners", async () => {
  const { agent, seen } = testAgent([]);
  agent.subscribe(() => {
    throw new Error("listener failed");
  });
  agent.steer("a");
  await settle();
  assertEquals(outlineEvents(seen), ["queue_changed", "warning listener_failed"]);
  assertEquals(findViolation(seen), undefined);
});

Deno.test("subscribe(): listeners are called in order, and each promise is awaited before the next event [B55]", async () => {
  const { agent } = testAgent([reply("Hello")]);
  const order: string[] = [];
  agent.subscribe(async ({ type }) => {
    order.push(`+${type}`);
    await settle();
    order.push(`-${type}`);
  });
  agent.subscribe(({ type }) => void order.push(type));
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(order, events.flatMap(({ type }) => [`+${type}`, `-${type}`, type]));
});

Deno.test("state: is updated before listeners are called, and the stream gets the event last", async () => {
  const { agent } = testAgent([reply("Hello")]);
  const order: string[] = [];
  agent.subscribe((event) => {
    if (event.type !== "message_end") return;
    order.push(`listener: ${outlineMessages(agent.state.messages).at(-1)}`);
  });
  for await (const event of agent.promptStream("Hi")) {
    if (event.type === "message_end") order.push("reader");
  }
  assertEquals(order, ["listener: user: Hi", "reader", "listener: assistant: Hello", "reader"]);
});

Deno.test("waitForIdle() that a listener or a tool of the run awaits resolves when the run is aborted", async () => {
  const waiting = fakeTool({
    name: "wait",
    result: async () => {
      await agent.waitForIdle();
      return "idle";
    },
  });
  const { agent, clock } = testAgent([reply([toolCall("wait")]), reply("Hello")], {
    tools: [waiting],
  });
  const inTool = agent.prompt("Hi");
  await settle();
  agent.abort();
  await settle();
  clock.advance(100);
  assertEquals((await inTool).stopReason, "aborted");
  agent.subscribe(({ type }) => type === "turn_start" ? agent.waitForIdle() : undefined);
  const inListener = agent.prompt("Hi");
  await settle();
  assertEquals(agent.state.isRunning, true);
  agent.abort();
  await settle();
  clock.advance(100);
  assertEquals((await inListener).stopReason, "aborted");
});

Deno.test("prompt() inside a listener is rejected, also at agent_end", async () => {
  for (const type of ["turn_start", "agent_end"] as const) {
    const { agent, streamFn } = testAgent([reply("Hello")]);
    const refusals: Promise<unknown>[] = [];
    agent.subscribe((event) => {
      if (event.type !== type) return;
      refusals.push(assertRejects(() => agent.prompt("Me too"), AlreadyRunningError));
    });
    await checkEvents(agent.promptStream("Hi"));
    await Promise.all(refusals);
    assertEquals(refusals.length, 1);
    streamFn.assertDone();
  }
});

Deno.test("waitForIdle(): the agent is idle when its stream closes, and not before agent_end was delivered [A62, B62]", async () => {
  const { agent } = testAgent([reply("Hello")]);
  let ended = false;
  let idle = false;
  agent.subscribe(async ({ type }) => {
    if (type !== "agent_end") return;
    await settle();
    assertEquals([agent.state.isRunning, idle], [true, false]);
    ended = true;
  });
  const stream = agent.promptStream("Hi");
  const waiting = agent.waitForIdle().then(() => idle = true);
  for await (const _event of stream);
  assertEquals([agent.state.isRunning, ended], [false, true]);
  await waiting;
});

Deno.test("subscribe(): a listener that hangs after an abort is no longer awaited, and no other listener misses an event", async () => {
  const { agent, clock, seen } = testAgent([hang({ after: "Half" }), reply("Fine")]);
  const received: string[] = [];
  agent.subscribe(({ type }) => {
    received.push(type);
    return type === "message_update" && received.length < 12
      ? new Promise<void>(() => {})
      : undefined;
  });
  const later: AgentEvent[] = [];
  agent.subscribe((event) => void later.push(event));
  const running = checkEvents(agent.promptStream("Hi"));
  await settle();
  agent.abort();
  await settle();
  assertEquals([agent.state.isRunning, clock.waits], [true, [100]]);
  clock.advance(100);
  const events = await running;
  assertEquals(outlineEvents(events).slice(-2), ["turn_end aborted", "agent_end"]);
  assertEquals(later, events);
  assertEquals(seen, events);
  assertEquals(received, events.map(({ type }) => type));
  assertEquals(clock.sleepers, 0);
  await checkEvents(agent.promptStream("Again"));
  assertEquals(findViolation(seen), undefined);
});

Deno.test("subscribe(): a listener that never settles delays an abort by 100 ms once", async () => {
  const { agent, clock } = testAgent([hang()]);
  let hangs = false;
  agent.subscribe(() => hangs ? new Promise<void>(() => {}) : undefined);
  const running = checkEvents(agent.promptStream("Hi"));
  await settle();
  hangs = true;
  agent.abort();
  await settle();
  clock.advance(100);
  const events = await running;
  assertEquals(outlineEvents(events).slice(-2), ["turn_end aborted", "agent_end"]);
  assertEquals(clock.waits, [100]);
});

Deno.test("subscribe(): a listener that is no longer awaited and rejects later is removed", async () => {
  const { agent, clock, seen } = testAgent([hang({ after: "Half" }), reply("Fine")]);
  const failing = Promise.withResolvers<void>();
  let calls = 0;
  agent.subscribe(({ type }) => {
    calls++;
    return type === "message_update" ? failing.promise : undefined;
  });
  const running = agent.prompt("Hi");
  await settle();
  agent.abort();
  await settle();
  clock.advance(100);
  await running;
  failing.reject(new Error("listener failed"));
  await settle();
  assertEquals(outlineEvents(seen).at(-1), "warning listener_failed");
  const before = calls;
  await agent.prompt("Again");
  assertEquals(calls, before);
  assertEquals(findViolation(seen), undefined);
});

Deno.test("AgentEvent: events are not modified after they were emitted [B56]", async () => {
  const { agent } = testAgent([reply("One two three")]);
  const copies: AgentEvent[] = [];
  const stored: AgentEvent[] = [];
  agent.subscribe((event) => {
    stored.push(event);
    copies.push(structuredClone(event));
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(stored, copies);
});

Deno.test("prompt(): the run starts after every listener has handled the events before it", async () => {
  const { agent, seen } = testAgent([reply("Hello")]);
  const order: string[] = [];
  agent.subscribe(async ({ type }) => {
    await settle();
    order.push(type);
  });
  agent.subscribe(({ type }) => void order.push(type));
  agent.steer("a");
  agent.followUp("b");
  agent.clearFollowUp();
  await agent.prompt("Hi");
  assertEquals(order, seen.flatMap(({ type }) => [type, type]));
  assertEquals(findViolation(seen), undefined);
});

Deno.test("subscribe(): a listener that awaits a run it started itself does not deadlock", async () => {
  const { agent, clock, seen } = testAgent([reply("Hello")]);
  let answer: string[] = [];
  agent.subscribe(async ({ type, seq }) => {
    if (type !== "queue_changed" || seq !== undefined) return;
    await Promise.resolve();
    answer = outlineMessages((await agent.continue()).messages);
  });
  agent.steer("Hi");
  agent.setModel("other/model");
  await settle();
  clock.advance(100);
  await settle();
  assertEquals(answer, ["user: Hi", "assistant: Hello"]);
  assertEquals(outlineEvents(seen).slice(0, 3), ["queue_changed", "agent_start", "model_changed"]);
  assertEquals(findViolation(seen), undefined);
});

Deno.test("a listener that is removed during an event is not called with that event", async () => {
  const { agent } = testAgent([reply("Hello")]);
  const received: string[] = [];
  agent.subscribe(({ type }) => void (type === "turn_start" && stop()));
  const stop = agent.subscribe(({ type }) => void received.push(type));
  await agent.prompt("Hi");
  assertEquals(received, ["agent_start"]);
});

Deno.test("a listener that was no longer awaited after an abort is awaited again in the next run", async () => {
  const { agent, clock } = testAgent([hang({ after: "Half" }), reply("Fine")]);
  const order: string[] = [];
  let run = 0;
  agent.subscribe(async ({ type }) => {
    if (type === "agent_start") run++;
    if (run === 1 && type === "message_update") await new Promise(() => {});
    if (run === 2) await settle();
    order.push(`first ${type}`);
  });
  agent.subscribe(({ type }) => void order.push(`second ${type}`));
  const running = agent.prompt("Hi");
  await settle();
  agent.abort();
  await settle();
  clock.advance(100);
  await running;
  order.length = 0;
  await agent.prompt("Again");
  assertEquals(order.slice(0, 4), [
    "first agent_start",
    "second agent_start",
    "first turn_start",
    "second turn_start",
  ]);
});

Deno.test("a listener that changes the usage of a message does not change the totals of the run", async () => {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
  const { agent } = testAgent([reply("Hello", { usage })]);
  agent.subscribe((event) => {
    if (event.type !== "message_end" || event.message.role !== "assistant") return;
    Object.assign(event.message.usage, { total: 0 });
  });
  assertEquals((await agent.prompt("Hi")).usage.total, 2);
});

Deno.test("prompt(): waits for the listeners of earlier events, and leaves no timer", async () => {
  const { agent, clock, seen } = testAgent([reply("Hello")]);
  agent.subscribe(() => settle());
  agent.followUp("And then?");
  agent.clearQueues();
  await agent.prompt("Hi");
  assertEquals(seen.slice(0, 3).map(({ type }) => type), [
    "queue_changed",
    "queue_changed",
    "agent_start",
  ]);
  assertEquals(clock.sleepers, 0);
});

Deno.test("subscribe(): a listener of an event after an aborted run has no time limit", async () => {
  const { agent, clock } = testAgent([hang()]);
  const running = agent.prompt("Hi");
  await settle();
  agent.abort();
  await running;
  let handled = false;
  agent.subscribe(async () => {
    await settle();
    handled = true;
  });
  agent.steer("Wait");
  assertEquals(clock.sleepers, 0);
  await settle();
  assertEquals(handled, true);
});

Deno.test("prompt(): misuse while a listener handles an event between two runs leaves the events in their order", async () => {
  const released = Promise.withResolvers<void>();
  const { agent } = testAgent([reply("One"), reply("Two")]);
  const seen: string[] = [];
  agent.subscribe((event) => {
    if (event.type !== "custom") return;
    seen.push(event.name);
    return event.name === "slow" ? released.promise : undefined;
  });
  await agent.prompt("Go");
  agent.emitCustom("slow", 1);
  agent.emitCustom("next", 2);
  await assertRejects(() => agent.prompt(""), NoMessagesError);
  await assertRejects(() => agent.prompt(5 as unknown as string), BadRequestError);
  await settle();
  released.resolve();
  await settle();
  assertEquals(seen, ["slow", "next"]);
  assertEquals((await agent.prompt("Again")).text, "Two");
});
