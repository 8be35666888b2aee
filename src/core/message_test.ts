import { assertEquals, assertNotStrictEquals } from "@std/assert";
import { assistantMessage, toolResultMessage } from "../testing/messages.ts";
import type { ImageBlock } from "./content.ts";
import { type AgentMessage, type LlmMessage, toAgentMessages, userMessage } from "./message.ts";

const image: ImageBlock = {
  type: "image",
  source: { type: "base64", mediaType: "image/png", data: "AA==" },
};

/** Compiles only as long as every message is told apart by its `role`. */
function describeMessage(message: AgentMessage): string {
  switch (message.role) {
    case "user":
      return `user says ${message.content.length}`;
    case "assistant":
      return `${message.provider} stopped with ${message.stopReason}`;
    case "tool_result":
      return `${message.toolName} answered ${message.toolCallId}`;
    case "custom":
      return `custom ${message.type}`;
  }
}

Deno.test("1.3 each kind of message is made as a literal and told apart by its role", () => {
  const llm: LlmMessage[] = [
    userMessage("Hi", 1),
    assistantMessage("Hello", { provider: "anthropic" }),
    toolResultMessage({ id: "a", name: "bash" }, "ok"),
  ];
  const messages: AgentMessage[] = [...llm, {
    role: "custom",
    type: "note",
    data: 1,
    timestamp: 1,
  }];
  assertEquals(messages.map(describeMessage), [
    "user says 1",
    "anthropic stopped with stop",
    "bash answered a",
    "custom note",
  ]);
});

Deno.test("a prompt may be a text, a text with images, a message, or messages", () => {
  const message = userMessage("Hi", 5);
  assertEquals(toAgentMessages("Hi", 5), [message]);
  assertEquals(toAgentMessages({ text: "Hi" }, 5), [message]);
  assertEquals(toAgentMessages({ text: "See", images: [image] }, 5), [
    { role: "user", content: [{ type: "text", text: "See" }, image], timestamp: 5 },
  ]);
  assertEquals(toAgentMessages(message, 9), [message]);
  assertEquals(toAgentMessages([message, message], 9), [message, message]);
  assertEquals(toAgentMessages([], 9), []);
});

Deno.test("a list of messages is copied, so that the caller's stays his own", () => {
  const list = [userMessage("Hi", 5)];
  assertNotStrictEquals(toAgentMessages(list, 5), list);
});
