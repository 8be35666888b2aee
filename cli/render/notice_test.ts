import { assertEquals } from "@std/assert";
import type { CompactionReport } from "../../src/core/messages/compaction_report.ts";
import { getNotice } from "./notice.ts";

function getCompactionNotice(report: Partial<CompactionReport>): string | undefined {
  return getNotice({
    type: "context_compacted",
    report: { droppedCount: 3, tokensBefore: 900, tokensAfter: 300, ...report },
  });
}

Deno.test("getNotice() states which messages a compaction has omitted, and why there is no summary", () => {
  const problem = "No summary was written: overloaded";
  assertEquals(
    getCompactionNotice({ summary: "They talked." }),
    "the context was compacted: a summary replaces 3 earlier messages",
  );
  assertEquals(
    getCompactionNotice({ droppedCount: 1 }),
    "the context was compacted: requests omit 1 earlier message",
  );
  assertEquals(
    getCompactionNotice({ problem }),
    `the context was compacted: requests omit 3 earlier messages: ${problem}`,
  );
  assertEquals(
    getCompactionNotice({ droppedCount: 0, problem }),
    `the context was not compacted: ${problem}`,
  );
});
