/**
 * Tests of the contract of session stores.
 *
 * @module
 */

import type { ContentBlock } from "../core/messages/content.ts";
import type { SessionStore } from "../core/sessions/session.ts";
import type { SessionEntryBody } from "../core/sessions/session_entry.ts";
import { collectEvents } from "./collect_events.ts";
import { assistantMessage, text } from "./messages.ts";
import { LIST_CONTRACT } from "./session_list_conformance.ts";
import { SEARCH_CONTRACT } from "./session_search_conformance.ts";
import {
  createMessageEntry,
  createTitleEntry,
  expectEqual,
  expectFailure,
  extractTexts,
  INVALID_ENTRIES,
  SAMPLE_ENTRIES,
  type SessionStoreFixture,
  StoreSubject,
  toMessageEntry,
  UNUSUAL_IDS,
  withSession,
} from "./session_subject.ts";
import { checkRegisterTest, type RegisterTest } from "./stream_fixture.ts";

export type { SessionStoreFixture };

/** Creates an empty store for one test. */
export type SessionStoreFactory = () =>
  | SessionStore
  | SessionStoreFixture
  | Promise<SessionStore | SessionStoreFixture>;

/**
 * Registers the tests that every session store must pass.
 *
 * They check that no entry is lost, changed or reordered, that the tree of entries and its leaf survive a restart, that
 * a session has one writer at a time, and that failures are a `SessionError` with the right reason.
 *
 * @example
 * ```ts ignore
 * import { testSessionStore } from "@swink/agent/testing";
 * import { InMemorySessionStore } from "@swink/agent/memory";
 *
 * testSessionStore(Deno.test, () => new InMemorySessionStore());
 * ```
 */
export function testSessionStore(test: RegisterTest, createStore: SessionStoreFactory): void {
  checkRegisterTest(test);
  const contract = { ...SESSION_CONTRACT, ...LIST_CONTRACT, ...SEARCH_CONTRACT };
  for (const [title, run] of Object.entries(contract)) {
    test(`session store: ${title}`, async () => {
      const created = await createStore();
      const fixture = "store" in created ? created : { store: created };
      try {
        await run(new StoreSubject(fixture));
      } finally {
        await fixture.dispose?.();
      }
    });
  }
}

const SESSION_CONTRACT: Readonly<Record<string, (subject: StoreSubject) => Promise<void>>> = {
  async "returns every type of entry as appended"(subject) {
    const appended = await subject.writeSession("all", ...SAMPLE_ENTRIES);
    await subject.readSession("all", async (session) => {
      expectEqual(await session.path(), appended, "path");
      expectEqual(await collectEvents(session.entries()), appended, "entries");
      expectEqual(session.damage, [], "damage");
      expectEqual(await session.entry(appended[3]?.id ?? ""), appended[3], "entry");
      expectEqual(await session.entry("missing"), undefined, "missing entry");
    });
  },

  async "links entries to their parents and lists them in the outline"(subject) {
    const [first, second, third] = await subject.writeSession(
      "chain",
      createMessageEntry("a"),
      createMessageEntry("b"),
      createMessageEntry("c"),
    );
    const parentIds = [first, second, third].map((entry) => entry?.parentId);
    expectEqual(parentIds, [null, first?.id, second?.id], "parent ids");
    await subject.readSession("chain", (session) => {
      expectEqual(session.leafId, third?.id, "leaf");
      expectEqual(
        session.outline,
        [first, second, third].map((entry) => ({
          type: "message",
          id: entry?.id,
          parentId: entry?.parentId,
          timestamp: entry?.timestamp,
        })),
        "outline",
      );
    });
  },

  async "keeps the moved leaf and every branch after a restart"(subject) {
    const session = await subject.store.create({ id: "tree" });
    const [root, left] = [
      session.append(createMessageEntry("root")),
      session.append(createMessageEntry("left")),
    ];
    session.moveLeaf(root.id);
    const right = session.append(createMessageEntry("right"));
    session.moveLeaf(left.id);
    await session.close();

    await withSession((await subject.reopen()).open("tree"), async (reopened) => {
      expectEqual(extractTexts(await reopened.path()), ["root", "left"], "path after the move");
      expectEqual(
        extractTexts(await reopened.path({ leaf: right.id })),
        ["root", "right"],
        "other path",
      );
      reopened.moveLeaf(null);
      reopened.append(createMessageEntry("new root"));
      expectEqual(extractTexts(await reopened.path()), ["new root"], "path of a new root");
      expectEqual(await reopened.path({ leaf: null }), [], "path without a leaf");
    });
  },

  async "filters a path by last, types and after"(subject) {
    const entries = await subject.writeSession(
      "parts",
      createMessageEntry("a"),
      createTitleEntry("b"),
      createMessageEntry("c"),
      createMessageEntry("d"),
    );
    await withSession(subject.store.open("parts", { access: "read" }), async (session) => {
      expectEqual(await session.path({ last: 2 }), entries.slice(2), "last: 2");
      expectEqual(await session.path({ last: 0 }), [], "last: 0");
      expectEqual(await session.path({ types: ["title"] }), entries.slice(1, 2), "types: title");
      const after = (entries[0]?.timestamp ?? 0) + 1e9;
      expectEqual(await session.path({ after }), [], "after the last entry");
    });
  },

  async "keeps 500 entries that are appended at once, in order"(subject) {
    const bodies = Array.from(
      { length: 500 },
      (_, index) => createMessageEntry(`message ${index}`),
    );
    const appended = await subject.writeSession("many", ...bodies);
    await subject.readSession("many", async (session) => {
      expectEqual(await session.path(), appended, "path");
    });
    expectEqual(new Set(appended.map(({ id }) => id)).size, 500, "number of ids");
  },

  async "resolves flush() when all entries are stored, also while the session is closing"(subject) {
    const session = await subject.store.create({ id: "closing" });
    session.append(createMessageEntry("a"));
    const closing = session.close();
    await session.flush();
    await subject.readSession("closing", async (stored) => {
      expectEqual(extractTexts(await stored.path()), ["a"], "path");
    });
    await closing;
    await session.flush();
  },

  async "appends to a session that is opened again"(subject) {
    await subject.writeSession("long", createMessageEntry("a"));
    for (const word of ["b", "c"]) {
      const opened = (await subject.reopen()).open("long");
      await withSession(opened, (session) => session.append(createMessageEntry(word)));
    }
    await withSession(subject.store.open("long", { access: "read" }), async (session) => {
      expectEqual(extractTexts(await session.path()), ["a", "b", "c"], "path");
    });
  },

  async "keeps unusual text"(subject) {
    const unusual = 'line\nend \u2028 \u{1F600} \ud800 \0 \u001b[31m "quoted" \\';
    await subject.writeSession("odd", createMessageEntry(unusual));
    await subject.readSession("odd", async (session) => {
      expectEqual(extractTexts(await session.path({ types: ["message"] })), [unusual], "text");
    });
  },

  async "refuses entries that it could not return, and keeps the others"(subject) {
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    const throwing = {
      toJSON: () => {
        throw new Error("no JSON");
      },
    };
    await subject.writeSession("strict", createMessageEntry("a"));
    await withSession(subject.store.open("strict"), async (session) => {
      for (const data of [5n, () => 5, cyclic, throwing, { deep: { list: [Symbol("s")] } }]) {
        const append = () => session.append({ type: "custom", name: "odd", data });
        await expectFailure("invalid_entry", append);
      }
      for (const entry of INVALID_ENTRIES) {
        const append = () => session.append(entry as unknown as SessionEntryBody);
        await expectFailure("invalid_entry", append);
      }
      session.append(createMessageEntry("b"));
    });
    await subject.readSession("strict", async (session) => {
      expectEqual(extractTexts(await session.path()), ["a", "b"], "texts");
      expectEqual(session.damage.length, 0, "number of damaged entries");
    });
  },

  async "copies entries, so that later changes of the caller's objects have no effect"(subject) {
    const data = { list: [1] };
    await withSession(subject.store.create({ id: "copy" }), async (session) => {
      session.append({ type: "custom", name: "data", data });
      data.list.push(2);
      const [entry] = await session.path();
      expectEqual(entry?.type === "custom" && entry.data, { list: [1] }, "data");
    });
  },

  async "keeps blocks of unknown types, and replies whose cost is not known"(subject) {
    const block = { type: "hologram", data: { size: 3 } } as unknown as ContentBlock;
    const cost = { input: null, output: null, cacheRead: null, cacheWrite: null, total: null };
    const [future, reply] = [
      { role: "user", content: [block, text("and text")], timestamp: 1 } as const,
      { ...assistantMessage("answer"), cost },
    ];
    const messages = [future, reply];
    await subject.writeSession("future", ...messages.map((message) => toMessageEntry(message)));
    await subject.readSession("future", async (session) => {
      const path = await session.path({ types: ["message"] });
      expectEqual(
        path.map((entry) => entry.type === "message" && entry.message),
        messages,
        "messages",
      );
      expectEqual(session.damage.length, 0, "number of damaged entries");
    });
  },

  async "allows one writer and many readers"(subject) {
    const writer = await subject.store.create({ id: "one" });
    writer.append(createMessageEntry("a"));
    await writer.flush();
    const reopened = await subject.reopen();
    await expectFailure("locked", () => reopened.open("one"));
    await expectFailure("locked", () => subject.store.open("one"));
    await expectFailure("locked", () => reopened.delete("one"));
    await withSession(reopened.open("one", { access: "read" }), async (reader) => {
      expectEqual(extractTexts(await reader.path()), ["a"], "path of the reader");
      await expectFailure("read_only", () => reader.append(createMessageEntry("b")));
      // A misspelled access is refused, or locks nothing.
      const unknown = reopened.open("one", { access: "readonly" as never });
      const session = await unknown.catch(() => null);
      expectEqual(session?.access ?? "read", "read", "unknown access");
      await session?.close();
      await writer.close();
      await withSession(reopened.open("one"), (next) => next.append(createMessageEntry("b")));
    });
  },

  async "returns complete entries to calls at the same time"(subject) {
    const bodies = ["a", "b", "c", "d"].map(createMessageEntry);
    const entries = await subject.writeSession("calls", ...bodies);
    await subject.readSession("calls", async (session) => {
      const [middle, path, last] = await Promise.all([
        session.entry(entries[1]?.id ?? ""),
        session.path(),
        session.path({ last: 2 }),
      ]);
      expectEqual(middle?.id, entries[1]?.id, "entry");
      expectEqual(extractTexts(path), ["a", "b", "c", "d"], "path");
      expectEqual(extractTexts(last), ["c", "d"], "end of the path");
      expectEqual(session.damage.length, 0, "number of damaged entries");
    });
  },

  async "keeps the entries of the new writer when the lease of the old one has ended"(subject) {
    if (!subject.endLease) return;
    const first = await subject.store.create({ id: "lease" });
    first.append(createMessageEntry("a"));
    await first.flush();
    await subject.endLease("lease");
    const second = await (await subject.reopen()).open("lease");
    first.append(createMessageEntry("lost before the first write"));
    await expectFailure("lock_lost", () => first.flush());
    second.append(createMessageEntry("b"));
    await second.flush();
    first.append(createMessageEntry("lost after it"));
    await expectFailure("lock_lost", () => first.flush());
    await first.close();
    await expectFailure("locked", () => subject.store.open("lease"));
    await second.close();
    await subject.readSession("lease", async (session) => {
      expectEqual(extractTexts(await session.path()), ["a", "b"], "path");
    });
  },

  async "reports an entry that can no longer be read, and keeps the others"(subject) {
    if (!subject.damage) return;
    const bodies = ["a", "b", "c"].map(createMessageEntry);
    const entries = await subject.writeSession("damaged", ...bodies);
    await subject.damage("damaged", 1);
    const opened = (await subject.reopen()).open("damaged");
    await withSession(opened, async (session) => {
      expectEqual(extractTexts(await session.path()), ["a", "c"], "path");
      const reported = session.damage.filter(({ type }) => type.startsWith("broken"));
      expectEqual(reported.length, 1, "number of broken entries");
      session.append(createMessageEntry("d"));
    });
    await subject.readSession("damaged", async (session) => {
      expectEqual(extractTexts(await session.path()), ["a", "c", "d"], "path after an append");
      expectEqual((await session.entry(entries[2]?.id ?? ""))?.id, entries[2]?.id, "last entry");
    });
  },

  async "throws a SessionError for unknown ids and closed sessions"(subject) {
    const { store } = subject;
    await expectFailure("not_found", () => store.open("missing"));
    await expectFailure("not_found", () => store.delete("missing"));
    await subject.writeSession("there", createMessageEntry("a"));
    await expectFailure("already_exists", () => store.create({ id: "there" }));
    const session = await store.open("there");
    await expectFailure("unknown_entry", () => session.moveLeaf("missing"));
    await expectFailure("unknown_entry", () => session.path({ leaf: "missing" }));
    await session.close();
    await session.close();
    await expectFailure("closed", () => session.append(createMessageEntry("b")));
  },

  async "accepts any text of 1 to 200 characters as an id"(subject) {
    for (const id of UNUSUAL_IDS) {
      await subject.writeSession(id, createMessageEntry(`text of ${id}`));
      await expectFailure("already_exists", () => subject.store.create({ id }));
    }
    const store = await subject.reopen();
    const listed = (await store.list()).map(({ id }) => id).toSorted();
    expectEqual(listed, UNUSUAL_IDS.toSorted(), "listed ids");
    for (const id of UNUSUAL_IDS) {
      await subject.readSession(id, async (session) => {
        expectEqual(session.id, id, "id");
        expectEqual(extractTexts(await session.path()), [`text of ${id}`], "path");
      });
      await store.delete(id);
    }
    expectEqual((await store.list()).length, 0, "number of sessions");
  },

  async "rejects ids that are empty, too long or have control characters"(subject) {
    for (const id of ["", "a\nb", "a\0b", "\ud800", "a".repeat(201)]) {
      await expectFailure("bad_id", () => subject.store.create({ id }));
      await expectFailure("bad_id", () => subject.store.open(id));
      await expectFailure("bad_id", () => subject.store.delete(id));
    }
  },

  async "does not store a session without entries"(subject) {
    await subject.writeSession("empty");
    expectEqual(await subject.store.list(), [], "list");
    await subject.writeSession("empty", createMessageEntry("a"));
    expectEqual((await subject.store.list()).length, 1, "length of the list");
  },

  async "creates sessions with unique ids"(subject) {
    const sessions = await Promise.all(
      Array.from({ length: 20 }, () => subject.store.create()),
    );
    expectEqual(new Set(sessions.map(({ id }) => id)).size, 20, "number of ids");
    for (const session of sessions) await session.close();
  },

  async "keeps entries whose ids have any text"(subject) {
    const ids = ["a", "a\0b", "a\0c", "\ud800", "\ud801", "\ufffd", "\ue000d800", "\u00e9 '"];
    const entries = ids.map((id, number) => ({
      ...createMessageEntry(id),
      id,
      parentId: ids[number - 1] ?? null,
      timestamp: number,
    }));
    const created = subject.store.create({ id: "ids", entries });
    await withSession(created, (session) => session.append(createMessageEntry("last")));
    await subject.readSession("ids", async (session) => {
      expectEqual((await session.path()).slice(0, -1), entries, "path");
      expectEqual(session.outline.slice(0, -1).map(({ id }) => id), ids, "outline");
      expectEqual(session.damage, [], "damage");
      for (const entry of entries) expectEqual(await session.entry(entry.id), entry, "entry");
    });
  },

  async "creates a session with given entries, unchanged"(subject) {
    const entries = await subject.writeSession(
      "old",
      createMessageEntry("a"),
      createMessageEntry("b"),
    );
    const parent = { sessionId: "old", entryId: entries[1]?.id ?? null };
    const created = subject.store.create({ id: "new", cwd: "/work", parent, entries });
    await withSession(created, (session) => session.append(createMessageEntry("c")));
    await subject.readSession("new", async (reopened) => {
      expectEqual((await reopened.path()).slice(0, 2), entries, "entries");
      expectEqual(extractTexts(await reopened.path()), ["a", "b", "c"], "path");
      const { cwd, parent: forkedFrom } = reopened.header;
      expectEqual({ cwd, parent: forkedFrom }, { cwd: "/work", parent }, "header");
    });
  },
};
