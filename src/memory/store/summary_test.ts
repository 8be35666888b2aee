import { assertEquals } from "@std/assert";
import type { ContentBlock } from "../../core/messages/content.ts";
import { createHeader } from "./jsonl.ts";
import { SummaryBuilder } from "./summary.ts";

const image: ContentBlock = {
  type: "image",
  source: { type: "base64", mediaType: "image/png", data: "AAAA" },
};

Deno.test("SummaryBuilder: the first prompt is that of the first user message with text", () => {
  const builder = SummaryBuilder.from(createHeader({ id: "s", created: 1 }));
  const addMessage = (...content: ContentBlock[]) => {
    const message = { role: "user", content, timestamp: 2 } as const;
    builder.add({ type: "message", message, id: "e", parentId: null, timestamp: 2 });
  };
  addMessage(image);
  addMessage({ type: "text", text: " \n " });
  assertEquals("firstPrompt" in builder.build(0), false);
  addMessage(image, { type: "text", text: "Where\nis it?" });
  addMessage({ type: "text", text: "There" });
  assertEquals(builder.build(0).firstPrompt, "Where is it?");
});
