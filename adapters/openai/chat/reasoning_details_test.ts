import { assertEquals } from "@std/assert";
import { ReasoningDetails } from "./reasoning_details.ts";
import type { WireReasoningDetail } from "./wire.ts";

function collect(...chunks: readonly WireReasoningDetail[][]): readonly WireReasoningDetail[] {
  const details = new ReasoningDetails();
  for (const pieces of chunks) details.append(pieces);
  return details.getReplayDetails();
}

Deno.test("ReasoningDetails: joins the pieces of a detail, and keeps what later pieces lack", () => {
  const text = { type: "reasoning.text", index: 0 };
  assertEquals(
    collect(
      [{ ...text, text: "H", format: "anthropic-claude-v1", id: "r" }],
      [{ ...text, text: "m.", format: null, id: null }],
      [{ ...text, signature: "c2ln" }],
    ),
    [{ ...text, text: "Hm.", format: "anthropic-claude-v1", id: "r", signature: "c2ln" }],
  );
});

Deno.test("ReasoningDetails: a piece of another type or index is another detail", () => {
  const encrypted = { type: "reasoning.encrypted", index: 0, data: "QQ" };
  const summary = { type: "reasoning.summary", index: 0, summary: "a" };
  assertEquals(
    collect([summary, { ...summary, index: 1 }, encrypted, { ...encrypted, data: "==" }]),
    [summary, { ...summary, index: 1 }, { ...encrypted, data: "QQ==" }],
  );
});

Deno.test("ReasoningDetails: a piece with another id is another detail, as the signature of another call", () => {
  const encrypted = { type: "reasoning.encrypted", index: 0, data: "QQ==", id: "call_1" };
  const other = { ...encrypted, data: "Qg==", id: "call_2" };
  assertEquals(collect([encrypted], [other]), [encrypted, other]);
});

Deno.test("ReasoningDetails: the pieces of a text are joined when each has its own id", () => {
  const text = { type: "reasoning.text", index: 0 };
  assertEquals(
    collect([{ ...text, text: "H", id: "1" }], [{ ...text, text: "m.", id: "2", signature: "c2" }]),
    [{ ...text, text: "Hm.", id: "2", signature: "c2" }],
  );
});

Deno.test("ReasoningDetails: details that are neither encrypted nor signed are not sent back", () => {
  assertEquals(collect([{ type: "reasoning.text", text: "Hm.", signature: null }]), []);
  assertEquals(collect([{ type: "reasoning.summary", summary: "Hm.", data: "" }]), []);
  assertEquals(collect(), []);
});
