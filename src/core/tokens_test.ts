import { assert, assertEquals } from "@std/assert";
import {
  assistantMessage,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../testing/messages.ts";
import { type AgentMessage, userMessage } from "./message.ts";
import { estimateTextTokens, estimateTokens, estimateToolTokens } from "./tokens.ts";

Deno.test("four characters of English are about a token", () => {
  assertEquals(estimateTextTokens(""), 0);
  assertEquals(estimateTextTokens("a"), 1);
  assertEquals(estimateTextTokens("x".repeat(400)), 100);
});

Deno.test("other scripts take more tokens for fewer characters", () => {
  assertEquals(estimateTextTokens("日本語日本語"), 4);
  assertEquals(estimateTextTokens("日本語 and English"), 5);
});

Deno.test("a message counts all of its blocks, and a little around them", () => {
  const call = toolCall("bash", { command: "x".repeat(40) }, { id: "a" });
  const counted: [AgentMessage, number][] = [
    [userMessage("x".repeat(400), 0), 104],
    [assistantMessage([thinking("x".repeat(40)), text("x".repeat(40))]), 24],
    [assistantMessage([call]), 4 + 4 + 15],
    [toolResultMessage(call, "x".repeat(80)), 24],
    [{
      role: "user",
      content: [{ type: "image", source: { type: "url", url: "u" } }],
      timestamp: 0,
    }, 1204],
    [{ role: "custom", type: "note", data: "x".repeat(400), timestamp: 0 }, 4],
  ];
  for (const [message, tokens] of counted) assertEquals(estimateTokens(message), tokens);
});

Deno.test("extension blocks count, also those that JSON cannot carry", () => {
  const extended = (data: unknown) =>
    assistantMessage([{ type: "extension", typeName: "x", data }]);
  assertEquals(estimateTokens(extended({ encrypted: "x".repeat(83) })), 29);
  assertEquals(estimateTokens(extended(undefined)), 4);
});

Deno.test("a message is counted once", () => {
  let asked = 0;
  const message: AgentMessage = {
    role: "user",
    get content() {
      asked++;
      return [text("Hi")];
    },
    timestamp: 0,
  };
  assertEquals(estimateTokens(message), estimateTokens(message));
  assertEquals(asked, 1);
});

Deno.test("tools take the room of their names, descriptions and schemas", () => {
  assertEquals(estimateToolTokens([]), 0);
  const tool = { name: "bash", description: "Runs a command", parameters: { type: "object" } };
  const one = estimateToolTokens([tool]);
  assert(one > 8);
  assertEquals(estimateToolTokens([tool, tool]), 2 * one);
});
