import { assert, assertEquals } from "@std/assert";
import type { SessionEntryBody } from "../../core/session_entry.ts";
import { getSearchText, SearchQuery, splitWords } from "./search.ts";

function getText(body: SessionEntryBody): string {
  return getSearchText({ ...body, id: "e1", parentId: null, timestamp: 0 });
}

Deno.test("getSearchText(): includes labels, titles, notes and custom data, but no removed label", () => {
  assertEquals(
    getText({ type: "label", targetId: "e0", label: "before the change" }),
    "before the change",
  );
  assertEquals(getText({ type: "label", targetId: "e0", label: null }), "");
  assertEquals(getText({ type: "title", title: "A cart" }), "A cart");
  assertEquals(
    getText({ type: "custom", name: "deploy", data: { to: "test" } }),
    'deploy {"to":"test"}',
  );
  assertEquals(getText({ type: "tools_changed", names: ["bash"] }), "");
});

Deno.test("SearchQuery: takes linear time for many marks of one letter", () => {
  const title = `a${"\u0301\u0316".repeat(200_000)} end`;
  const entry = { type: "title", title, id: "e1", parentId: null, timestamp: 0 } as const;
  const start = performance.now();
  assertEquals(splitWords(title).at(-1), "end");
  assertEquals(new SearchQuery("end").findHit("s", entry)?.entryId, "e1");
  // Quadratic time would be minutes.
  assert(performance.now() - start < 5_000);
});

Deno.test("SearchQuery: finds a word whose lower case has more characters", () => {
  const title = { type: "title", title: "A week in İstanbul" } as const;
  const hit = new SearchQuery("İstanbul")
    .findHit("s", { ...title, id: "e1", parentId: null, timestamp: 0 });
  assertEquals(hit?.snippet, "A week in İstanbul");
});
