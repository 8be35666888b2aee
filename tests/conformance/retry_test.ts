import { assertEquals } from "@std/assert";
import { AbortedError, StreamError } from "../../src/core/errors.ts";
import { exponentialBackoff } from "../../src/core/retry.ts";
import type { RetryStrategy } from "../../src/core/retry.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { text, toolCall } from "../../src/testing/messages.ts";
import { endWithoutTerminal, fail, hang, reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineOf, sayingsOf } from "./outline.ts";
import { InstantClock, scriptedPorts, settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const usage = { input: 2, output: 1, cacheRead: 0, cacheWrite: 0, total: 3 };
const steady = exponentialBackoff({ jitter: false });

Deno.test("a throttled call is tried again within the same message [3.11, A16, A17]", async () => {
  const clock = new InstantClock();
  const { agent, streamFn } = testAgent([
    fail("model_throttled", "Slow down", { after: "Half a", usage }),
    reply("Whole", { usage }),
  ], { ...scriptedPorts(clock), retry: steady });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineOf(events), [
    "agent_start",
    "turn_start 1",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "message_update text_delta",
    "message_update text_delta",
    "retry 1 discard",
    "message_update text_delta",
    "message_end assistant",
    "turn_end complete",
    "agent_end",
  ]);
  assertEquals(sayingsOf(agent.state.messages), ["user: Hi", "assistant: Whole"]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && [end.error, end.usage.total], [undefined, 6]);
  const reply_ = agent.state.messages[1];
  assertEquals(reply_?.role === "assistant" && reply_.usage.total, 6, "discarded attempts count");
  streamFn.assertDone();
});

Deno.test("a retry of an attempt that has shown nothing discards nothing", async () => {
  const { agent } = testAgent([fail("network_error", "Reset"), reply("Hello")], {
    ...scriptedPorts(new InstantClock()),
    retry: steady,
  });
  const [retry] = eventsOfType(await checkEvents(agent.promptStream("Hi")), "retry");
  assertEquals([retry?.attempt, retry?.delayMs, retry?.discard, retry?.error.code], [
    1,
    1000,
    false,
    "network_error",
  ]);
});

Deno.test("a call that a failed attempt showed keeps its id when the next attempt makes it again", async () => {
  const call = toolCall("look", {}, { id: "a" });
  const { agent } = testAgent([
    fail("network_error", "Reset", { after: [call] }),
    reply([call]),
    reply("Seen"),
  ], scriptedPorts(new InstantClock()));
  const events = await checkEvents(agent.promptStream("Look"));
  assertEquals(eventsOfType(events, "tool_execution_start").map(({ id }) => id), ["a"]);
});

Deno.test("the streaming message starts again with a discarded attempt", async () => {
  const { agent } = testAgent([
    fail("network_error", "Reset", { after: "Half" }),
    reply("Whole"),
  ], scriptedPorts(new InstantClock()));
  const seen: string[] = [];
  agent.subscribe(({ type }) => {
    const { streamingMessage } = agent.state;
    if (streamingMessage) seen.push(`${type} ${sayingsOf([streamingMessage])}`.trim());
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(seen, [
    "message_start assistant:",
    "message_update assistant: Half",
    "retry assistant:",
    "message_update assistant: Whole",
  ]);
});

for (
  const code of [
    "stream_error",
    "auth_error",
    "content_filtered",
    "model_not_found",
    "bad_request",
  ] as const
) {
  Deno.test(`${code} is neither retried nor handed to a fallback [3.12, A18, A49]`, async () => {
    const { agent, streamFn } = testAgent([fail(code, "No")], {
      fallback: [{ model: { provider: "other", modelId: "spare", thinkingLevel: "off" } }],
    });
    const { error, stopReason } = await agent.prompt("Hi");
    assertEquals([error?.code, stopReason], [code, "error"]);
    streamFn.assertDone();
  });
}

Deno.test("a quota or a bill is not waited for", async () => {
  const { agent, streamFn } = testAgent([fail("model_throttled", "Quota", { retryable: false })]);
  assertEquals((await agent.prompt("Hi")).error?.code, "model_throttled");
  streamFn.assertDone();
});

Deno.test("three attempts are made by default, and the last failure is the run's [A45]", async () => {
  const clock = new InstantClock();
  const { agent, streamFn } = testAgent(
    [1, 2, 3].map((n) => fail("network_error", `Reset ${n}`)),
    { ...scriptedPorts(clock), retry: steady },
  );
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineOf(events).slice(4), [
    "message_start assistant",
    "retry 1",
    "retry 2",
    "message_end assistant",
    "turn_end error",
    "agent_end",
  ]);
  assertEquals(agent.state.error?.message, "Reset 3");
  assertEquals(clock.waits, [1000, 2000]);
  streamFn.assertDone();
});

Deno.test("what the last attempt has said before it failed stays in the history, as failed", async () => {
  const { agent } = testAgent([
    fail("stream_error", "Broken", { after: [text("As I was say"), toolCall("look")], usage }),
  ]);
  await checkEvents(agent.promptStream("Hi"));
  const [, said] = agent.state.messages;
  assertEquals(sayingsOf(agent.state.messages), ["user: Hi", "assistant: As I was say"]);
  assertEquals(
    said?.role === "assistant" && [said.stopReason, said.errorCode, said.errorMessage, said.usage],
    ["error", "stream_error", "Broken", usage],
  );
});

Deno.test("Retry-After beats the computed delay, up to the cap", async () => {
  const clock = new InstantClock();
  const { agent } = testAgent([
    fail("model_throttled", "Slow down", { retryAfterMs: 7 }),
    fail("model_throttled", "Slow down", { retryAfterMs: 100_000 }),
    reply("Hello"),
  ], { ...scriptedPorts(clock), retry: steady });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(clock.waits, [7, 60_000]);
});

Deno.test("a strategy of one's own decides alone [A47]", async () => {
  const asked: [string, number][] = [];
  const stubborn: RetryStrategy = ({ error, attempt }) => {
    asked.push([error.code, attempt]);
    return attempt < 3 ? 5 : null;
  };
  const clock = new InstantClock();
  const { agent } = testAgent([
    fail("auth_error", "No"),
    fail("stream_error", "No"),
    reply("Hello"),
  ], { ...scriptedPorts(clock), retry: stubborn });
  assertEquals((await agent.prompt("Hi")).error, undefined);
  assertEquals(asked, [["auth_error", 1], ["stream_error", 2]]);
  assertEquals(clock.waits, [5, 5]);
});

Deno.test("whatever a strategy says, overflow and abort are not retried", async () => {
  const always: RetryStrategy = () => 0;
  const overflowing = testAgent([fail("context_window_overflow", "Too long")], { retry: always });
  assertEquals((await overflowing.agent.prompt("Hi")).error?.code, "context_window_overflow");
  overflowing.streamFn.assertDone();
  const aborted = testAgent([fail("aborted", "Gone")], { retry: always });
  assertEquals((await aborted.agent.prompt("Hi")).stopReason, "aborted");
  aborted.streamFn.assertDone();
});

for (const answer of [undefined, Number.NaN, Number.POSITIVE_INFINITY] as unknown as number[]) {
  Deno.test(`a strategy that answers ${answer} has no delay to offer, so it stops`, async () => {
    const { agent, streamFn } = testAgent([fail("network_error", "Reset")], {
      retry: () => answer,
    });
    assertEquals((await agent.prompt("Hi")).error?.code, "network_error");
    streamFn.assertDone();
  });
}

Deno.test("a strategy that throws stops, and a warning says so", async () => {
  const { agent, streamFn, seen } = testAgent([fail("network_error", "Reset")], {
    retry: () => {
      throw new Error("no dice");
    },
  });
  assertEquals((await agent.prompt("Hi")).error?.code, "network_error");
  assertEquals(eventsOfType(seen, "warning").map(({ code, message }) => [code, message]), [
    ["retry_failed", "The retry strategy failed: retry failed: no dice"],
  ]);
  streamFn.assertDone();
});

Deno.test("an abort ends the wait between attempts at once", async () => {
  const { agent, clock, streamFn } = testAgent(
    [fail("network_error", "Reset", { after: "Half" })],
    {
      retry: steady,
    },
  );
  const running = checkEvents(agent.promptStream("Hi"));
  await settle();
  assertEquals([clock.waits, clock.sleepers], [[1000], 1]);
  agent.abort();
  const events = await running;
  assertEquals(outlineOf(events).slice(5), [
    "message_update text_delta",
    "retry 1 discard",
    "message_end assistant",
    "turn_end aborted",
    "agent_end",
  ]);
  assertEquals(clock.sleepers, 0);
  assertEquals(sayingsOf(agent.state.messages), ["user: Hi"]);
  streamFn.assertDone();
});

Deno.test("a stream that ends without a terminal event is a network error, and retried [B30]", async () => {
  const { agent, streamFn } = testAgent([endWithoutTerminal("Half"), reply("Whole")], {
    ...scriptedPorts(new InstantClock()),
    retry: steady,
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  const [retry] = eventsOfType(events, "retry");
  assertEquals([retry?.error.code, retry?.discard], ["network_error", true]);
  streamFn.assertDone();
});

for (
  const [how, streamFn] of [
    ["throws", () => {
      throw new Error("no socket");
    }],
    ["throws while it is read", async function* () {
      yield { type: "start" } as const;
      await Promise.resolve();
      throw new Error("no socket");
    }],
    ["answers nothing", () => undefined as never],
  ] as const
) {
  Deno.test(`a stream function that ${how} is one stream error, not retried [B31]`, async () => {
    const { agent } = testAgent([], { streamFn });
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(outlineOf(events).slice(4), [
      "message_start assistant",
      "message_end assistant",
      "turn_end error",
      "agent_end",
    ]);
    const { error } = agent.state;
    assertEquals(error instanceof StreamError && error.retryable, false);
    assertEquals(error?.message.startsWith("The model stream failed: "), true);
  });
}

Deno.test("a provider that says it aborted makes an aborted turn, without an abort of the run [A39]", async () => {
  const { agent } = testAgent([fail("aborted", "Connection closed by us", { after: "Half" })]);
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineOf(events).slice(-2), ["turn_end aborted", "agent_end"]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && [end.stopReason, end.error], ["aborted", undefined]);
});

Deno.test("an aborted reply that said nothing is an aborted run all the same [A39]", async () => {
  const { agent } = testAgent([fail("aborted", "Connection closed by us")]);
  const { stopReason, messages } = await agent.prompt("Hi");
  assertEquals([stopReason, sayingsOf(messages)], ["aborted", ["user: Hi"]]);
});

Deno.test("whatever the reason of an abort is, the reply's code says aborted", async () => {
  const { agent } = testAgent([hang({ after: "Half" })]);
  const reason = new StreamError("I changed my mind");
  agent.subscribe(({ type }) => void (type === "message_update" && agent.abort(reason)));
  const result = await agent.prompt("Hi");
  const [, said] = result.messages;
  assertEquals(said?.role === "assistant" && said.errorCode, "aborted");
  assertEquals(result.abortReason, reason);
  const mine = new AbortedError("Closed by the user");
  const other = testAgent([hang({ after: "Half" })]);
  other.agent.subscribe(({ type }) => void (type === "message_update" && other.agent.abort(mine)));
  const [, said2] = (await other.agent.prompt("Hi")).messages;
  assertEquals(said2?.role === "assistant" && said2.errorMessage, "Closed by the user");
});
