import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import type { SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { foldText, getSearchText, SearchQuery, splitWords } from "./search.ts";

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

Deno.test("foldText(): joins each letter with its marks, in every script that has one character for both", () => {
  const composed = Array.from({ length: 0x20000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((letter) => /^\p{L}\p{M}+$/u.test(letter.normalize("NFD")))
    .filter((letter) => letter.normalize("NFC") === letter);
  assert(composed.length > 800);
  const unequal = composed.filter((letter) =>
    foldText(letter.normalize("NFD")) !== foldText(letter)
  );
  assertEquals(unequal, []);
});

Deno.test("SearchQuery: finds no word behind the end of a letter with marks or of two code units", () => {
  const search = (title: string, query: string) =>
    new SearchQuery(query).findHit("s", { ...position, type: "title", title }) !== undefined;
  const position = { id: "e1", parentId: null, timestamp: 0 };
  for (const before of ["x", "x\u0316", "\u0436", "\u{10428}", "\u0915\u094d", "9"]) {
    assertEquals(search(`${before}end`, "end"), false, before);
    assertEquals(search(`${before}end ${before} end`, "end"), true, before);
  }
  for (const before of ["", " ", "_", "\u{1f600}", "\u2764\ufe0f", "\u4eac", "\u0e01\u0e49"]) {
    assertEquals(search(`${before}end`, "end"), true, before);
  }
});

Deno.test("SearchQuery: takes linear time for many marks of one letter", () => {
  const title = `a${"\u0301\u0316".repeat(200_000)} end`;
  const entry = { type: "title", title, id: "e1", parentId: null, timestamp: 0 } as const;
  const getThreadTime = startThreadTimer();
  assertEquals(splitWords(title).at(-1), "end");
  assertEquals(new SearchQuery("end").findHit("s", entry)?.entryId, "e1");
  // Quadratic time would be minutes.
  assert(getThreadTime() < 5_000);
});

Deno.test("SearchQuery: finds a word whose lower case has more characters", () => {
  const title = { type: "title", title: "A week in İstanbul" } as const;
  const hit = new SearchQuery("İstanbul")
    .findHit("s", { ...title, id: "e1", parentId: null, timestamp: 0 });
  assertEquals(hit?.snippet, "A week in İstanbul");
});

Deno.test("SearchQuery: shows no parts of the sequences of terminals", () => {
  const title = { type: "title", title: "\x1b[1;31mFAILED\x1b[0m one\x1b[2K test" } as const;
  const hit = new SearchQuery("one")
    .findHit("s", { ...title, id: "e1", parentId: null, timestamp: 0 });
  assertEquals(hit?.snippet, "FAILED one test");
});
