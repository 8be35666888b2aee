import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../../src/core/errors.ts";
import type { AssistantMessage } from "../../../src/core/message.ts";
import { zeroCost, zeroUsage } from "../../../src/core/usage.ts";
import { isOwnReply, toImageUrl } from "./history.ts";

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

Deno.test("toImageUrl(): returns a URL or a data: URL, and throws for a file", () => {
  const image = { type: "image" } as const;
  const url = "https://example.com/a.png";
  assertEquals(toImageUrl({ ...image, source: { type: "url", url } }), url);
  assertEquals(
    toImageUrl({ ...image, source: { type: "base64", mediaType: "image/png", data: "AA==" } }),
    "data:image/png;base64,AA==",
  );
  assertThrows(
    () => toImageUrl({ ...image, source: { type: "file", path: "a.png" } }),
    BadRequestError,
    "Image file a.png was not read: pass readFile to the agent",
  );
});
