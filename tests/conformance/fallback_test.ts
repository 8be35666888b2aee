import { assertEquals } from "@std/assert";
import type { ModelSpec } from "../../src/core/models/model.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { InstantClock, scriptedPorts } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const noRetry = () => null;
const spare: ModelSpec = { provider: "other", modelId: "spare", thinkingLevel: "off" };
const last: ModelSpec = { provider: "third", modelId: "last", thinkingLevel: "high" };
const throttled = fail("model_throttled", "429", { after: "Half" });

Deno.test("fallback: the next model replies in the same message after the last failed attempt [A48]", async () => {
  const { agent, streamFn } = testAgent([throttled, reply("Hello")], {
    retry: noRetry,
    fallback: [{ model: spare }],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events).slice(4), [
    "message_start assistant",
    "message_update text_delta",
    "model_fallback spare discard",
    "message_update text_delta",
    "message_end assistant",
    "turn_end complete",
    "agent_end",
  ]);
  const [fallback] = eventsOfType(events, "model_fallback");
  assertEquals([fallback?.from.modelId, fallback?.to, fallback?.discard], ["model", spare, true]);
  const [, assistant] = agent.state.messages;
  assertEquals(assistant?.role === "assistant" && [assistant.provider, assistant.modelId], [
    "other",
    "spare",
  ]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Hello"]);
  assertEquals(streamFn.calls.map(({ model }) => model.modelId), ["model", "spare"]);
});

Deno.test("fallback: without one, the failure of the model is the error of the run [A50]", async () => {
  const { agent } = testAgent([throttled], { retry: noRetry });
  assertEquals((await agent.prompt("Hi")).error?.code, "model_throttled");
});

Deno.test("fallback: models are called in order until one replies [A51]", async () => {
  const { agent } = testAgent([throttled, throttled, reply("Hello")], {
    retry: noRetry,
    fallback: [{ model: spare }, { model: last }],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(
    eventsOfType(events, "model_fallback").map(({ from, to }) => `${from.modelId} ${to.modelId}`),
    ["model spare", "spare last"],
  );
  assertEquals(agent.state.error, undefined);
});

Deno.test("fallback: a name of a model is called as the model with that name", async () => {
  const { agent, streamFn } = testAgent([throttled, throttled, reply("Hello")], {
    retry: noRetry,
    fallback: ["other/spare", { model: last }],
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(streamFn.calls.slice(1).map(({ model }) => model), [spare, last]);
});

Deno.test("fallback: discard is false for a model that emitted nothing, also after one that did", async () => {
  const { agent } = testAgent([throttled, fail("network_error", "Reset"), reply("Hello")], {
    retry: noRetry,
    fallback: [{ model: spare }, { model: last }],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(eventsOfType(events, "model_fallback").map(({ discard }) => discard), [true, false]);
});

Deno.test("fallback: when all models fail, the last failure is emitted once [A52]", async () => {
  const { agent, streamFn } = testAgent([
    throttled,
    fail("network_error", "Reset"),
    fail("auth_error", "No key"),
  ], { retry: noRetry, fallback: [{ model: spare }, { model: last }] });
  const events = await checkEvents(agent.promptStream("Hi"));
  const replies = eventsOfType(events, "message_end").filter(({ message }) =>
    message.role === "assistant"
  );
  assertEquals(replies.length, 1);
  assertEquals(agent.state.error?.code, "auth_error");
  streamFn.assertDone();
});

Deno.test("fallback: a non-retryable failure skips the remaining models", async () => {
  const { agent, streamFn } = testAgent([throttled, fail("auth_error", "No key")], {
    retry: noRetry,
    fallback: [{ model: spare }, { model: last }],
  });
  assertEquals((await agent.prompt("Hi")).error?.code, "auth_error");
  streamFn.assertDone();
});

Deno.test("fallback: the next model is called at once when a quota is exhausted, which is not retried", async () => {
  const exhausted = fail("model_throttled", "No credit", { retryable: false });
  const { agent, seen, streamFn } = testAgent([exhausted, reply("Hello")], {
    fallback: [{ model: spare }],
  });
  const { text, error } = await agent.prompt("Hi");
  assertEquals([text, error], ["Hello", undefined]);
  assertEquals(eventsOfType(seen, "retry"), []);
  assertEquals(eventsOfType(seen, "model_fallback").map(({ to }) => to), [spare]);
  streamFn.assertDone();
});

Deno.test("fallback: after an abort no other model is called", async () => {
  const { agent, streamFn } = testAgent([throttled], {
    retry: noRetry,
    fallback: [{ model: spare }],
  });
  atFirst(agent, "model_call_end", () => agent.abort("enough"));
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events).slice(4), [
    "message_start assistant",
    "message_update text_delta",
    "message_end assistant",
    "turn_end aborted",
    "agent_end",
  ]);
  streamFn.assertDone();
});

Deno.test("fallback: each model gets its own key, and streamOptions.apiKey goes to no other provider", async () => {
  const { agent, streamFn } = testAgent([throttled, throttled, reply("Hello")], {
    retry: noRetry,
    streamOptions: { apiKey: "secret of test", temperature: 0 },
    getApiKey: (provider) => provider === "third" ? "key of third" : undefined,
    fallback: [{ model: spare }, { model: last }],
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(streamFn.calls.map(({ options }) => options), [
    { apiKey: "secret of test", temperature: 0 },
    { temperature: 0 },
    { apiKey: "key of third", temperature: 0 },
  ]);
});

Deno.test("streamOptions.apiKey stays with the configured provider after setModel()", async () => {
  const { agent, streamFn } = testAgent([reply("One"), reply("Two"), reply("Three")], {
    streamOptions: { apiKey: "secret of test" },
  });
  await agent.prompt("Hi");
  agent.setModel("elsewhere/model");
  await agent.prompt("Hi");
  agent.setModel("test/other");
  await agent.prompt("Hi");
  assertEquals(streamFn.calls.map(({ options }) => options.apiKey), [
    "secret of test",
    undefined,
    "secret of test",
  ]);
});

Deno.test("fallback: can have its own streamFn, getApiKey and retry", async () => {
  const spareStream = scriptedStream([throttled, reply("Hello")]);
  const clock = new InstantClock();
  const { agent, streamFn } = testAgent([throttled], {
    ...scriptedPorts(clock),
    retry: noRetry,
    fallback: [{
      model: spare,
      streamFn: spareStream,
      getApiKey: () => "own key",
      retry: ({ attempt }) => attempt < 2 ? 7 : null,
    }],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(clock.waits, [7]);
  assertEquals(eventsOfType(events, "retry").map(({ attempt }) => attempt), [1]);
  assertEquals(spareStream.calls.map(({ options }) => options.apiKey), ["own key", "own key"]);
  streamFn.assertDone();
  spareStream.assertDone();
});

Deno.test("fallback: the next turn starts with the first model", async () => {
  const { agent, streamFn } = testAgent([throttled, reply("Hello"), reply("Again")], {
    retry: noRetry,
    fallback: [{ model: spare }],
  });
  await agent.prompt("Hi");
  await agent.prompt("Hi");
  assertEquals(streamFn.calls.map(({ model }) => model.modelId), ["model", "spare", "model"]);
});
