import { assert, assertEquals } from "@std/assert";
import {
  assistantMessage,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../../testing/messages.ts";
import { type AgentMessage, userMessage } from "../messages/message.ts";
import { estimateTextTokens, estimateTokens, estimateToolTokens } from "./tokens.ts";

Deno.test("estimateTextTokens() counts four ASCII characters as a token", () => {
  assertEquals(estimateTextTokens(""), 0);
  assertEquals(estimateTextTokens("a"), 1);
  assertEquals(estimateTextTokens("x".repeat(400)), 100);
});

Deno.test("estimateTextTokens() counts 1.5 other characters as a token", () => {
  assertEquals(estimateTextTokens("日本語日本語"), 4);
  assertEquals(estimateTextTokens("éüßøéüßøéüß\x80"), 8);
  assertEquals(estimateTextTokens("\x7f".repeat(8)), 2);
  assertEquals(estimateTextTokens("日本語 and English"), 5);
});

Deno.test("estimateTokens() counts all blocks and an overhead per message", () => {
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

Deno.test("estimateTokens() estimates documents and audio by their data, and by an average without it", () => {
  const estimate = (block: object): number => {
    const content = [{ source: { type: "base64", data: "A".repeat(64_000) }, ...block }];
    return estimateTokens({ role: "user", content, timestamp: 0 } as unknown as AgentMessage);
  };
  const url = { source: { type: "url", url: "https://example.com/a" } };
  const blocks = [
    { type: "document", mediaType: "text/plain" },
    { type: "document", mediaType: "application/pdf" },
    { type: "audio", mediaType: "audio/wav" },
  ];
  // Each message has 4 tokens in addition.
  const known = [64_000 / 5.3, 64_000 / 33, 64_000 / 680].map((tokens) => Math.ceil(tokens) + 4);
  assertEquals(blocks.map(estimate), known);
  assertEquals(blocks.map((block) => estimate({ ...block, ...url })), [2_004, 2_004, 1_004]);
});

Deno.test("estimateTokens() counts extension blocks, and 0 for data without JSON form", () => {
  const createExtended = (data: unknown) =>
    assistantMessage([{ type: "extension", typeName: "x", data }]);
  assertEquals(estimateTokens(createExtended({ encrypted: "x".repeat(83) })), 29);
  assertEquals(estimateTokens(createExtended(undefined)), 4);
});

Deno.test("estimateTokens() caches the estimate of a message", () => {
  let reads = 0;
  const message: AgentMessage = {
    role: "user",
    get content() {
      reads++;
      return [text("Hi")];
    },
    timestamp: 0,
  };
  assertEquals(estimateTokens(message), estimateTokens(message));
  assertEquals(reads, 1);
});

Deno.test("estimateToolTokens() counts names, descriptions and schemas", () => {
  assertEquals(estimateToolTokens([]), 0);
  const tool = { name: "bash", description: "Runs a command", parameters: { type: "object" } };
  const tokens = estimateToolTokens([tool]);
  assert(tokens > 8);
  assertEquals(estimateToolTokens([tool, tool]), 2 * tokens);
});
