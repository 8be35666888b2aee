import { assertEquals } from "@std/assert";
import { type ImageBlock, type UserMessage, userMessage } from "../../mod.ts";
import { toAgentMessages } from "../../src/core/messages/message.ts";
import { addHookOutput, appendHookOutput, getTextWithoutHooks } from "./hook_output.ts";

const IMAGE: ImageBlock = {
  type: "image",
  source: { type: "url", url: "https://example.com/a.png" },
};

Deno.test("addHookOutput() adds to the text of a prompt, which can be had without it", () => {
  for (const input of ["Typed", { text: "Typed" }, { text: "Typed", images: [IMAGE] }]) {
    const [message] = toAgentMessages(addHookOutput(input, "Branch: main"), 0);
    const { content, metadata } = message as UserMessage;
    const images = typeof input === "object" && input.images ? [IMAGE] : [];
    assertEquals(content, [{ type: "text", text: "Typed\n\nBranch: main" }, ...images]);
    assertEquals(getTextWithoutHooks({ role: "user", content, metadata, timestamp: 0 }), "Typed");
    assertEquals(addHookOutput(input, ""), input);
  }
});

Deno.test("appendHookOutput() adds a block to a message, whose text can be had without it", () => {
  const message = { ...userMessage("Typed", 0), id: "1", metadata: { note: true } };
  const added = appendHookOutput(message, "Branch: main");
  assertEquals(added.content.at(-1), { type: "text", text: "Branch: main" });
  assertEquals([added.id, added.metadata?.note], ["1", true]);
  assertEquals(getTextWithoutHooks(added), "Typed");
  assertEquals(appendHookOutput(message, ""), message);
});

Deno.test("getTextWithoutHooks() returns the complete text where the length of the output is invalid", () => {
  for (const hookOutputLength of [0, -1, 5, 1e9, 1.5, "2", null]) {
    const message = { ...userMessage("Typed", 0), metadata: { hookOutputLength } };
    assertEquals(getTextWithoutHooks(message), "Typed");
  }
});
