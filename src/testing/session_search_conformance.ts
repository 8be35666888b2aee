/**
 * Tests of the contract of session stores: searches.
 *
 * @module
 */

import type { SessionStore } from "../core/sessions/session.ts";
import { assistantMessage, text, toolCall, toolResultMessage } from "./messages.ts";
import {
  collectPages,
  createFinishedEntry,
  createMessageEntry,
  createSession,
  expectEqual,
  expectFailure,
  rewrite,
  type StoreSubject,
  toMessageEntry,
  waitForClock,
} from "./session_subject.ts";

/** The tests by their titles. */
export const SEARCH_CONTRACT: Readonly<Record<string, (subject: StoreSubject) => Promise<void>>> = {
  async "finds nothing, and fails nothing, with a hostile query"(subject) {
    const { store } = subject;
    await createSession(store, { id: "hay" });
    const queries = [
      "' OR 1=1 --",
      '"word" OR *',
      "NEAR(word zzz) NOT text:word",
      "word & !zzz | (((:*",
      "\\ \\' \0 \ud800 zzz",
      "(a+)+$zzz",
      "zzz ".repeat(2_500),
      Array.from({ length: 1_800 }, (_, number) => `w${number}`).join(" "),
      "z".repeat(10_000),
      "\u0301\u200b\u{1F600}zzz",
    ];
    for (const query of queries) {
      expectEqual(await store.search(query), [], `hits for ${query.slice(0, 20)}`);
      expectEqual(await store.search(query, { sessionId: "hay" }), [], "hits in one session");
    }
    for (
      const query of ["word ".repeat(5_000), 5, null, undefined, {}] as unknown as readonly never[]
    ) {
      await expectFailure("bad_filter", () => store.search(query));
    }
    expectEqual((await store.search("WORD")).length, 1, "hits for a word");
  },

  async "lists and searches page by page"(subject) {
    const { store } = subject;
    const ids = Array.from({ length: 7 }, (_, number) => `s${number}`);
    for (const id of ids) {
      await subject.writeSession(id, createMessageEntry("a word"), createMessageEntry("word two"));
    }
    const all = (await store.list()).map(({ id }) => id);
    expectEqual(all.toSorted(), ids, "ids of the complete list");
    expectEqual(all.length > 0 && (await store.list()).cursor, undefined, "cursor of the list");
    const listed = await collectPages((cursor) => store.list({ limit: 3, ...cursor }));
    expectEqual(listed.map((page) => page.length), [3, 3, 1], "sizes of the pages");
    expectEqual(listed.flat().map(({ id }) => id), all, "ids of the pages");
    const found = await collectPages((cursor) => store.search("word", { limit: 4, ...cursor }));
    expectEqual(found.map((page) => page.length), [4, 4, 4, 2], "sizes of the pages of hits");
    const hits = await store.search("word");
    expectEqual(found.flat(), hits, "hits of the pages");
    expectEqual(hits.map(({ sessionId }) => sessionId), all.flatMap((id) => [id, id]), "order");
    const inSession = await collectPages((cursor) =>
      store.search("word", { sessionId: "s3", limit: 1, ...cursor })
    );
    expectEqual(inSession.map((page) => page.length), [1, 1], "pages of one session");
    await expectFailure("bad_cursor", () => store.list({ cursor: "no cursor" }));
    await expectFailure("bad_cursor", () => store.search("word", { cursor: "[1]" }));
  },

  async "lists and searches page by page sessions of the same time, whatever their ids"(subject) {
    const { store } = subject;
    // Of these, code units of UTF-16 and code points have different orders.
    const ids = ["\u{1f600}1", "\u{1f600}2", "\ufb01", "\uffe6", "a", "A"];
    const position = { id: "e1", parentId: null, timestamp: 1 };
    for (const id of ids) {
      const entries = [{ ...createMessageEntry("word"), ...position }];
      await (await store.create({ id, created: 1, entries })).close();
    }
    const listed = await collectPages((cursor) => store.list({ limit: 1, ...cursor }));
    expectEqual(listed.flat().map(({ id }) => id).toSorted(), ids.toSorted(), "listed ids");
    const found = await collectPages((cursor) => store.search("word", { limit: 1, ...cursor }));
    const foundIds = found.flat().map(({ sessionId }) => sessionId);
    expectEqual(foundIds.toSorted(), ids.toSorted(), "found ids");
  },

  async "finds each entry once while sessions are written between the pages"(subject) {
    const { store } = subject;
    const ids = Array.from({ length: 8 }, (_, number) => `s${number}`);
    for (const id of ids) {
      await subject.writeSession(id, createMessageEntry("a word"), createMessageEntry("word two"));
    }
    const expected = (await store.search("word")).map(({ entryId }) => entryId);
    await waitForClock();
    let pages = 0;
    const found = await collectPages(async (cursor) => {
      const page = await store.search("word", { limit: 3, ...cursor });
      if (pages === 0) {
        for (const id of [page[0]?.sessionId, page[2]?.sessionId, "s1"]) {
          await rewrite(store, id ?? "");
        }
      }
      if (pages === 2) { for (const id of ["s2", "s3"]) await rewrite(store, id); }
      pages++;
      return page;
    });
    expectEqual(found.flat().map(({ entryId }) => entryId), expected, "ids of the hits");
  },

  async "finds entries by the beginnings of words"(subject) {
    const call = toolCall("bash", { command: "grep Needle src" }, { id: "call_1" });
    const result = { content: [text("src/a.ts: the needle is here")] };
    await subject.writeSession(
      "hay",
      createMessageEntry("Where is the NEEDLE?"),
      { type: "message", message: assistantMessage([call]) },
      createFinishedEntry("call_1", result.content),
      { type: "message", message: toolResultMessage(call, result.content) },
      createMessageEntry("Pinneedles do not count, needless to say"),
    );
    const store = await subject.reopen();
    const searchTypes = async (query: string, options?: Parameters<SessionStore["search"]>[1]) =>
      (await store.search(query, options)).map(({ type }) => type);
    expectEqual(
      await searchTypes("needle"),
      ["message", "message", "tool_finished", "message"],
      "one word",
    );
    expectEqual(await searchTypes("the needle"), ["message", "tool_finished"], "two words");
    expectEqual(await searchTypes("eedle"), [], "the end of a word");
    expectEqual(await searchTypes("?!"), [], "no word");
    expectEqual(await searchTypes("needle", { limit: 1 }), ["message"], "limit: 1");
    expectEqual(
      await searchTypes("needle", { types: ["tool_finished"] }),
      ["tool_finished"],
      "types",
    );
    expectEqual(await searchTypes("needle", { before: 0 }), [], "before: 0");
    expectEqual(await searchTypes("needle", { after: 0, sessionId: "hay" }), [
      "message",
      "message",
      "tool_finished",
      "message",
    ], "one session");
    const [hit] = await store.search("needle", { limit: 1 });
    expectEqual(hit?.snippet, "Where is the NEEDLE?", "snippet");
    await expectFailure("not_found", () => store.search("needle", { sessionId: "missing" }));
  },

  async "finds words of all scripts, with marks and in either case"(subject) {
    // The last two have letters that are newer than Unicode 6.1.
    const texts = [
      "e\u0301clair",
      "Na\u00efve",
      "\u65e5\u672c",
      "\u{1e900}\u{1e922}",
      "\u1c90\u1c91",
    ];
    for (const text of texts) await subject.writeSession(text, createMessageEntry(`a ${text}!`));
    for (const text of texts) {
      for (const query of [text, text.toUpperCase()]) {
        const hits = await subject.store.search(query);
        expectEqual(hits.map(({ sessionId }) => sessionId), [text], `hits for ${query}`);
      }
    }
  },

  async "finds words in texts without spaces, and in either form of a letter"(subject) {
    const texts = {
      chinese: "\u6211\u559c\u6b22\u5317\u4eac\u70e4\u9e2d, \u4e70iPhone",
      thai: "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22",
      hindi: "\u0939\u093f\u0928\u094d\u0926\u0940",
      french: "cafe\u0301 cre\u0300me",
      korean: "\u1112\u1161\u11ab\u1100\u1173\u11af",
      heart: "\u2764\ufe0flove",
    };
    for (const [id, text] of Object.entries(texts)) {
      await subject.writeSession(id, createMessageEntry(text));
    }
    const queries: readonly (readonly [string, readonly string[]])[] = [
      ["\u5317\u4eac", ["chinese"]],
      ["\u70e4\u9e2d \u5317", ["chinese"]],
      ["\u4eac\u5317", []],
      ["iphone", ["chinese"]],
      ["phone", []],
      ["\u0e44\u0e17\u0e22", ["thai"]],
      ["\u0939\u093f\u0928", ["hindi"]],
      ["\u0939\u0928\u0926", []],
      ["\u0926\u0940", []],
      ["caf\u00e9 CR\u00c8ME", ["french"]],
      ["\ud55c\uae00", ["korean"]],
      ["love", ["heart"]],
    ];
    for (const [query, ids] of queries) {
      const hits = await subject.store.search(query);
      expectEqual(hits.map(({ sessionId }) => sessionId), ids, `hits for ${query}`);
    }
    for (const id of Object.keys(texts)) await subject.store.delete(id);
    for (const [query] of queries) {
      expectEqual(await subject.store.search(query), [], `hits for ${query} after the deletion`);
    }
  },

  async "finds the first words of lines in the arguments of calls and in custom data"(subject) {
    const content = 'const one = 1;\n\treturn "two" \\three;\r\nfour';
    const call = toolCall("write_file", { content }, { id: "call_1" });
    await subject.writeSession(
      "call",
      { type: "message", message: assistantMessage([call]) },
      { type: "custom", name: "note", data: { content } },
    );
    for (const query of ["const", "return", "two", "three", "four"]) {
      const hits = await subject.store.search(query);
      expectEqual(hits.map(({ type }) => type), ["message", "custom"], `hits for ${query}`);
    }
    expectEqual(await subject.store.search("nfour"), [], "hits for an escape");
  },

  async "finds all entries of long sessions, in their order"(subject) {
    const bodies = Array.from(
      { length: 300 },
      (_, number) => createMessageEntry(`needle ${number}`),
    );
    const entries = {
      a: await subject.writeSession("a", ...bodies),
      b: await subject.writeSession("b", ...bodies),
    };
    const [newest] = await subject.store.list();
    const listed = newest?.id === "a" ? [entries.a, entries.b] : [entries.b, entries.a];
    const expected = listed.flat();
    const hits = await subject.store.search("needle", { limit: 1_000 });
    expectEqual(hits.map(({ entryId }) => entryId), expected.map(({ id }) => id), "hits");
  },

  async "finds and deletes entries with the same image"(subject) {
    const data = btoa("image".repeat(1_000));
    const source = { type: "base64", mediaType: "image/png", data } as const;
    const content = [text("a needle"), { type: "image", source }] as const;
    const entry = toMessageEntry({ role: "user", content, timestamp: 1 });
    const result = createFinishedEntry("c", content);
    await subject.writeSession("images", entry, entry, result);
    const store = await subject.reopen();
    expectEqual((await store.search("needle")).length, 3, "number of hits");
    expectEqual(await store.search("lost"), [], "hits for the text of lost data");
    await store.delete("images");
    expectEqual(await store.list(), [], "list");
    expectEqual(await store.search("needle"), [], "hits after the deletion");
  },
};
