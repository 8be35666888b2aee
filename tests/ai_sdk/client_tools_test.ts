/**
 * Tools that the page of a chat of the AI SDK runs.
 *
 * @module
 */

import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { assertEquals, assertThrows } from "@std/assert";
import { Agent, BadRequestError, extractText } from "../../mod.ts";
import { toUiMessages, uiMessageHandler } from "../../src/protocols/ai_sdk/mod.ts";
import { fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { TestChat } from "./test_chat.ts";

const clientTools = [{
  name: "locate",
  description: "Returns the place of the user.",
  parameters: { type: "object", properties: {} },
}];

Deno.test("uiMessageHandler(): a tool of the page ends the run, which its output continues", async () => {
  for (const isNew of [true, false]) {
    const script = scriptedStream([
      reply([{ type: "text", text: "Where?" }, toolCall("locate", {}, { id: "c1" })]),
      reply("You are in Bern."),
    ]);
    const create = () => new Agent({ model: "test/model", streamFn: script });
    const kept = create();
    const asked: string[] = [];
    const chat: TestChat = new TestChat(
      { createAgent: () => isNew ? create() : kept, clientTools },
      {
        sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
        onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
          asked.push(toolName);
          // Not awaited: the chat handles one chunk after the other.
          void chat.addToolOutput({ tool: toolName, toolCallId, output: { city: "Bern" } });
        },
      },
    );
    await chat.sendMessage({ text: "Where am I?" });
    await chat.untilIdle();
    assertEquals([asked, chat.status, chat.messages.length], [["locate"], "ready", 2]);
    const results = script.calls.at(-1)?.context.messages.flatMap((message) =>
      message.role === "tool_result" ? [extractText(message.content)] : []
    );
    assertEquals(results, ['{"city":"Bern"}']);
    assertEquals(chat.parts.map(({ type }) => type), ["text", "tool-locate", "text"]);
  }
});

/** Creates a chat that runs the tools of the page, and notes which calls it has run. */
function createChat(agent: Agent, output: unknown = { city: "Bern" }) {
  const asked: string[] = [];
  const chat: TestChat = new TestChat({ createAgent: () => agent, clientTools }, {
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithToolCalls(state) ||
      lastAssistantMessageIsCompleteWithApprovalResponses(state),
    onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
      if (toolName !== "locate") return;
      asked.push(toolCallId);
      void chat.addToolOutput({ tool: toolName, toolCallId, output });
    },
  });
  return { chat, asked };
}

/** Returns the states of the calls of a message. */
function listStates(message: Pick<UIMessage, "parts"> | undefined): string[] {
  return message?.parts.flatMap((part) => "toolCallId" in part ? [part.state] : []) ?? [];
}

const locate = toolCall("locate", { exact: true }, { id: "c1" });

Deno.test("uiMessageHandler(): a page runs a tool of its own after the approval of the call, with what was approved", async () => {
  for (const isApproved of [true, false]) {
    const script = scriptedStream([reply([locate]), reply("Thanks.")]);
    const agent = new Agent({
      model: "test/model",
      streamFn: script,
      approve: () => ({ type: "pending" }),
    });
    const { chat, asked } = createChat(agent);
    await chat.sendMessage({ text: "Where am I?" });
    await chat.untilIdle();
    const [part] = chat.parts;
    assertEquals(asked, []);
    assertEquals(part?.type === "tool-locate" && [part.state, part.input], [
      "approval-requested",
      { exact: true },
    ]);
    await chat.addToolApprovalResponse({ id: "c1", approved: isApproved });
    await chat.untilIdle();
    const results = script.calls.at(-1)?.context.messages.flatMap((message) =>
      message.role === "tool_result" ? [extractText(message.content)] : []
    );
    assertEquals(asked, isApproved ? ["c1"] : []);
    assertEquals(results, [isApproved ? '{"city":"Bern"}' : "Tool call rejected by approval"]);
    assertEquals(chat.parts.map(({ type }) => type), ["tool-locate", "text"]);
  }
});

Deno.test("uiMessageHandler(): a page does not run a tool of its own whose call the agent refuses", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([locate]), reply("I see.")]),
    policies: [{ name: "private", preDispatch: () => ({ type: "skip", reason: "not now" }) }],
  });
  const { chat, asked } = createChat(agent);
  await chat.sendMessage({ text: "Where am I?" });
  await chat.untilIdle();
  const [part] = chat.parts;
  assertEquals([asked, part?.type === "tool-locate" && part.state], [[], "output-error"]);
  const { input, rawInput } = JSON.parse(JSON.stringify(part));
  assertEquals([input, rawInput], [{ exact: true }, undefined]);
});

Deno.test("uiMessageHandler(): a page sends the output of its tool with the answers to other calls", async () => {
  const script = scriptedStream([
    reply([locate, toolCall("pay", {}, { id: "c2" })]),
    reply("Thanks."),
  ]);
  const agent = new Agent({
    model: "test/model",
    streamFn: script,
    tools: [fakeTool({ name: "pay" })],
    approve: ({ name }) => name === "locate" || { type: "pending" },
  });
  const { chat, asked } = createChat(agent, "in Bern");
  await chat.sendMessage({ text: "Pay here" });
  await chat.untilIdle();
  assertEquals(asked, ["c1"]);
  // A page that is loaded now does not know yet that the tool is its own.
  assertEquals(listStates(toUiMessages(agent.state.messages, agent.state).at(-1)), [
    "approval-responded",
    "approval-requested",
  ]);
  await chat.addToolApprovalResponse({ id: "c2", approved: false });
  await chat.untilIdle();
  assertEquals(listStates(chat.lastMessage), ["output-available", "output-denied"]);
  const outputs = chat.chunks.filter(({ type }) => type === "tool-output-available");
  assertEquals([asked, outputs, script.calls.length], [["c1"], [], 2]);
});

Deno.test("toUiMessages(): a call that waits for the page has no result", async () => {
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([reply([locate])]) });
  const chat = new TestChat({ createAgent: () => agent, clientTools });
  await chat.sendMessage({ text: "Where am I?" });
  assertEquals(listStates(chat.lastMessage), ["input-available"]);
  assertEquals(listStates(toUiMessages(agent.state.messages).at(-1)), ["input-available"]);
});

Deno.test("toUiMessages(): a page that is loaded again has the outputs of its own tools as it has sent them", async () => {
  const script = scriptedStream([reply([locate]), reply("You are in Bern."), reply("Yes.")]);
  const kept = new Agent({ model: "test/model", streamFn: script });
  const { chat } = createChat(kept);
  await chat.sendMessage({ text: "Where am I?" });
  await chat.untilIdle();
  const sent = chat.parts[0];
  const [, answer] = toUiMessages(kept.state.messages);
  assertEquals(sent?.type === "tool-locate" && sent.output, { city: "Bern" });
  assertEquals(answer?.parts[1], {
    type: "tool-locate",
    toolCallId: "c1",
    input: { exact: true },
    state: "output-available",
    output: { city: "Bern" },
  });
  // An agent that gets the history of the page has the same.
  const agent = new Agent({ model: "test/model", streamFn: script });
  const other = new TestChat({ createAgent: () => agent, clientTools }, {
    messages: chat.messages,
  });
  await other.sendMessage({ text: "Sure?" });
  assertEquals(toUiMessages(agent.state.messages)[1]?.parts[1], answer?.parts[1]);
});

Deno.test("uiMessageHandler(): an invalid tool of the page is refused when the handler is made", () => {
  const createAgent = () => new Agent({ model: "test/model" });
  for (
    const tool of [{}, { ...clientTools[0], parameters: 1 }, { ...clientTools[0], description: 1 }]
  ) {
    assertThrows(
      () => uiMessageHandler({ createAgent, clientTools: [tool as never] }),
      BadRequestError,
    );
  }
});
