import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../../src/core/errors/errors.ts";
import type { ContentBlock } from "../../../src/core/messages/content.ts";
import type { AssistantMessage } from "../../../src/core/messages/message.ts";
import { zeroCost, zeroUsage } from "../../../src/core/models/usage.ts";
import { assistantMessage, toolCall } from "../../../src/testing/messages.ts";
import { createCallIdEncoder, isOwnReply, toResultText } from "./history.ts";
import { toMediaUrl } from "./media.ts";

function createReply(provider: string, modelId: string): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    provider,
    modelId,
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: "stop",
    timestamp: 0,
  };
}

Deno.test("isOwnReply(): requires the same model and provider, under any name of the provider", () => {
  const model = { provider: "gemini", modelId: "gemini-2.5-pro", thinkingLevel: "off" } as const;
  assertEquals(isOwnReply(createReply("gemini", "gemini-2.5-pro"), model), true);
  assertEquals(isOwnReply(createReply("google", "gemini-2.5-pro"), model), true);
  assertEquals(isOwnReply(createReply("google", "gemini-2.5-flash"), model), false);
  assertEquals(isOwnReply(createReply("openrouter", "gemini-2.5-pro"), model), false);
});

Deno.test("toMediaUrl(): returns a URL or a data: URL, and throws for a file", () => {
  const image = { type: "image" } as const;
  const url = "https://example.com/a.png";
  assertEquals(toMediaUrl({ ...image, source: { type: "url", url } }), url);
  assertEquals(
    toMediaUrl({ ...image, source: { type: "base64", mediaType: "image/png", data: "AA==" } }),
    "data:image/png;base64,AA==",
  );
  assertThrows(
    () => toMediaUrl({ ...image, source: { type: "file", path: "a.png" } }),
    BadRequestError,
    "The image file a.png was not read: pass readFile to the agent",
  );
});

Deno.test("createCallIdEncoder(): encodes the call ids of other models and keeps those of the model itself", () => {
  const model = { provider: "kimi", modelId: "k2", thinkingLevel: "off" } as const;
  const createCall = (id: string) => [toolCall("search", {}, { id })];
  const messages = [
    assistantMessage(createCall("functions.search:0"), { provider: "kimi", modelId: "k2" }),
    assistantMessage(createCall("toolu_1|x"), { provider: "anthropic", modelId: "claude" }),
  ];
  const encode = createCallIdEncoder(messages, model, (id) => id.replaceAll(/\W/g, "_"));
  assertEquals(["functions.search:0", "toolu_1|x"].map(encode), [
    "functions.search:0",
    "toolu_1_x",
  ]);
});

Deno.test("toResultText(): marks errors once, and describes media and missing output", () => {
  const toText = (isError: boolean, ...content: ContentBlock[]) =>
    toResultText({
      role: "tool_result",
      toolCallId: "1",
      toolName: "look",
      content,
      isError,
      timestamp: 0,
    });
  const text = (text: string): ContentBlock => ({ type: "text", text });
  const source = { type: "base64", data: "AAAA" } as const;
  const image: ContentBlock = { type: "image", source: { ...source, mediaType: "image/png" } };
  const audio: ContentBlock = { type: "audio", mediaType: "audio/wav", source };
  assertEquals(toText(true, text("No such file")), "Error: No such file");
  assertEquals(toText(true, text("error: no such file")), "error: no such file");
  assertEquals(toText(true), "Error: (no output)");
  assertEquals(toText(false, text("a"), text(" "), image, text("b")), "a\n\nb");
  assertEquals(toText(false, text("\n")), "(no output)");
  assertEquals(toText(false, image), "(see the images)");
  assertEquals(toText(false, image, audio), "(see the attachments)");
});
