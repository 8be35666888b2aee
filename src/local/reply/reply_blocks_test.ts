import { assertEquals } from "@std/assert";
import { BlockWriter } from "../../core/streams/block_writer.ts";
import { ReplyBlocks } from "./reply_blocks.ts";

function createBlocks(): ReplyBlocks {
  return new ReplyBlocks(new BlockWriter(() => {}), () => "call_1");
}

Deno.test("ReplyBlocks: returns the content of a reply", () => {
  const blocks = createBlocks();
  blocks.writeThinking("Hm");
  blocks.writeText("Hello");
  blocks.writeText(" you");
  blocks.open("f");
  blocks.writeArguments('{"a":');
  blocks.writeArguments(" 1}");
  blocks.close();
  assertEquals(blocks.getContent(), [
    { type: "thinking", thinking: "Hm" },
    { type: "text", text: "Hello you" },
    { type: "tool_call", id: "", name: "f", arguments: { a: 1 } },
  ]);
});

Deno.test("ReplyBlocks: has no content for a reply without parts or with incomplete arguments", () => {
  assertEquals(createBlocks().getContent(), undefined);
  for (const args of ["", '{"path": "secret', "[]"]) {
    const blocks = createBlocks();
    blocks.writeText("Hello");
    blocks.open("f");
    blocks.writeArguments(args);
    assertEquals(blocks.getContent(), undefined, args);
  }
});
