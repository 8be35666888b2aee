import { assertEquals } from "@std/assert";
import { AbortedError } from "../../src/core/errors/errors.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import type { AssistantMessageEvent } from "../../src/core/streams/stream.ts";
import { checkEvents, findViolation } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

Deno.test("abort() during a reply keeps the text that has arrived [3.10, A14, A57, B38]", async () => {
  const { agent } = testAgent([hang({ after: "As I was saying" })]);
  let updates = 0;
  agent.subscribe(({ type }) =>
    void (type === "message_update" && ++updates === 2 && agent.abort())
  );
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events).slice(4), [
    "message_start assistant",
    "message_update text_delta",
    "message_update text_delta",
    "message_end assistant",
    "turn_end aborted",
    "agent_end",
  ]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: As I"]);
  const [, assistant] = agent.state.messages;
  assertEquals(assistant?.role === "assistant" && [assistant.stopReason, assistant.errorCode], [
    "aborted",
    "aborted",
  ]);
});

Deno.test("abort() keeps the usage that the provider reports [B38]", async () => {
  const usage = { input: 9, output: 2, cacheRead: 0, cacheWrite: 0, total: 11 };
  const { agent } = testAgent([], {
    streamFn: async function* ({ signal }): AsyncGenerator<AssistantMessageEvent> {
      yield { type: "start" };
      yield { type: "text_start", contentIndex: 0 };
      yield { type: "text_delta", contentIndex: 0, delta: "Half" };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      yield { type: "text_end", contentIndex: 0 };
      yield { type: "error", stopReason: "aborted", error: new AbortedError(), usage };
    },
  });
  const running = agent.prompt("Hi");
  await settle();
  agent.abort();
  const result = await running;
  assertEquals(outlineMessages(result.messages), ["user: Hi", "assistant: Half"]);
  assertEquals([result.stopReason, result.usage], ["aborted", usage]);
});

Deno.test("abort() before the first delta ends the run once, as aborted [B37]", async () => {
  const { agent, streamFn } = testAgent([hang()]);
  const running = checkEvents(agent.promptStream("Hi"));
  await settle();
  agent.abort();
  assertEquals(outlineEvents(await running).slice(-4), [
    "message_start assistant",
    "message_end assistant",
    "turn_end aborted",
    "agent_end",
  ]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi"]);
  streamFn.assertDone();
});

Deno.test("abort() ends a stream that hangs and ignores its signal [A15]", async () => {
  const { agent, clock } = testAgent([hang({ after: "Half", ignoresSignal: true })]);
  const running = checkEvents(agent.promptStream("Hi"));
  await settle();
  agent.abort();
  const events = await running;
  assertEquals(outlineEvents(events).slice(-2), ["turn_end aborted", "agent_end"]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Half"]);
  assertEquals(clock.waits, []);
});

/** More deltas than arrive before the abort. The stream ends, so that a test fails if the abort has no effect. */
const MANY_DELTAS = 1_000_000;

Deno.test("abort() ends a stream that never pauses", async () => {
  let closed = false;
  const { agent } = testAgent([], {
    streamFn: async function* (): AsyncGenerator<AssistantMessageEvent> {
      try {
        yield { type: "start" };
        yield { type: "text_start", contentIndex: 0 };
        for (let count = 0; count < MANY_DELTAS; count++) {
          yield { type: "text_delta", contentIndex: 0, delta: "and " };
        }
      } finally {
        closed = true;
      }
    },
  });
  atFirst(agent, "message_update", () => setTimeout(() => agent.abort(), 0));
  assertEquals((await agent.prompt("Hi")).stopReason, "aborted");
  await settle();
  assertEquals(closed, true);
});

Deno.test("prompt() with an aborted signal appends the prompt and does not call the model", async () => {
  const { agent, streamFn } = testAgent([]);
  agent.steer("Later");
  agent.followUp("Much later");
  const signal = AbortSignal.abort("too late");
  const events = await checkEvents(agent.promptStream("Hi", { signal }));
  assertEquals(outlineEvents(events), [
    "agent_start",
    "turn_start 1",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "message_end assistant",
    "turn_end aborted",
    "agent_end",
  ]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && end.abortReason, "too late");
  assertEquals(agent.queued.steering.length + agent.queued.followUp.length, 2);
  streamFn.assertDone();
});

Deno.test("abort() inside a tool call block leaves neither the call nor `partialJson` in the history [B39]", async () => {
  const { agent, streamFn } = testAgent([
    hang({ after: [text("Let me"), toolCall("write", '{"path": "a')] }),
    reply("Hello again"),
  ], { tools: [fakeTool({ name: "write" })] });
  agent.subscribe((event) => {
    if (event.type === "message_update" && event.delta.type === "tool_call_delta") agent.abort();
  });
  await checkEvents(agent.promptStream("Write"));
  await checkEvents(agent.promptStream("Again"));
  assertEquals(outlineMessages(streamFn.calls[1]?.context.messages ?? []), [
    "user: Write",
    "assistant: Let me",
    "user: Again",
  ]);
  assertEquals(repairHistory(agent.state.messages).repairs, []);
});

Deno.test("abort() during tool calls gives every call a result and ends the run without another model call [A58, B40]", async () => {
  const slow = fakeTool({ name: "slow", delayMs: Infinity });
  const { agent, streamFn } = testAgent([reply([toolCall("slow"), toolCall("quick")])], {
    tools: [slow, fakeTool({ name: "quick" })],
  });
  atFirst(agent, "tool_execution_end", () => agent.abort());
  const events = await checkEvents(agent.promptStream("Go"));
  const turns = eventsOfType(events, "turn_end");
  assertEquals(turns.map(({ reason, toolResults }) => [reason, toolResults.map(getFirstText)]), [
    ["aborted", ["tool call cancelled: run aborted", "ok"]],
  ]);
  assertEquals(slow.calls[0]?.context.signal.reason?.code, "aborted");
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && end.stopReason, "aborted");
  streamFn.assertDone();
});

Deno.test("abort() stops waiting for a tool that ignores its signal after 100 ms [A91, B20]", async () => {
  let late: (() => void) | undefined;
  const unresponsive = fakeTool({
    name: "unresponsive",
    result: (_args, { onUpdate }) =>
      new Promise((resolve) => {
        late = () => (onUpdate("still here"), resolve("finally"));
      }),
  });
  const { agent, clock, streamFn, seen } = testAgent([
    reply([toolCall("unresponsive"), toolCall("alone"), toolCall("unresponsive")]),
  ], { tools: [unresponsive, fakeTool({ name: "alone", sequential: true })] });
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  agent.abort();
  await settle();
  assertEquals([agent.state.isRunning, clock.waits], [true, [100]]);
  clock.advance(99);
  await settle();
  assertEquals(agent.state.isRunning, true);
  clock.advance(1);
  await running;
  await agent.waitForIdle();
  assertEquals(unresponsive.calls.length, 1, "calls that had not started do not start");
  assertEquals(clock.sleepers, 0);
  const before = seen.length;
  late?.();
  await settle();
  assertEquals(seen.length, before, "late output is ignored");
  streamFn.assertDone();
});

Deno.test("abort() keeps queued steering [B41]", async () => {
  const { agent, streamFn } = testAgent([reply([toolCall("slow")])], {
    tools: [fakeTool({ name: "slow", delayMs: Infinity })],
  });
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  agent.steer("Wait");
  agent.abort();
  await running;
  assertEquals(agent.queued.steering.map(({ message }) => outlineMessages([message])[0]), [
    "user: Wait",
  ]);
  assertEquals(outlineMessages(agent.state.messages).at(-1)?.startsWith("tool_result"), true);
  streamFn.assertDone();
});

Deno.test("abort() at turn_start keeps steering and follow-ups queued", async () => {
  const { agent, streamFn } = testAgent([reply("One")]);
  agent.followUp("More");
  agent.subscribe((event) =>
    void (event.type === "turn_start" && event.turn === 2 && agent.abort())
  );
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(agent.queued.followUp.length, 1);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: One"]);
  streamFn.assertDone();
});

Deno.test("abort() a second time, or while idle, does nothing [B42]", async () => {
  const { agent, seen } = testAgent([hang({ after: "Half" }), reply("Fine")]);
  agent.abort();
  atFirst(agent, "message_update", () => {
    agent.abort("first");
    agent.abort("second");
  });
  assertEquals((await agent.prompt("Hi")).abortReason, "first");
  agent.abort();
  assertEquals((await agent.prompt("Hi")).stopReason, "stop");
  assertEquals(findViolation(seen), undefined);
});

Deno.test("abort: the caller's signal, agent.abort(), cancel() and leaving a for await loop have the same effect", async () => {
  const controller = new AbortController();
  const reasons: unknown[] = [];
  const createHanging = (): ReturnType<typeof testAgent> => {
    const fixture = testAgent([hang({ after: "Half" })]);
    fixture.agent.subscribe((event) => {
      if (event.type === "agent_end") reasons.push([event.stopReason, event.abortReason]);
    });
    return fixture;
  };
  const bySignal = createHanging();
  atFirst(bySignal.agent, "message_update", () => controller.abort("signal"));
  await bySignal.agent.prompt("Hi", { signal: controller.signal });

  const byAbort = createHanging();
  atFirst(byAbort.agent, "message_update", () => byAbort.agent.abort("abort"));
  await byAbort.agent.prompt("Hi");

  const byCancel = createHanging();
  const reader = byCancel.agent.promptStream("Hi").getReader();
  await reader.read();
  await reader.cancel("cancel");
  assertEquals(byCancel.agent.state.isRunning, false);

  const byLeaving = createHanging();
  for await (const { type } of byLeaving.agent.promptStream("Hi")) {
    if (type === "message_update") break;
  }
  assertEquals(byLeaving.agent.state.isRunning, false);
  assertEquals(reasons.slice(0, 3), [
    ["aborted", "signal"],
    ["aborted", "abort"],
    ["aborted", "cancel"],
  ]);
  assertEquals(AbortedError.is((reasons[3] as unknown[])[1]), true);
});

Deno.test("Agent: 1,000 runs leave no listener on the caller's signal [B43]", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const counted = (change: number, original: typeof signal.addEventListener) =>
    function (this: AbortSignal, ...args: Parameters<typeof signal.addEventListener>): void {
      listeners += change;
      original.apply(this, args);
    };
  signal.addEventListener = counted(1, signal.addEventListener);
  signal.removeEventListener = counted(-1, signal.removeEventListener);
  for (let count = 0; count < 1000; count++) {
    const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
      tools: [fakeTool({ name: "look" })],
    });
    if (count % 2 === 0) await agent.prompt("Look", { signal });
    else await agent.promptStream("Look", { signal }).cancel();
    assertEquals(listeners, 0);
  }
});

function getFirstText({ content }: { content: readonly unknown[] }): string {
  return (content[0] as { text: string }).text;
}

Deno.test("abort() at turn_end: no further turn starts, although tools have answered", async () => {
  const { agent, streamFn } = testAgent([reply([toolCall("look")])], {
    tools: [fakeTool({ name: "look" })],
  });
  atFirst(agent, "turn_end", () => agent.abort("enough"));
  const events = await checkEvents(agent.promptStream("Look"));
  assertEquals(outlineEvents(events).slice(5), [
    "message_update tool_call_start",
    "message_update tool_call_delta",
    "message_end assistant",
    "tool_execution_start call_1",
    "tool_execution_end call_1",
    "message_start tool_result",
    "message_end tool_result",
    "turn_end tools_executed",
    "agent_end",
  ]);
  const [end] = eventsOfType(events, "agent_end");
  assertEquals([end?.stopReason, end?.abortReason], ["aborted", "enough"]);
  streamFn.assertDone();
});

Deno.test("abort() at the turn_end of a failed turn keeps the error", async () => {
  const { agent } = testAgent([fail("auth_error", "No key")]);
  atFirst(agent, "turn_end", () => agent.abort("enough"));
  const { stopReason, error, abortReason } = await agent.prompt("Hi");
  assertEquals([stopReason, error?.code, abortReason], ["error", "auth_error", "enough"]);
});

Deno.test("abort() in transformContext: steering that is queued meanwhile stays queued", async () => {
  const { agent, streamFn } = testAgent([], {
    transformContext: (messages) => {
      agent.steer("Wait");
      agent.abort();
      return messages;
    },
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events), [
    "agent_start",
    "turn_start 1",
    "message_start user",
    "message_end user",
    "queue_changed",
    "message_start assistant",
    "message_end assistant",
    "turn_end aborted",
    "agent_end",
  ]);
  assertEquals(outlineMessages(agent.queued.steering.map(({ message }) => message)), [
    "user: Wait",
  ]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi"]);
  streamFn.assertDone();
});

Deno.test("abort() while a validator hangs: the call is cancelled after 100 ms, without a warning", async () => {
  const { agent, clock } = testAgent([reply([toolCall("look")])], {
    tools: [fakeTool({ name: "look" })],
    validator: () => new Promise(() => {}),
  });
  const running = checkEvents(agent.promptStream("Look"));
  await settle();
  agent.abort();
  await settle();
  clock.advance(100);
  assertEquals(outlineEvents(await running).slice(7), [
    "message_end assistant",
    "tool_execution_start call_1",
    "tool_execution_end call_1",
    "message_start tool_result",
    "message_end tool_result",
    "turn_end aborted",
    "agent_end",
  ]);
  assertEquals(
    outlineMessages(agent.state.messages).at(-1),
    "tool_result: tool call cancelled: run aborted",
  );
  assertEquals(clock.sleepers, 0);
});

Deno.test("abort(): a signal that the tool reads for the first time afterwards has fired", async () => {
  const release = Promise.withResolvers<void>();
  const states: boolean[] = [];
  const { agent } = testAgent([reply([toolCall("look")])], {
    tools: [{
      name: "look",
      description: "Looks.",
      parameters: { type: "object" },
      execute: async (_args, context) => {
        await release.promise;
        states.push(context.signal.aborted);
        return "seen";
      },
    }],
  });
  const running = agent.prompt("Look");
  await settle();
  agent.abort();
  release.resolve();
  await running;
  assertEquals(states, [true]);
});
