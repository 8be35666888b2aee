import { assertEquals, assertStrictEquals } from "@std/assert";
import { agentLoop } from "../../loop/loop.ts";
import { fakeTool } from "../../testing/fake_tool.ts";
import { assistantMessage, toolResultMessage } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { type CustomMessage, type LlmMessage, userMessage } from "../messages/message.ts";
import { modelSpec } from "../models/model.ts";
import { type AgentContext, omitCustomMessages } from "./context.ts";

const note: CustomMessage = { role: "custom", type: "note", data: 1, timestamp: 0 };

Deno.test("AgentContext: its system prompt, messages and tools reach the model [1.10]", async () => {
  const lookup = fakeTool({ name: "lookup" });
  const context: AgentContext = {
    systemPrompt: "Be kind",
    messages: [userMessage("Hi", 0), note, assistantMessage("Hello")],
    tools: [lookup],
  };
  const streamFn = scriptedStream([reply("Fine")]);
  const config = { model: modelSpec("test/model"), streamFn };
  await Array.fromAsync(agentLoop([userMessage("How are you?", 0)], context, config));
  const request = streamFn.calls[0]?.context;
  assertEquals(request?.systemPrompt, "Be kind");
  assertEquals(request?.messages.map(({ role }) => role), ["user", "assistant", "user"]);
  assertEquals(request?.tools.map(({ name }) => name), ["lookup"]);
});

Deno.test("omitCustomMessages() omits custom messages and returns all others unchanged [1.3]", () => {
  const messages: LlmMessage[] = [
    userMessage("Hi", 0),
    assistantMessage("Hello"),
    toolResultMessage({ id: "a", name: "bash" }, "ok"),
  ];
  for (const message of messages) assertStrictEquals(omitCustomMessages(message), message);
  assertEquals(omitCustomMessages(note), null);
});
