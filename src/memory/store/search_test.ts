import { assertEquals } from "@std/assert";
import type { SessionEntryBody } from "../../core/session_entry.ts";
import { getSearchText, SearchQuery } from "./search.ts";

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

Deno.test("SearchQuery: finds a word whose lower case has more characters", () => {
  const title = { type: "title", title: "A week in İstanbul" } as const;
  const hit = new SearchQuery("İstanbul")
    .findHit("s", { ...title, id: "e1", parentId: null, timestamp: 0 });
  assertEquals(hit?.snippet, "A week in İstanbul");
});
