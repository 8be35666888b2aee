/**
 * Requests that the chat of the AI SDK sends by itself.
 *
 * @module
 */

import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { assert, assertEquals } from "@std/assert";
import { Agent, type AgentOptions } from "../../mod.ts";
import { toUiMessages } from "../../src/protocols/ai_sdk/mod.ts";
import { fakeTool, hang, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { TestChat } from "./test_chat.ts";

const MAX_REQUESTS = 4;

/** Connects a chat that sends a complete message by itself, up to a limit. */
function connect(agent: Agent, messages: UIMessage[] = []) {
  let requests = 0;
  const chat = new TestChat({ createAgent: () => agent }, {
    messages,
    sendAutomaticallyWhen: (state) => {
      const isComplete = lastAssistantMessageIsCompleteWithToolCalls(state) ||
        lastAssistantMessageIsCompleteWithApprovalResponses(state);
      return isComplete && ++requests < MAX_REQUESTS;
    },
  });
  return { chat, countRequests: () => requests };
}

function createAgent(options: Partial<AgentOptions>): Agent {
  return new Agent({
    model: "test/model",
    tools: [fakeTool({ name: "look", result: "seen" })],
    ...options,
  });
}

const look = () => reply([toolCall("look")]);

Deno.test("automatic requests: a run that a policy or a limit has ended after its calls is not continued", async () => {
  const ends: Partial<AgentOptions>[] = [
    { maxTurns: 1 },
    { policies: [{ name: "budget", postTurn: () => ({ type: "stop", reason: "spent" }) }] },
  ];
  for (const options of ends) {
    const script = scriptedStream([look(), look(), look(), look()]);
    const { chat, countRequests } = connect(createAgent({ streamFn: script, ...options }));
    await chat.sendMessage({ text: "Look" });
    assertEquals([countRequests(), script.calls.length, chat.status], [0, 1, "ready"]);
    assertEquals(chat.chunks.at(-1), { type: "finish", finishReason: "interrupted" });
  }
});

Deno.test("automatic requests: an answered call of a run that a policy ends before its reply is not sent again", async () => {
  let isSpent = false;
  const agent = createAgent({
    streamFn: scriptedStream([reply([toolCall("look", {}, { id: "c1" })])]),
    approve: () => ({ type: "pending" }),
    policies: [{
      name: "budget",
      preTurn: () => isSpent ? { type: "stop", reason: "spent" } : undefined,
    }],
  });
  const { chat, countRequests } = connect(agent);
  await chat.sendMessage({ text: "Look" });
  isSpent = true;
  await chat.addToolApprovalResponse({ id: "c1", approved: true });
  await chat.untilIdle();
  assertEquals([countRequests(), chat.status], [1, "ready"]);
  // The agent still waits for an answer.
  const [part] = chat.parts;
  assertEquals(part?.type === "tool-look" && part.state, "approval-requested");
});

Deno.test("automatic requests: a run that the server has aborted after a call is not continued", async () => {
  const agent = createAgent({ streamFn: scriptedStream([look(), hang(), look(), hang()]) });
  agent.subscribe((event) => {
    if (event.type === "model_call_start" && event.turn === 2) setTimeout(() => agent.abort());
  });
  const { chat, countRequests } = connect(agent);
  await chat.sendMessage({ text: "Look" });
  await agent.waitForIdle();
  assertEquals([countRequests(), chat.status], [0, "ready"]);
});

Deno.test("automatic requests: a run that a policy ends before its first reply is interrupted", async () => {
  const agent = createAgent({
    streamFn: scriptedStream([reply("Hi")]),
    policies: [{ name: "budget", preTurn: () => ({ type: "stop", reason: "spent" }) }],
  });
  const { chat } = connect(agent);
  await chat.sendMessage({ text: "Look" });
  assertEquals(chat.chunks.at(-1), { type: "finish", finishReason: "interrupted" });
});

Deno.test("automatic requests: an answer that another page has sent before is refused, not repeated", async () => {
  const agent = createAgent({
    streamFn: scriptedStream([
      reply([toolCall("look", {}, { id: "c1" })]),
      reply([toolCall("look", {}, { id: "c2" })]),
    ]),
    approve: () => ({ type: "pending" }),
  });
  const { chat: first } = connect(agent);
  await first.sendMessage({ text: "Look" });
  const { chat: second, countRequests } = connect(
    agent,
    toUiMessages(agent.state.messages, agent.state),
  );
  for (const chat of [first, second]) {
    await chat.addToolApprovalResponse({ id: "c1", approved: true });
    await chat.untilIdle();
  }
  assertEquals([countRequests(), second.status], [1, "error"]);
  assert(second.error?.message.includes("waits for other approvals"), second.error?.message);
  assertEquals(agent.state.pendingApprovals.map(({ toolCallId }) => toolCallId), ["c2"]);
  // A message takes the place of all answers.
  second.messages = [...second.messages, {
    id: "m2",
    role: "user",
    parts: [{ type: "text", text: "Stop" }],
  }];
  await second.sendMessage();
  assertEquals(agent.state.pendingApprovals.length, 0);
  assert(agent.state.messages.some(({ id }) => id === "m2"));
});

Deno.test("automatic requests: a call that needs no answer does not hold back those of the others", async () => {
  for (const isLoaded of [false, true]) {
    const agent = createAgent({
      streamFn: scriptedStream([
        reply([
          toolCall("look", {}, { id: "c1" }),
          toolCall("pay", {}, { id: "c2" }),
          toolCall("delete", {}, { id: "c3" }),
        ]),
        reply("Done"),
      ]),
      tools: ["look", "pay", "delete"].map((name) => fakeTool({ name, result: "done" })),
      approve: ({ name }) => {
        if (name === "pay") return { type: "pending" };
        return name === "look" || { type: "denied", reason: "never" };
      },
    });
    const { chat: first } = connect(agent);
    await first.sendMessage({ text: "Pay" });
    const { chat } = isLoaded
      ? connect(agent, toUiMessages(agent.state.messages, agent.state))
      : { chat: first };
    // A page that asks again gets the same.
    await chat.sendMessage();
    const [automatic] = chat.parts;
    assertEquals(automatic?.type === "tool-look" && [automatic.state, automatic.approval], [
      "approval-responded",
      { id: "c1", approved: true, isAutomatic: true },
    ]);
    const requests = first.chunks.filter(({ type }) => type === "tool-approval-request");
    assertEquals(requests.length, isLoaded ? 2 : 4);
    await chat.addToolApprovalResponse({ id: "c2", approved: true });
    await chat.untilIdle();
    assertEquals(chat.parts.map((part) => "state" in part && part.state), [
      "output-available",
      "output-available",
      "output-error",
      "done",
    ]);
  }
});
