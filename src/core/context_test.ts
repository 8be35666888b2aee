import { assertEquals, assertStrictEquals } from "@std/assert";
import { fakeTool } from "../testing/fake_tool.ts";
import { assistantMessage } from "../testing/messages.ts";
import { type AgentContext, omitCustomMessages } from "./context.ts";
import { type AgentMessage, userMessage } from "./message.ts";

Deno.test("1.10 a context holds messages of every kind, and tools", () => {
  const context: AgentContext = {
    systemPrompt: "Be kind",
    messages: [userMessage("Hi", 0), { role: "custom", type: "note", data: 1, timestamp: 0 }],
    tools: [fakeTool({ name: "lookup" })],
  };
  assertEquals(context.messages.length, 2);
  assertEquals(context.tools[0]?.name, "lookup");
});

Deno.test("by default the model sees every message but the application's own", () => {
  const messages: AgentMessage[] = [userMessage("Hi", 0), assistantMessage("Hello")];
  for (const message of messages) assertStrictEquals(omitCustomMessages(message), message);
  assertEquals(omitCustomMessages({ role: "custom", type: "note", data: 1, timestamp: 0 }), null);
});
