import { assertEquals } from "@std/assert";
import { AbortedError, NetworkError, StreamError } from "../../src/core/errors/errors.ts";
import { exponentialBackoff } from "../../src/core/hooks/retry.ts";
import type { RetryStrategy } from "../../src/core/hooks/retry.ts";
import { failedStream } from "../../src/core/streams/lazy_stream_fn.ts";
import type { AssistantMessageEvent } from "../../src/core/streams/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { text, toolCall } from "../../src/testing/messages.ts";
import { endWithoutTerminal, fail, hang, reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { InstantClock, scriptedPorts, settle } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const usage = { input: 2, output: 1, cacheRead: 0, cacheWrite: 0, total: 3 };
const withoutJitter = exponentialBackoff({ jitter: false });

Deno.test("retry: a throttled call is retried inside the same message [3.11, A16, A17]", async () => {
  const clock = new InstantClock();
  const { agent, streamFn } = testAgent([
    fail("model_throttled", "Slow down", { after: "Half a", usage }),
    reply("Whole", { usage }),
  ], { ...scriptedPorts(clock), retry: withoutJitter });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events), [
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
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Whole"]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && [end.error, end.usage.total], [undefined, 6]);
  const assistant = agent.state.messages[1];
  assertEquals(
    assistant?.role === "assistant" && assistant.usage.total,
    6,
    "discarded attempts count",
  );
  streamFn.assertDone();
});

Deno.test("retry: discard is false when the attempt emitted nothing", async () => {
  const { agent } = testAgent([fail("network_error", "Reset"), reply("Hello")], {
    ...scriptedPorts(new InstantClock()),
    retry: withoutJitter,
  });
  const [retry] = eventsOfType(await checkEvents(agent.promptStream("Hi")), "retry");
  assertEquals([retry?.attempt, retry?.delayMs, retry?.discard, retry?.error.code], [
    1,
    1000,
    false,
    "network_error",
  ]);
});

Deno.test("retry: discard is true only for attempts that emitted something, not for those after them", async () => {
  const { agent } = testAgent([
    fail("network_error", "Reset", { after: "Half" }),
    fail("network_error", "Reset"),
    reply("Whole"),
  ], { ...scriptedPorts(new InstantClock()), retry: withoutJitter });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(eventsOfType(events, "retry").map(({ discard }) => discard), [true, false]);
});

Deno.test("retry: a repeated tool call keeps its id", async () => {
  const call = toolCall("look", {}, { id: "a" });
  const { agent } = testAgent([
    fail("network_error", "Reset", { after: [call] }),
    reply([call]),
    reply("Seen"),
  ], scriptedPorts(new InstantClock()));
  const events = await checkEvents(agent.promptStream("Look"));
  assertEquals(eventsOfType(events, "tool_execution_start").map(({ id }) => id), ["a"]);
});

Deno.test("retry: streamingMessage starts again after a discarded attempt", async () => {
  const { agent } = testAgent([
    fail("network_error", "Reset", { after: "Half" }),
    reply("Whole"),
  ], scriptedPorts(new InstantClock()));
  const seen: string[] = [];
  agent.subscribe(({ type }) => {
    const { streamingMessage } = agent.state;
    if (type.startsWith("model_call")) return;
    if (streamingMessage) seen.push(`${type} ${outlineMessages([streamingMessage])}`.trim());
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
  Deno.test(`retry: ${code} is neither retried nor passed to a fallback [3.12, A18, A49]`, async () => {
    const { agent, streamFn } = testAgent([fail(code, "No")], {
      fallback: [{ model: { provider: "other", modelId: "spare", thinkingLevel: "off" } }],
    });
    const { error, stopReason } = await agent.prompt("Hi");
    assertEquals([error?.code, stopReason], [code, "error"]);
    streamFn.assertDone();
  });
}

Deno.test("retry: exhausted quota and billing errors are not retried", async () => {
  const { agent, streamFn } = testAgent([fail("model_throttled", "Quota", { retryable: false })]);
  assertEquals((await agent.prompt("Hi")).error?.code, "model_throttled");
  streamFn.assertDone();
});

Deno.test("retry: three attempts by default, and the last failure is the run's error [A45]", async () => {
  const clock = new InstantClock();
  const { agent, streamFn } = testAgent(
    [1, 2, 3].map((n) => fail("network_error", `Reset ${n}`)),
    { ...scriptedPorts(clock), retry: withoutJitter },
  );
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events).slice(4), [
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

Deno.test("retry: the partial text of the last attempt stays in the history, as failed", async () => {
  const { agent } = testAgent([
    fail("stream_error", "Broken", { after: [text("As I was say"), toolCall("look")], usage }),
  ]);
  await checkEvents(agent.promptStream("Hi"));
  const [, assistant] = agent.state.messages;
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: As I was say"]);
  assertEquals(
    assistant?.role === "assistant" &&
      [assistant.stopReason, assistant.errorCode, assistant.errorMessage, assistant.usage],
    ["error", "stream_error", "Broken", usage],
  );
});

Deno.test("retry: Retry-After takes precedence over the computed delay, up to the maximum", async () => {
  const clock = new InstantClock();
  const { agent } = testAgent([
    fail("model_throttled", "Slow down", { retryAfterMs: 7 }),
    fail("model_throttled", "Slow down", { retryAfterMs: 100_000 }),
    reply("Hello"),
  ], { ...scriptedPorts(clock), retry: withoutJitter });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(clock.waits, [7, 60_000]);
});

Deno.test("retry: a custom strategy also decides about non-retryable errors [A47]", async () => {
  const asked: [string, number][] = [];
  const retry: RetryStrategy = ({ error, attempt }) => {
    asked.push([error.code, attempt]);
    return attempt < 3 ? 5 : null;
  };
  const clock = new InstantClock();
  const { agent } = testAgent([
    fail("auth_error", "No"),
    fail("stream_error", "No"),
    reply("Hello"),
  ], { ...scriptedPorts(clock), retry });
  assertEquals((await agent.prompt("Hi")).error, undefined);
  assertEquals(asked, [["auth_error", 1], ["stream_error", 2]]);
  assertEquals(clock.waits, [5, 5]);
});

Deno.test("retry: overflow and abort are never retried", async () => {
  const always: RetryStrategy = () => 0;
  const overflowing = testAgent([fail("context_window_overflow", "Too long")], { retry: always });
  assertEquals((await overflowing.agent.prompt("Hi")).error?.code, "context_window_overflow");
  overflowing.streamFn.assertDone();
  const aborted = testAgent([fail("aborted", "Gone")], { retry: always });
  assertEquals((await aborted.agent.prompt("Hi")).stopReason, "aborted");
  aborted.streamFn.assertDone();
});

for (const answer of [undefined, Number.NaN, Number.POSITIVE_INFINITY] as unknown as number[]) {
  Deno.test(`retry: a strategy that returns ${answer} stops the retries`, async () => {
    const { agent, streamFn } = testAgent([fail("network_error", "Reset")], {
      retry: () => answer,
    });
    assertEquals((await agent.prompt("Hi")).error?.code, "network_error");
    streamFn.assertDone();
  });
}

Deno.test("retry: a strategy that throws stops the retries and is reported as a warning", async () => {
  const { agent, streamFn, seen } = testAgent([fail("network_error", "Reset")], {
    retry: () => {
      throw new Error("invalid state");
    },
  });
  assertEquals((await agent.prompt("Hi")).error?.code, "network_error");
  assertEquals(eventsOfType(seen, "warning").map(({ code, message }) => [code, message]), [
    ["retry_failed", "The retry strategy failed, so the call is not retried: invalid state"],
  ]);
  streamFn.assertDone();
});

Deno.test("abort() ends the wait between two attempts immediately", async () => {
  const { agent, clock, streamFn } = testAgent(
    [fail("network_error", "Reset", { after: "Half" })],
    {
      retry: withoutJitter,
    },
  );
  const running = checkEvents(agent.promptStream("Hi"));
  await settle();
  assertEquals([clock.waits, clock.sleepers], [[1000], 1]);
  agent.abort();
  const events = await running;
  assertEquals(outlineEvents(events).slice(5), [
    "message_update text_delta",
    "retry 1 discard",
    "message_end assistant",
    "turn_end aborted",
    "agent_end",
  ]);
  assertEquals(clock.sleepers, 0);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi"]);
  streamFn.assertDone();
});

Deno.test("abort() between a retryable failure and its retry: the run is aborted, and the text is kept", async () => {
  const { agent, streamFn } = testAgent([fail("network_error", "Reset", { after: "Half" })]);
  atFirst(agent, "model_call_end", () => agent.abort("enough"));
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events).slice(4), [
    "message_start assistant",
    "message_update text_delta",
    "message_end assistant",
    "turn_end aborted",
    "agent_end",
  ]);
  const [end] = eventsOfType(events, "agent_end");
  assertEquals([end?.stopReason, end?.abortReason, end?.error], ["aborted", "enough", undefined]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Half"]);
  streamFn.assertDone();
});

Deno.test("abort() after the failure of the last attempt: the error stays", async () => {
  const { agent } = testAgent([fail("network_error", "Reset")], { retry: () => null });
  atFirst(agent, "model_call_end", () => agent.abort("late"));
  const result = await agent.prompt("Hi");
  assertEquals([result.stopReason, result.error?.code], ["error", "network_error"]);
});

Deno.test("abort() ends the wait between two attempts when the sleep port ignores its signal", async () => {
  const { agent } = testAgent([fail("network_error", "Reset")], {
    sleep: () => new Promise(() => {}),
    retry: withoutJitter,
  });
  atFirst(agent, "retry", () => void settle().then(() => agent.abort()));
  const { stopReason, messages } = await agent.prompt("Hi");
  assertEquals([stopReason, outlineMessages(messages)], ["aborted", ["user: Hi"]]);
});

Deno.test("a stream without a terminal event is a network_error and is retried [B30]", async () => {
  const { agent, streamFn } = testAgent([endWithoutTerminal("Half"), reply("Whole")], {
    ...scriptedPorts(new InstantClock()),
    retry: withoutJitter,
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  const [retry] = eventsOfType(events, "retry");
  assertEquals([retry?.error.code, retry?.discard], ["network_error", true]);
  streamFn.assertDone();
});

for (
  const [behaviour, streamFn] of [
    ["throws", () => {
      throw new Error("no socket");
    }],
    ["throws while it is read", async function* () {
      yield { type: "start" } as const;
      await Promise.resolve();
      throw new Error("no socket");
    }],
    ["returns undefined", () => undefined as never],
  ] as const
) {
  Deno.test(`a StreamFn that ${behaviour} is one stream_error and is not retried [B31]`, async () => {
    const { agent } = testAgent([], { streamFn });
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(outlineEvents(events).slice(4), [
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

Deno.test("stop reason aborted from the provider ends the run as aborted, without an error [A39]", async () => {
  const { agent } = testAgent([fail("aborted", "Connection closed by us", { after: "Half" })]);
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events).slice(-2), ["turn_end aborted", "agent_end"]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && [end.stopReason, end.error], ["aborted", undefined]);
});

Deno.test("an aborted reply without content ends the run as aborted [A39]", async () => {
  const { agent } = testAgent([fail("aborted", "Connection closed by us")]);
  const { stopReason, messages } = await agent.prompt("Hi");
  assertEquals([stopReason, outlineMessages(messages)], ["aborted", ["user: Hi"]]);
});

Deno.test("the error code of an aborted reply is aborted for every abort reason", async () => {
  const { agent } = testAgent([hang({ after: "Half" })]);
  const reason = new StreamError("I changed my mind");
  agent.subscribe(({ type }) => void (type === "message_update" && agent.abort(reason)));
  const result = await agent.prompt("Hi");
  const [, assistant] = result.messages;
  assertEquals(assistant?.role === "assistant" && assistant.errorCode, "aborted");
  assertEquals(result.abortReason, reason);
  const abortedError = new AbortedError("Closed by the user");
  const second = testAgent([hang({ after: "Half" })]);
  atFirst(second.agent, "message_update", () => second.agent.abort(abortedError));
  const [, secondReply] = (await second.agent.prompt("Hi")).messages;
  assertEquals(secondReply?.role === "assistant" && secondReply.errorMessage, "Closed by the user");
});

Deno.test("retry: a failure with the code aborted is never retried, even if its stop reason is error", async () => {
  let calls = 0;
  const { agent } = testAgent([], {
    retry: () => 0,
    streamFn: async function* (): AsyncGenerator<AssistantMessageEvent> {
      if (++calls > 3) throw new Error("retried");
      yield { type: "start" };
      yield { type: "error", stopReason: "error", error: new AbortedError("Gone") };
    },
  });
  assertEquals((await agent.prompt("Hi")).error?.code, "aborted");
  assertEquals(calls, 1);
});

Deno.test("retry: a strategy that returns 0 or less retries at once", async () => {
  for (const delay of [0, -5]) {
    const { agent, streamFn, seen } = testAgent([fail("network_error", "Reset"), reply("Hello")], {
      retry: () => delay,
    });
    assertEquals((await agent.prompt("Hi")).stopReason, "stop");
    assertEquals(eventsOfType(seen, "retry").map(({ attempt, delayMs }) => [attempt, delayMs]), [
      [1, 0],
    ]);
    streamFn.assertDone();
  }
});

Deno.test("retry: abort() ends retries without a delay and without an end", async () => {
  const { agent } = testAgent([], {
    retry: () => 0,
    streamFn: () => failedStream(new NetworkError("Reset")),
  });
  const running = agent.prompt("Hi");
  await settle();
  await settle();
  agent.abort("enough");
  assertEquals((await running).abortReason, "enough");
});
