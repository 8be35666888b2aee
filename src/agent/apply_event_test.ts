import { assertEquals } from "@std/assert";
import { NetworkError } from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import { userMessage } from "../core/messages/message.ts";
import { modelSpec } from "../core/models/model.ts";
import { zeroCost, zeroUsage } from "../core/models/usage.ts";
import type { AssistantMessageDelta } from "../core/streams/stream.ts";
import { assistantMessage } from "../testing/messages.ts";
import { applyEvent } from "./apply_event.ts";
import { LiveState } from "./live_state.ts";

function createStateAfter(...events: AgentEvent[]): LiveState {
  const state = new LiveState({
    systemPrompt: "",
    model: modelSpec("test/model"),
    tools: [],
    messages: [],
    pending: undefined,
  });
  for (const event of events) apply(state, event);
  return state;
}

/** Applies an event of a run whose history has the message of the event. */
function apply(state: LiveState, event: AgentEvent): void {
  const added = event.type === "message_end" ? [event.message] : [];
  applyEvent(state, event, [...state.messages, ...added]);
}

const createUpdate = (delta: AssistantMessageDelta): AgentEvent => ({
  type: "message_update",
  delta,
});
const messageStart: AgentEvent = { type: "message_start", message: assistantMessage("") };

Deno.test("applyEvent() appends finished messages and omits empty replies", () => {
  const messages = [userMessage("Hi", 0), assistantMessage(""), assistantMessage("Hello")];
  const state = createStateAfter(
    ...messages.map((message): AgentEvent => ({ type: "message_end", message })),
  );
  assertEquals(
    state.messages,
    [messages[0], messages[2]].filter((message) => message !== undefined),
  );
});

Deno.test("applyEvent(): streamingMessage is a snapshot of the reply so far", () => {
  const state = createStateAfter(
    messageStart,
    createUpdate({ type: "thinking_delta", contentIndex: 0, delta: "Hm" }),
    createUpdate({ type: "text_delta", contentIndex: 2, delta: "Hel" }),
    createUpdate({ type: "tool_call_start", contentIndex: 3, id: "a", name: "look" }),
    createUpdate({ type: "tool_call_delta", contentIndex: 3, delta: '{"at":' }),
  );
  const first = state.streamingMessage;
  apply(state, createUpdate({ type: "text_delta", contentIndex: 2, delta: "lo" }));
  const call = { type: "tool_call", id: "a", name: "look", arguments: {}, partialJson: '{"at":' };
  assertEquals(first?.content, [
    { type: "thinking", thinking: "Hm" },
    { type: "text", text: "" }, // a block without deltas, such as an extension
    { type: "text", text: "Hel" },
    call,
  ] as unknown);
  assertEquals(state.streamingMessage?.content[2], { type: "text", text: "Hello" });
});

Deno.test("applyEvent(): streamingMessage is cleared by a discarded attempt and by a fallback that discards", () => {
  const streamed = [
    messageStart,
    createUpdate({ type: "text_delta", contentIndex: 0, delta: "Half" }),
  ];
  const error = new NetworkError("Reset");
  const retry = { type: "retry", attempt: 1, delayMs: 0, error } as const;
  assertEquals(
    createStateAfter(...streamed, { ...retry, discard: true }).streamingMessage?.content,
    [],
  );
  assertEquals(
    createStateAfter(...streamed, { ...retry, discard: false }).streamingMessage?.content.length,
    1,
  );
  const [from, to] = [modelSpec("a/b"), modelSpec("c/d")];
  const fallback = { type: "model_fallback", from, to } as const;
  const contents = [true, false].map((discard) =>
    createStateAfter(...streamed, { ...fallback, discard }).streamingMessage?.content.length
  );
  assertEquals(contents, [0, 1]);
  const ended = createStateAfter(...streamed, {
    type: "message_end",
    message: assistantMessage("Half"),
  });
  assertEquals(ended.streamingMessage, undefined);
});

Deno.test("applyEvent(): pendingToolCalls has the running calls, and error that of the last run", () => {
  const call = { id: "a", name: "look" };
  const state = createStateAfter({ type: "tool_execution_start", ...call, arguments: {} });
  assertEquals([...state.pendingToolCalls], ["a"]);
  apply(state, {
    type: "tool_execution_end",
    ...call,
    result: { content: [] },
    isError: false,
  });
  assertEquals(state.pendingToolCalls.size, 0);
  const error = new NetworkError("Reset");
  const outcome = { messages: [], usage: zeroUsage(), cost: zeroCost() };
  apply(state, { type: "agent_end", ...outcome, stopReason: "error", error });
  assertEquals(state.error, error);
  apply(state, { type: "agent_start", runId: "r" });
  assertEquals(state.error, undefined);
});
