import { assertEquals } from "@std/assert";
import { type ContentBlock, extractText, extractToolCalls } from "./content.ts";

const blocks: readonly ContentBlock[] = [
  { type: "thinking", thinking: "Hm", signature: "s" },
  { type: "text", text: "Hello, " },
  { type: "tool_call", id: "a", name: "read_file", arguments: { path: "x" } },
  { type: "image", source: { type: "url", url: "https://example.com/cat.png" } },
  { type: "text", text: "world" },
  { type: "extension", typeName: "openai.reasoning", data: { encrypted: "…" } },
  { type: "tool_call", id: "b", name: "bash", arguments: {} },
];

Deno.test("extractText() concatenates text blocks and ignores the other types [1.2]", () => {
  assertEquals(extractText(blocks), "Hello, world");
  assertEquals(extractText([]), "");
});

Deno.test("extractToolCalls() returns the tool calls in order [1.2]", () => {
  assertEquals(extractToolCalls(blocks).map(({ id }) => id), ["a", "b"]);
});
