import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { zeroUsage } from "../../src/core/models/usage.ts";
import type { AssistantMessageEvent, StreamFn } from "../../src/core/streams/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";

const start = { type: "start" };
const usage = zeroUsage();

/** Runs an agent whose stream function, without types, returns these events. */
async function runWith(events: readonly unknown[]) {
  const streamFn: StreamFn = async function* () {
    yield* events as AssistantMessageEvent[];
  };
  const agent = new Agent({ model: "any/model", streamFn });
  const { error, stopReason } = await agent.prompt("Go");
  const reply = agent.state.messages[1];
  return { error, stopReason, history: reply?.role === "assistant" && reply.stopReason };
}

Deno.test("stream functions: a done event without a known stop reason is a stream_error", async () => {
  const call = [
    { type: "text_start", contentIndex: 0 },
    { type: "text_delta", contentIndex: 0, delta: "Hello" },
    { type: "text_end", contentIndex: 0 },
  ];
  const cases = [[undefined, "undefined"], ["end_turn", '"end_turn"'], ["constructor", '"con']];
  for (const [reason, described] of cases) {
    const done = { type: "done", stopReason: reason, usage };
    const { error, stopReason, history } = await runWith([start, ...call, done]);
    assertEquals([error?.code, stopReason, history], ["stream_error", "error", "error"]);
    const expected = `must be one of stop, length, tool_use, aborted, error, not ${described}`;
    assertStringIncludes(error?.message ?? "", expected);
  }
});

Deno.test("stream functions: the error of a malformed event says what an event must be", async () => {
  for (const [event, described] of [[null, "null"], ["text", '"text"'], [undefined, "undefined"]]) {
    const { error } = await runWith([start, event]);
    assertEquals(
      error?.message,
      `The model stream failed: an event must be an object such as { type: "start" }, not ${described}`,
    );
  }
  const { error } = await runWith([start, { type: "error", stopReason: "error" }]);
  assertEquals(error?.message, 'The "error" event of the model stream has no error');
});

Deno.test("stream functions: a part of a terminal event that cannot be read ends the model call and the run", async () => {
  const unreadable = new Proxy({}, {
    get() {
      throw new Error("unreadable");
    },
  });
  const terminals = [
    { type: "done", stopReason: "stop", usage: unreadable },
    { type: "done", stopReason: "stop", usage, cost: unreadable },
    { type: "error", stopReason: "error", usage: unreadable, error: new Error("Broken") },
    { type: "error", stopReason: "error", usage, error: unreadable },
    {
      type: "done",
      get stopReason() {
        throw new Error("unreadable");
      },
      usage,
    },
  ];
  for (const terminal of terminals) {
    const streamFn: StreamFn = async function* () {
      yield* [start, terminal] as AssistantMessageEvent[];
    };
    const agent = new Agent({ model: "any/model", streamFn });
    const events = await checkEvents(agent.promptStream("Go"));
    const last = events.at(-1);
    assertEquals(last?.type === "agent_end" && last.error?.code, "stream_error");
  }
});
