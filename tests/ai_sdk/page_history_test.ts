/**
 * Histories of pages, as agents get them.
 *
 * @module
 */

import { safeValidateUIMessages, type UIMessage } from "ai";
import { assert, assertEquals } from "@std/assert";
import { Agent, type AgentMessage, defineTool, extractText, userMessage } from "../../mod.ts";
import { toUiMessages } from "../../src/protocols/ai_sdk/mod.ts";
import { fail, fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { TestChat } from "./test_chat.ts";

function createUserMessage(id: string, text: string): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

/** Returns the messages that a new agent sends to the model for a page with these parts in its answer. */
async function readHistory(parts: readonly unknown[]): Promise<readonly AgentMessage[]> {
  const script = scriptedStream([reply("Hi")]);
  const answer = { id: "a", role: "assistant", parts } as UIMessage;
  const agent = new Agent({ model: "test/model", streamFn: script });
  const chat = new TestChat({ createAgent: () => agent }, {
    messages: [createUserMessage("u", "Hello"), answer],
  });
  await chat.sendMessage({ text: "And now?" });
  assertEquals(chat.status, "ready");
  return script.calls[0]?.context.messages ?? [];
}

async function readResults(parts: readonly unknown[]): Promise<string[]> {
  const messages = await readHistory(parts);
  return messages.flatMap((message) =>
    message.role === "tool_result" ? [extractText(message.content)] : []
  );
}

const call = { type: "tool-look", toolCallId: "c1", input: {} };

Deno.test("page history: a part of a result is none", async () => {
  const [text = ""] = await readResults([
    { ...call, state: "output-available", output: "half", preliminary: true },
  ]);
  assert(text.includes("was lost"), text);
});

Deno.test("page history: the model reads why a call did not run", async () => {
  const approval = { id: "c1", approved: false, reason: "Not today" };
  assertEquals(await readResults([{ ...call, state: "output-denied", approval }]), [
    "Tool call rejected by approval: Not today",
  ]);
  assertEquals(await readResults([{ ...call, state: "output-denied" }]), [
    "Tool call rejected by approval",
  ]);
  const waiting = { ...call, state: "approval-requested", approval: { id: "c1" } };
  assertEquals(await readResults([waiting]), ["Tool call not run: not approved"]);
});

Deno.test("page history: a call that was cut off was never made", async () => {
  const parts = [{ ...call, state: "input-streaming" }, { type: "text", text: "So" }];
  assertEquals((await readHistory(parts)).map(({ role }) => role), ["user", "assistant", "user"]);
});

Deno.test("page history: replies and results have ids of their own", async () => {
  const parts = ["2", "3"].flatMap((toolCallId) => [
    { type: "step-start" },
    { ...call, toolCallId, state: "output-available", output: 1 },
  ]);
  const messages = await readHistory([...parts, { type: "step-start" }, {
    type: "text",
    text: "So",
  }]);
  assertEquals(new Set(messages.map(({ id }) => id)).size, messages.length);
});

Deno.test("page history: metadata that is nested too deeply is refused with its position", async () => {
  let metadata: Record<string, unknown> = {};
  for (let depth = 0; depth < 300; depth++) metadata = { metadata };
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hi")]) });
  const chat = new TestChat({ createAgent: () => agent });
  await chat.sendMessage({ text: "Hello", metadata });
  assertEquals(chat.status, "error");
  assert(chat.error?.message.includes("messages[0].metadata is nested"), chat.error?.message);
});

Deno.test("page history: an agent with a history refuses a changed message, and answers one that is sent again", async () => {
  const script = scriptedStream([fail("auth_error", "No key"), reply("Hi")]);
  const agent = new Agent({ model: "test/model", streamFn: script });
  const chat = new TestChat({ createAgent: () => agent });
  await chat.sendMessage({ text: "Helo" });
  const { id } = chat.messages[0] ?? { id: "" };
  await chat.sendMessage({ text: "Hello", messageId: id });
  assert(chat.error?.message.includes("keeps its messages"), chat.error?.message);
  await chat.sendMessage({ text: "Helo", messageId: id });
  assertEquals([chat.status, script.calls.length], ["ready", 2]);
});

Deno.test("page history: an agent with a history does not answer the earlier file of a changed message", async () => {
  const script = scriptedStream([fail("auth_error", "No key"), reply("Hi")]);
  const agent = new Agent({ model: "test/model", streamFn: script });
  const chat = new TestChat({ createAgent: () => agent });
  const createParts = (data: string) => {
    const url = `data:image/png;base64,${data}`;
    return [
      { type: "file", mediaType: "image/png", filename: "a.png", url } as const,
      { type: "text", text: "What is it?" } as const,
    ];
  };
  const parts = createParts("AAAA");
  await chat.sendMessage({ parts });
  const { id = "" } = chat.messages[0] ?? {};
  for (const changed of [createParts("BBBB"), parts.slice(0, 1), [...parts, ...parts.slice(1)]]) {
    await chat.sendMessage({ parts: changed, messageId: id });
    assert(chat.error?.message.includes("keeps its messages"), chat.error?.message);
  }
  await chat.sendMessage({ parts, messageId: id });
  assertEquals([chat.status, script.calls.length], ["ready", 2]);
});

Deno.test("page history: a page that sends only the new messages reaches an agent with a history", async () => {
  for (const name of ["messages", "message"]) {
    const script = scriptedStream([
      reply([toolCall("pay", {}, { id: "c1" })]),
      reply("Paid"),
      reply("Yes"),
    ]);
    const agent = new Agent({
      model: "test/model",
      streamFn: script,
      tools: [fakeTool({ name: "pay", result: "paid" })],
      approve: () => ({ type: "pending" }),
    });
    const chat = new TestChat({ createAgent: () => agent }, {
      prepareBody: ({ id, messages, trigger, messageId }) => ({
        id,
        trigger,
        messageId,
        [name]: name === "messages" ? messages.slice(-1) : messages.at(-1),
      }),
    });
    await chat.sendMessage({ text: "Pay" });
    await chat.addToolApprovalResponse({ id: "c1", approved: true });
    await chat.sendMessage();
    await chat.sendMessage({ text: "Sure?" });
    assertEquals([chat.status, chat.messages.length], ["ready", 4]);
    assertEquals(script.calls.at(-1)?.context.messages.map(({ role }) => role), [
      ...["user", "assistant", "tool_result", "assistant"],
      "user",
    ]);
  }
});

Deno.test("toUiMessages(): a message that has only files of the server is left out", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply("A cat")]),
    readFile: () => Promise.resolve(new Uint8Array([1])),
  });
  const source = { type: "file", path: "/secret/cat.png" } as const;
  await agent.prompt({ role: "user", content: [{ type: "image", source }], timestamp: 0 });
  const messages = toUiMessages(agent.state.messages);
  assertEquals(messages.map(({ role }) => role), ["assistant"]);
  assertEquals((await safeValidateUIMessages({ messages })).success, true);
});

Deno.test("toUiMessages(): a reply without a content is no step", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([fail("auth_error", "No key"), reply("Hi")]),
  });
  await agent.prompt("Hello");
  await agent.continue();
  const [, answer] = toUiMessages(agent.state.messages);
  assertEquals(answer?.parts.map(({ type }) => type), ["step-start", "text"]);
});

Deno.test("uiMessageHandler(): a message that was queued before the run is in the answer, which has the id of the reply", async () => {
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hi")]) });
  agent.steer("Be brief");
  const chat = new TestChat({ createAgent: () => agent });
  await chat.sendMessage({ text: "Hello" });
  assertEquals(chat.lastMessage?.parts.map(({ type }) => type), [
    "steering-message",
    "step-start",
    "text",
  ]);
  assertEquals(chat.lastMessage?.id, agent.state.messages.at(-1)?.id);
});

Deno.test("uiMessageHandler(): a page does not get the messages of a compaction", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply("Hi")]),
    transformContext: (messages) => ({
      messages,
      report: {
        droppedCount: 1,
        tokensBefore: 2,
        tokensAfter: 1,
        droppedMessages: [userMessage("Secret")],
      },
    }),
  });
  const data: unknown[] = [];
  const chat = new TestChat({ createAgent: () => agent }, {
    onData: (part) => void data.push(part),
  });
  await chat.sendMessage({ text: "Hello" });
  assertEquals(data, [{
    type: "data-swink-context_compacted",
    data: { droppedCount: 1, tokensBefore: 2, tokensAfter: 1 },
    transient: true,
  }]);
});

Deno.test("uiMessageHandler(): a page does not get the texts of warnings, which name files of the server", async () => {
  const draw = defineTool({
    name: "draw",
    description: "Draws.",
    parameters: {},
    execute: () => ({
      content: [{ type: "image", source: { type: "file", path: "/secret/cat.png" } }],
    }),
  });
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([toolCall("draw")]), reply("Done")]),
    tools: [draw],
    readFile: () => Promise.reject(new Error("No such file: /secret/cat.png")),
  });
  const data: unknown[] = [];
  const chat = new TestChat({ createAgent: () => agent }, {
    onData: (part) => void data.push(part),
  });
  await chat.sendMessage({ text: "Draw" });
  assertEquals(data, [
    { type: "data-swink-warning", data: { code: "file_not_read" }, transient: true },
  ]);
  assert(!JSON.stringify(chat.chunks).includes("secret"));
});

Deno.test("uiMessageHandler(): a failure of messageMetadata is an error without its text", async () => {
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hi")]) });
  const chat = new TestChat({
    createAgent: () => agent,
    messageMetadata: () => {
      throw new Error("secret");
    },
  });
  await chat.sendMessage({ text: "Hello" });
  assertEquals([chat.status, chat.error?.message], ["error", "The answer could not be sent"]);
});
