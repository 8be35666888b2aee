import { assertEquals, assertNotStrictEquals } from "@std/assert";
import type { ImageBlock } from "./content.ts";
import { toAgentMessages, userMessage } from "./message.ts";

const image: ImageBlock = {
  type: "image",
  source: { type: "base64", mediaType: "image/png", data: "AA==" },
};

Deno.test("toAgentMessages() accepts a string, text with images, a message and messages", () => {
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

Deno.test("toAgentMessages() copies an array of messages", () => {
  const list = [userMessage("Hi", 5)];
  assertNotStrictEquals(toAgentMessages(list, 5), list);
});
