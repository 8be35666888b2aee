import { assert, assertEquals, assertNotStrictEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../errors/errors.ts";
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

Deno.test("userMessage() has the current time by default, and refuses what is no text or time", () => {
  const before = Date.now();
  const { timestamp } = userMessage("Hi");
  assert(timestamp >= before && timestamp <= Date.now());
  const invalid = [[undefined], [["Hi"]], ["Hi", new Date(0)], ["Hi", NaN], ["Hi", "0"]];
  for (const input of invalid) {
    const create = userMessage as (...input: unknown[]) => unknown;
    assertThrows(() => create(...input), BadRequestError, " message");
  }
});
