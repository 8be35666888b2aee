import { assertEquals, assertThrows } from "@std/assert";
import type { AgentContext } from "../../src/core/context/context.ts";
import {
  BadRequestError,
  InvalidContinueError,
  NoMessagesError,
} from "../../src/core/errors/errors.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { zeroCost, zeroUsage } from "../../src/core/models/usage.ts";
import { agentLoop, agentLoopContinue } from "../../src/loop/loop.ts";
import { MessageQueue } from "../../src/loop/queues/message_queue.ts";
import type { AgentLoopConfig } from "../../src/loop/run/config.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { assistantMessage, text, toolCall, toolResultMessage } from "../../src/testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../../src/testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineAllEvents, outlineEvents, outlineMessages } from "./outline.ts";
import { scriptedPorts } from "./ports.ts";

const empty: AgentContext = { systemPrompt: "", messages: [], tools: [] };
const hi = userMessage("Hi", 0);

function loopConfig(
  steps: readonly ScriptedStep[],
): AgentLoopConfig & { readonly streamFn: ScriptedStream } {
  return { model: modelSpec("test/model"), streamFn: scriptedStream(steps), ...scriptedPorts() };
}

Deno.test("agentLoop() without tools runs one turn and ends [3.1, 3.16, A1, B1]", async () => {
  const config = loopConfig([reply("Hello")]);
  const events = await checkEvents(agentLoop([hi], empty, config));
  const prompt = { ...hi, id: "message_1" };
  const assistant = assistantMessage("Hello", { modelId: "model", id: "message_2" });
  const emptyAssistant = { ...assistant, content: [] };
  const call = { turn: 1, attempt: 1, model: config.model };
  assertEquals(events, [
    { type: "agent_start", runId: "run_1", seq: 1 },
    { type: "turn_start", turn: 1, seq: 2 },
    { type: "message_start", message: prompt, seq: 3 },
    { type: "message_end", message: prompt, seq: 4 },
    { type: "message_start", message: emptyAssistant, seq: 5 },
    { type: "model_call_start", ...call, seq: 6 },
    {
      type: "message_update",
      delta: { type: "text_delta", contentIndex: 0, delta: "Hello" },
      seq: 7,
    },
    {
      type: "model_call_end",
      ...call,
      ttftMs: 0,
      durationMs: 0,
      usage: zeroUsage(),
      cost: zeroCost(),
      seq: 8,
    },
    { type: "message_end", message: assistant, seq: 9 },
    {
      type: "turn_end",
      turn: 1,
      message: assistant,
      toolResults: [],
      reason: "complete",
      seq: 10,
    },
    {
      type: "agent_end",
      messages: [prompt, assistant],
      stopReason: "stop",
      usage: zeroUsage(),
      cost: zeroCost(),
      seq: 11,
    },
  ]);
  config.streamFn.assertDone();
});

Deno.test("tool events are emitted between message_end and turn_end [3.2, A2, B2]", async () => {
  const config = loopConfig([
    reply([text("Let me look"), toolCall("look", { at: "x" })]),
    reply("Seen"),
  ]);
  const context = { ...empty, tools: [fakeTool({ name: "look", result: "a cat" })] };
  const events = await checkEvents(agentLoop([hi], context, config));
  assertEquals(outlineAllEvents(events), [
    "agent_start",
    "turn_start 1",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "model_call_start 1",
    "message_update text_delta",
    "message_update text_delta",
    "message_update text_delta",
    "message_update tool_call_start",
    "message_update tool_call_delta",
    "model_call_end 1",
    "message_end assistant",
    "tool_execution_start call_1",
    "tool_execution_end call_1",
    "message_start tool_result",
    "message_end tool_result",
    "turn_end tools_executed",
    "turn_start 2",
    "message_start assistant",
    "model_call_start 1",
    "message_update text_delta",
    "model_call_end 1",
    "message_end assistant",
    "turn_end complete",
    "agent_end",
  ]);
  const [start] = eventsOfType(events, "tool_execution_start");
  assertEquals(start?.arguments, { at: "x" });
  const [end] = eventsOfType(events, "tool_execution_end");
  assertEquals(end?.result, { content: [text("a cat")] });
  const [turn] = eventsOfType(events, "turn_end");
  const result = toolResultMessage({ id: "call_1", name: "look" }, "a cat");
  assertEquals(turn?.toolResults, [{ ...result, id: "message_3" }]);
});

Deno.test("tool results lead to one more turn, and the run ends once [3.3, A3]", async () => {
  const config = loopConfig([reply([toolCall("a")]), reply([toolCall("b")]), reply("Done")]);
  const context = { ...empty, tools: [fakeTool({ name: "a" }), fakeTool({ name: "b" })] };
  const events = await checkEvents(agentLoop([hi], context, config));
  assertEquals(eventsOfType(events, "turn_end").map(({ reason }) => reason), [
    "tools_executed",
    "tools_executed",
    "complete",
  ]);
  const [end, ...others] = eventsOfType(events, "agent_end");
  assertEquals(others, []);
  assertEquals(outlineMessages(end?.messages ?? []), [
    "user: Hi",
    "assistant: a({})",
    "tool_result: ok",
    "assistant: b({})",
    "tool_result: ok",
    "assistant: Done",
  ]);
});

Deno.test("stop reason tool_use without calls ends the turn as complete [A22, B33]", async () => {
  for (const stopReason of ["tool_use", "stop"] as const) {
    const config = loopConfig([reply("Hello", { stopReason })]);
    const events = await checkEvents(agentLoop([hi], empty, config));
    assertEquals(outlineEvents(events).slice(-2), ["turn_end complete", "agent_end"]);
    const end = events.at(-1);
    assertEquals(end?.type === "agent_end" && end.stopReason, stopReason);
  }
});

Deno.test("a length stop without calls ends the run [B28]", async () => {
  const config = loopConfig([reply("Hello and", { stopReason: "length" })]);
  const events = await checkEvents(agentLoop([hi], empty, config));
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && end.stopReason, "length");
  config.streamFn.assertDone();
});

Deno.test("several prompts are emitted in order before the first request [B3]", async () => {
  const config = loopConfig([reply("Hello")]);
  const events = await checkEvents(agentLoop([hi, userMessage("You there?", 0)], empty, config));
  assertEquals(outlineEvents(events).slice(2, 7), [
    "message_start user",
    "message_end user",
    "message_start user",
    "message_end user",
    "message_start assistant",
  ]);
  assertEquals(outlineMessages(config.streamFn.calls[0]?.context.messages ?? []), [
    "user: Hi",
    "user: You there?",
  ]);
});

Deno.test("a failed reply ends the run and keeps follow-ups queued [3.9, A13, B29]", async () => {
  const config = loopConfig([fail("stream_error", "Broken")]);
  const followUp = new MessageQueue();
  followUp.add(userMessage("More", 0));
  const events = await checkEvents(agentLoop([hi], empty, { ...config, followUp }));
  assertEquals(outlineEvents(events), [
    "agent_start",
    "turn_start 1",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "message_end assistant",
    "turn_end error",
    "agent_end",
  ]);
  assertEquals(outlineMessages(followUp.peek()), ["user: More"]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && end.error?.message, "Broken");
});

Deno.test("steering that is queued after the last reply leads to one more turn [A11, B50]", async () => {
  const steering = new MessageQueue();
  const config = loopConfig([
    () => {
      steering.add(userMessage("Wait", 0));
      return reply("One");
    },
    reply("Two"),
  ]);
  const events = await checkEvents(agentLoop([hi], empty, { ...config, steering }));
  assertEquals(eventsOfType(events, "turn_start").map(({ turn }) => turn), [1, 2]);
  const end = events.at(-1);
  assertEquals(outlineMessages(end?.type === "agent_end" ? end.messages : []), [
    "user: Hi",
    "assistant: One",
    "user: Wait",
    "assistant: Two",
  ]);
});

Deno.test("agentLoop(): a message that the caller changes during the run stays as it was", async () => {
  const block = { type: "text" as const, text: "Hi" };
  const prompt = { role: "user" as const, content: [block], timestamp: 0 };
  const config = loopConfig([reply([toolCall("look")]), reply("Hello")]);
  const look = fakeTool({ name: "look", result: () => block.text = "changed" });
  const events = await checkEvents(agentLoop([prompt], { ...empty, tools: [look] }, config));
  const [end] = eventsOfType(events, "agent_end");
  for (const messages of [config.streamFn.calls[1]?.context.messages, end?.messages]) {
    assertEquals(outlineMessages(messages ?? [])[0], "user: Hi");
  }
  assertEquals(block.text, "changed");
});

Deno.test("agentLoop() modifies neither the context nor the messages of the caller [B8]", async () => {
  const deepFreeze = <Value>(value: Value): Value => {
    if (typeof value !== "object" || value === null) return value;
    Object.values(value).forEach(deepFreeze);
    return Object.freeze(value);
  };
  const context = deepFreeze({ ...empty, messages: [hi, assistantMessage("Hello")] });
  const prompts = deepFreeze([userMessage("Again", 0)]);
  await checkEvents(agentLoop(prompts, context, loopConfig([reply("Yes?")])));
  const unanswered = deepFreeze({ ...empty, messages: [hi] });
  await checkEvents(agentLoopContinue(unanswered, loopConfig([reply("Hello")])));
  assertEquals([context.messages.length, prompts.length, unanswered.messages.length], [2, 1, 1]);
});

Deno.test("agentLoopContinue() emits no earlier message and returns only new ones [B10, A66]", async () => {
  const config = loopConfig([reply("Hello")]);
  const events = await checkEvents(agentLoopContinue({ ...empty, messages: [hi] }, config));
  assertEquals(outlineEvents(events), [
    "agent_start",
    "turn_start 1",
    "message_start assistant",
    "message_update text_delta",
    "message_end assistant",
    "turn_end complete",
    "agent_end",
  ]);
  const end = events.at(-1);
  assertEquals(outlineMessages(end?.type === "agent_end" ? end.messages : []), [
    "assistant: Hello",
  ]);
});

Deno.test("agentLoopContinue() throws when there is nothing to continue [B9]", () => {
  const config = loopConfig([]);
  assertThrows(() => agentLoopContinue(empty, config), NoMessagesError);
  assertThrows(() => agentLoop([], empty, config), NoMessagesError);
  const finished = { ...empty, messages: [hi, assistantMessage("Hello")] };
  assertThrows(() => agentLoopContinue(finished, config), InvalidContinueError);
});

Deno.test("agentLoop(), agentLoopContinue(): the signal aborts the run", async () => {
  const reason = "enough";
  const signal = AbortSignal.abort(reason);
  const context = { ...empty, messages: [hi] };
  for (
    const stream of [
      agentLoop([hi], empty, loopConfig([]), { signal }),
      agentLoopContinue(context, loopConfig([]), { signal }),
    ]
  ) {
    const [end] = eventsOfType(await checkEvents(stream), "agent_end");
    assertEquals([end?.stopReason, end?.abortReason], ["aborted", reason]);
  }
});

Deno.test("agentLoop() throws when repair leaves no message", () => {
  const config = loopConfig([]);
  assertThrows(() => agentLoop([assistantMessage([])], empty, config), NoMessagesError);
});

/** A history whose last reply has a call that waits for an approval. */
const waiting: AgentContext = {
  ...empty,
  messages: [
    hi,
    assistantMessage([toolCall("look", {}, { id: "call_1" })], { stopReason: "tool_use" }),
  ],
};
const pending = { pendingApprovals: [{ toolCallId: "call_1", name: "look", arguments: {} }] };

Deno.test("agentLoop({ pending }): answers the pending calls as not approved, before the prompt", async () => {
  const look = fakeTool({ name: "look" });
  const config = loopConfig([reply("Hello")]);
  const context = { ...waiting, tools: [look] };
  const events = await checkEvents(agentLoop([hi], context, config, { pending }));
  const end = events.at(-1);
  assertEquals(outlineMessages(end?.type === "agent_end" ? end.messages : []), [
    "tool_result: Tool call not run: not approved: the conversation went on",
    "user: Hi",
    "assistant: Hello",
  ]);
  assertEquals(look.calls, []);
});

Deno.test("agentLoopContinue({ pending, approvals }): runs the approved calls, and throws without a decision", async () => {
  const look = fakeTool({ name: "look" });
  const config = loopConfig([reply("Hello")]);
  const context = { ...waiting, tools: [look] };
  assertThrows(
    () => agentLoopContinue(context, config, { pending }),
    InvalidContinueError,
    "Approvals are pending",
  );
  const options = { pending, approvals: { call_1: true } };
  const events = await checkEvents(agentLoopContinue(context, config, options));
  const end = events.at(-1);
  assertEquals(outlineMessages(end?.type === "agent_end" ? end.messages : []), [
    "tool_result: ok",
    "assistant: Hello",
  ]);
  assertEquals(look.calls.length, 1);
});

Deno.test("agentLoopContinue({ pending }): interrupted calls stay known while one that runs again waits for approval", async () => {
  const look = fakeTool({ name: "look" });
  const messages = [
    hi,
    assistantMessage([toolCall("look", {}, { id: "a" }), toolCall("look", {}, { id: "b" })], {
      stopReason: "tool_use",
    }),
  ];
  const result = { content: [text("seen before")] };
  const interruptedCalls = [
    { toolCallId: "a", result },
    { toolCallId: "b", result: { content: [] }, rerun: { idempotencyKey: "k" } },
  ];
  const context = { ...empty, messages, tools: [look] };
  const config = loopConfig([reply("Hello")]);
  const paused = await checkEvents(
    agentLoopContinue(context, { ...config, approve: () => ({ type: "pending" }) }, {
      pending: { pendingApprovals: [], interruptedCalls },
    }),
  );
  const [end] = eventsOfType(paused, "agent_end");
  assertEquals(end?.pendingApprovals, [{ toolCallId: "b", name: "look", arguments: {} }]);
  assertEquals(end?.interruptedCalls, interruptedCalls);
  const { pendingApprovals = [], decidedCalls, interruptedCalls: left } = end ?? {};
  const resumed = await checkEvents(agentLoopContinue(context, config, {
    pending: { pendingApprovals, decidedCalls, interruptedCalls: left },
    approvals: { b: true },
  }));
  assertEquals(outlineMessages(eventsOfType(resumed, "agent_end")[0]?.messages ?? []), [
    "tool_result: seen before",
    "tool_result: ok",
    "assistant: Hello",
  ]);
  assertEquals(look.calls.map(({ toolCallId }) => toolCallId), ["b"]);
});

Deno.test("agentLoop({ pending }): throws for calls that the last message does not make, and for no calls at all", () => {
  const config = loopConfig([]);
  const context = { ...empty, messages: [hi] };
  const approvals = { call_1: true };
  const error = 'does not make the pending tool call "call_1"';
  assertThrows(() => agentLoop([hi], context, config, { pending }), BadRequestError, error);
  assertThrows(
    () => agentLoopContinue(context, config, { pending, approvals }),
    BadRequestError,
    error,
  );
  for (const invalid of [{}, "call_1", { pendingApprovals: ["call_1"] }]) {
    const options = { pending: invalid as never };
    assertThrows(
      () => agentLoop([hi], waiting, config, options),
      BadRequestError,
      "earlier result",
    );
  }
});

Deno.test("agentLoop({ pending }): a result without pending calls counts as none", async () => {
  const config = loopConfig([reply("Hello"), reply("Hello")]);
  const options = { pending: { pendingApprovals: [] } };
  const result = toolResultMessage({ id: "call_1", name: "look" }, "ok");
  const answered = [...waiting.messages, result, assistantMessage("Done")];
  const context = { ...empty, messages: answered };
  assertThrows(() => agentLoopContinue(context, config, options), InvalidContinueError);
  const events = await checkEvents(agentLoop([hi], context, config, options));
  assertEquals(outlineMessages(eventsOfType(events, "agent_end")[0]?.messages ?? []), [
    "user: Hi",
    "assistant: Hello",
  ]);
});
