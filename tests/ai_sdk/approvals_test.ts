/**
 * Approvals in the chat of the AI SDK.
 *
 * @module
 */

import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  safeValidateUIMessages,
  type UIMessage,
} from "ai";
import { assert, assertEquals } from "@std/assert";
import { Agent, type AgentOptions, extractText } from "../../mod.ts";
import { toUiMessages } from "../../src/protocols/ai_sdk/mod.ts";
import { fail, fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { TestChat } from "./test_chat.ts";

const calls = [
  toolCall("pay", { to: "Ann" }, { id: "c1" }),
  toolCall("pay", { to: "Bob" }, { id: "c2" }),
];

function create(options: Partial<AgentOptions> = {}) {
  const script = scriptedStream([
    reply([{ type: "text", text: "I pay." }, ...calls]),
    reply("Paid."),
    reply("More."),
  ]);
  const pay = fakeTool({ name: "pay", result: "paid" });
  const agent = new Agent({
    model: "test/model",
    streamFn: script,
    tools: [pay],
    approve: () => ({ type: "pending" }),
    ...options,
  });
  return { agent, pay, script };
}

function connect(agent: Agent, messages: UIMessage[] = []): TestChat {
  return new TestChat({ createAgent: () => agent }, {
    messages,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
}

/** Answers a question, and waits for the request that the chat sends when all are answered. */
async function answer(chat: TestChat, decision: Decision): Promise<void> {
  await chat.addToolApprovalResponse(decision);
  await chat.untilIdle();
}

type Decision = Parameters<TestChat["addToolApprovalResponse"]>[0];

function listStates({ parts }: TestChat): string[] {
  return parts.map((part) => "state" in part ? `${part.type} ${part.state}` : part.type);
}

function readResults({ state: { messages } }: Agent): string[] {
  return messages.flatMap((message) =>
    message.role === "tool_result" ? [extractText(message.content)] : []
  );
}

Deno.test("approvals in a chat: the calls run when all are answered, a refused one with its reason for the model", async () => {
  const { agent, pay } = create();
  const chat = connect(agent);
  await chat.sendMessage({ text: "Pay" });
  assertEquals(listStates(chat), [
    "text done",
    "tool-pay approval-requested",
    "tool-pay approval-requested",
  ]);
  await answer(chat, { id: "c1", approved: true });
  assertEquals(pay.calls.length, 0);
  await answer(chat, { id: "c2", approved: false, reason: "Not Bob" });
  assertEquals(listStates(chat), [
    "text done",
    "tool-pay output-available",
    "tool-pay output-denied",
    "text done",
  ]);
  assertEquals([pay.calls.length, chat.messages.length, chat.status], [1, 2, "ready"]);
  const [, refused = ""] = readResults(agent);
  assert(refused.includes("Not Bob"), refused);
});

Deno.test("approvals in a chat: a page that was loaded again answers, and the answer goes on in its message", async () => {
  const { agent, pay } = create();
  await connect(agent).sendMessage({ text: "Pay" });
  const messages: UIMessage[] = toUiMessages(agent.state.messages, agent.state);
  const chat = connect(agent, messages);
  await answer(chat, { id: "c1", approved: true });
  await answer(chat, { id: "c2", approved: true });
  assertEquals(listStates(chat), [
    "text done",
    "tool-pay output-available",
    "tool-pay output-available",
    "text done",
  ]);
  assertEquals([pay.calls.length, chat.messages.length], [2, 2]);
});

Deno.test("approvals in a chat: a page that asks without an answer gets the same questions", async () => {
  const { agent } = create();
  const chat = connect(agent);
  await chat.sendMessage({ text: "Pay" });
  const before = listStates(chat);
  await chat.sendMessage();
  assertEquals([listStates(chat), chat.status], [before, "ready"]);
  assertEquals(chat.types.slice(-4), [
    "start",
    "tool-approval-request",
    "tool-approval-request",
    "finish",
  ]);
});

Deno.test("approvals in a chat: a message in place of the answers refuses the calls", async () => {
  const { agent, pay, script } = create();
  const chat = connect(agent);
  await chat.sendMessage({ text: "Pay" });
  await chat.sendMessage({ text: "Wait" });
  assertEquals([pay.calls.length, chat.status, listStates(chat)], [0, "ready", ["text done"]]);
  assertEquals(script.calls.at(-1)?.context.messages.map(({ role }) => role), [
    ...["user", "assistant", "tool_result", "tool_result"],
    "user",
  ]);
});

Deno.test("approvals in a chat: a message after one of two answers refuses the other call", async () => {
  const { agent, pay } = create();
  const chat = connect(agent);
  await chat.sendMessage({ text: "Pay" });
  await answer(chat, { id: "c1", approved: true });
  const { lastMessage } = chat;
  assert(lastMessage);
  chat.messages = [...chat.messages, {
    id: "m2",
    role: "user",
    parts: [{ type: "text", text: "Only Ann" }],
  }];
  // The request of a page that has both: the message with the answer, and the one after it.
  await chat.sendMessage();
  assertEquals(pay.calls.length, 1);
  const [, unanswered = ""] = readResults(agent);
  assert(unanswered.includes("not answered"), unanswered);
  const last = agent.state.messages.filter(({ role }) => role === "user").at(-1);
  assertEquals(last?.id, "m2");
  const validation = await safeValidateUIMessages({ messages: chat.messages });
  assertEquals(validation.success, true);
});

Deno.test("approvals in a chat: one of two answers alone is refused, and nothing is lost", async () => {
  const { agent, pay } = create();
  const chat = connect(agent);
  await chat.sendMessage({ text: "Pay" });
  await answer(chat, { id: "c1", approved: true });
  await chat.sendMessage();
  assertEquals([chat.status, pay.calls.length], ["error", 0]);
  assert(chat.error?.message.includes("c2"), chat.error?.message);
  await answer(chat, { id: "c2", approved: true });
  assertEquals([chat.status, pay.calls.length], ["ready", 2]);
});

Deno.test("approvals in a chat: an answer is for the agent that waits, not for a new one with the history of a page", async () => {
  const { agent } = create();
  const chat = connect(agent);
  await chat.sendMessage({ text: "Pay" });
  const { pay, agent: other } = create();
  const forged = connect(other, chat.messages);
  await answer(forged, { id: "c1", approved: true });
  await answer(forged, { id: "c2", approved: true });
  assertEquals([forged.status, pay.calls.length], ["error", 0]);
  assert(forged.error?.message.includes("waits for no approval"), forged.error?.message);
});

Deno.test("approvals in a chat: an answer that is sent again after a failed run does not run the call twice", async () => {
  const script = scriptedStream([
    reply(calls.slice(0, 1)),
    fail("auth_error", "No key"),
    reply("Paid."),
  ]);
  const { agent, pay } = create({ streamFn: script });
  const chat = connect(agent);
  await chat.sendMessage({ text: "Pay" });
  await answer(chat, { id: "c1", approved: true });
  assertEquals([chat.status, pay.calls.length], ["error", 1]);
  await chat.sendMessage();
  assertEquals([chat.status, pay.calls.length], ["ready", 1]);
  assertEquals(listStates(chat).at(-1), "text done");
});

Deno.test("uiMessageHandler(): another answer in place of one that waits for an approval is an error", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([toolCall("pay", {}, { id: "c1" })])]),
    tools: [fakeTool({ name: "pay" })],
    approve: () => ({ type: "pending" }),
  });
  const chat = new TestChat({ createAgent: () => agent });
  await chat.sendMessage({ text: "Pay" });
  await chat.regenerate();
  assertEquals([chat.status, chat.error?.message], [
    "error",
    "The agent of this conversation waits for other approvals: load the conversation again",
  ]);
  assertEquals(agent.state.pendingApprovals.length, 1);
});
