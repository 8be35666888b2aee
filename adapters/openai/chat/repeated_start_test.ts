import { assertEquals } from "@std/assert";
import type { ContentBlock } from "../../../src/core/messages/content.ts";
import { createReply, prompt } from "../../../tests/adapters/rich_conversation.ts";
import { getContinuedText, RepeatedStart } from "./repeated_start.ts";

function read(start: string, ...pieces: readonly string[]): string {
  const filter = new RepeatedStart(start);
  return pieces.map((piece) => filter.take(piece)).join("") + filter.end();
}

Deno.test("RepeatedStart: omits the whole start in pieces of any length, once", () => {
  for (
    const pieces of [["One, two."], ["One, ", "two."], [..."One, two."], ["", "One, t", "wo."]]
  ) {
    assertEquals(read("One, ", ...pieces), "two.");
  }
  assertEquals(read("One, ", "One, One, two."), "One, two.");
  assertEquals(read("One, ", "One, ", "One, "), "One, ");
  assertEquals(read("One, ", "One, "), "");
});

Deno.test("RepeatedStart: changes no reply that starts otherwise", () => {
  for (const pieces of [["two."], ["On", "ce."], ["One"], ["O", "n"], [""], []]) {
    assertEquals(read("One, ", ...pieces), pieces.join(""));
  }
  assertEquals(read("", "One, ", "two."), "One, two.");
});

Deno.test("getContinuedText(): is the text of a reply without calls at the end", () => {
  const model = { provider: "mistral", modelId: "m" };
  const text = (value: string): ContentBlock => ({ type: "text", text: value });
  const call: ContentBlock = { type: "tool_call", id: "1", name: "look", arguments: {} };
  assertEquals(getContinuedText([prompt("Hi"), createReply(model, [text("One, ")])]), "One, ");
  assertEquals(getContinuedText([createReply(model, [text("One, "), call])]), "");
  assertEquals(getContinuedText([createReply(model, [text("  ")])]), "");
  assertEquals(getContinuedText([createReply(model, [text("One")]), prompt("Hi")]), "");
  assertEquals(getContinuedText([]), "");
});
