import { assertEquals } from "@std/assert";
import { mergeNeighbors } from "./merge_neighbors.ts";

const user = (content: unknown) => ({ role: "user", content });
const reply = (content: unknown, fields: object = {}) => ({
  role: "assistant",
  content,
  ...fields,
});
const tool = { role: "tool", tool_call_id: "1", content: "x" };
const calls = { tool_calls: [{ id: "1" }] };

Deno.test("mergeNeighbors(): merges prompts, and replies of which the first has no calls", () => {
  assertEquals(mergeNeighbors([user("a"), user("b"), user("c")]), [user("a\n\nb\n\nc")]);
  assertEquals(mergeNeighbors([reply("a"), reply("b", calls)]), [reply("a\n\nb", calls)]);
  assertEquals(mergeNeighbors([reply("a"), reply(null, calls)]), [reply("a", calls)]);
  assertEquals(mergeNeighbors([reply(null), reply("b")]), [reply("b")]);
  const image = { type: "image_url", image_url: { url: "https://a.example/b.png" } };
  assertEquals(mergeNeighbors([user("a"), user([image])]), [
    user([{ type: "text", text: "a" }, image]),
  ]);
});

Deno.test("mergeNeighbors(): keeps results, and replies after calls", () => {
  for (
    const messages of [
      [user("a"), reply(null, calls), tool, tool, user("b")],
      [reply("a", calls), reply("b")],
      [{ role: "system", content: "a" }, { role: "system", content: "b" }, user("c"), reply("d")],
      [],
    ]
  ) assertEquals(mergeNeighbors(messages), messages);
});
