/**
 * Tools that the page of a chat of the AI SDK runs.
 *
 * @module
 */

import { lastAssistantMessageIsCompleteWithToolCalls } from "ai";
import { assertEquals, assertThrows } from "@std/assert";
import { Agent, BadRequestError, extractText } from "../../mod.ts";
import { uiMessageHandler } from "../../src/protocols/ai_sdk/mod.ts";
import { reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
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
