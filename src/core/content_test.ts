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

/** Compiles only as long as every kind of block is told apart by its `type`. */
function describeBlock(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking;
    case "tool_call":
      return block.name;
    case "image":
      return block.source.type;
    case "extension":
      return block.typeName;
  }
}

Deno.test("1.2 blocks of every kind are made as literals and told apart by their type", () => {
  assertEquals(blocks.map(describeBlock), [
    "Hm",
    "Hello, ",
    "read_file",
    "url",
    "world",
    "openai.reasoning",
    "bash",
  ]);
});

Deno.test("extractText joins the text blocks and leaves all others out", () => {
  assertEquals(extractText(blocks), "Hello, world");
  assertEquals(extractText([]), "");
});

Deno.test("toolCallsOf gives the calls in order", () => {
  assertEquals(extractToolCalls(blocks).map(({ id }) => id), ["a", "b"]);
});
