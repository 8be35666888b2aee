/**
 * Tests of the contract of session stores: lists and deletion.
 *
 * @module
 */

import type { SessionFilter } from "../core/sessions/session.ts";
import { assistantMessage } from "./messages.ts";
import {
  collectPages,
  createMessageEntry,
  createSession,
  createTitleEntry,
  expectEqual,
  expectFailure,
  extractTexts,
  rewrite,
  type StoreSubject,
  waitForClock,
  withSession,
} from "./session_subject.ts";

/** The tests by their titles. */
export const LIST_CONTRACT: Readonly<Record<string, (subject: StoreSubject) => Promise<void>>> = {
  async "lists sessions with counts, usage, cost and title"(subject) {
    const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };
    const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
    const reply = assistantMessage("answer", { usage, cost });
    const message = { type: "message", message: reply } as const;
    const entries = await subject.writeSession(
      "listed",
      createMessageEntry("question"),
      message,
      message,
      createTitleEntry("T"),
    );
    const [summary, ...others] = await (await subject.reopen()).list();
    expectEqual(others, [], "other sessions");
    expectEqual(
      { ...summary, created: 0, bytes: 0 },
      {
        id: "listed",
        created: 0,
        updated: entries.at(-1)?.timestamp,
        entries: 4,
        messages: 3,
        leafId: entries.at(-1)?.id,
        usage: { input: 20, output: 10, cacheRead: 0, cacheWrite: 0, total: 30 },
        cost: { input: 2, output: 4, cacheRead: 0, cacheWrite: 0, total: 6 },
        bytes: 0,
        firstPrompt: "question",
        title: "T",
      },
      "summary",
    );
    expectEqual(await subject.store.list({ cwd: "/elsewhere" }), [], "list of another directory");
    expectEqual((await subject.store.list({ limit: 0 })).length, 0, "list with limit 0");
  },

  async "lists a session with the sums of any amounts"(subject) {
    const usage = { input: 1e308, output: 5, cacheRead: 0, cacheWrite: 0, total: 2 ** 53 - 1 };
    const cost = { input: 1e308, output: 2, cacheRead: null, cacheWrite: 0, total: 2 ** 53 - 1 };
    const message = { type: "message", message: assistantMessage("a", { usage, cost }) } as const;
    await subject.writeSession("sums", message, message, createTitleEntry("T"));
    const opened = (await subject.reopen()).open("sums");
    await withSession(opened, (session) => session.append(message));
    const [summary] = await (await subject.reopen()).list();
    expectEqual([summary?.problem, summary?.entries, summary?.title], [undefined, 4, "T"], "list");
    expectEqual([summary?.usage.output, summary?.cost.output], [15, 6], "sums");
    expectEqual([summary?.usage.input, summary?.cost.input], [0, null], "sums of large amounts");
    expectEqual(summary?.usage.total, 3 * (2 ** 53 - 1), "sum of totals");
  },

  async "keeps tenant, user and metadata, and selects sessions by them"(subject) {
    const { store } = subject;
    const metadata = { plan: "pro", tags: ["a", "b"], long: "x".repeat(20_000) };
    await createSession(store, { id: "a1", cwd: "/a", tenant: "acme", user: "ann", metadata });
    await createSession(store, { id: "a2", cwd: "/b", tenant: "acme", user: "ben" });
    await createSession(store, { id: "z1", cwd: "/a", tenant: "zoo", user: "ann" });
    await createSession(store, { id: "none" });
    const reopened = await subject.reopen();
    const listIds = async (filter: SessionFilter) =>
      (await reopened.list(filter)).map(({ id }) => id).toSorted();
    expectEqual(await listIds({ tenant: "acme" }), ["a1", "a2"], "tenant");
    expectEqual(await listIds({ user: "ann" }), ["a1", "z1"], "user");
    expectEqual(await listIds({ tenant: "acme", user: "ann" }), ["a1"], "tenant and user");
    expectEqual(await listIds({ cwd: "/a", tenant: "zoo" }), ["z1"], "directory and tenant");
    const hits = await reopened.search("word", { tenant: "acme", user: "ben" });
    expectEqual(hits.map(({ sessionId }) => sessionId), ["a2"], "sessions of the hits");
    const [summary] = await reopened.list({ tenant: "acme", user: "ann" });
    expectEqual(summary?.metadata, metadata, "metadata in the list");
    await subject.readSession("a1", ({ header }) => {
      const { cwd, tenant, user } = header;
      expectEqual([cwd, tenant, user], ["/a", "acme", "ann"], "header");
      expectEqual(header.metadata, metadata, "metadata in the header");
    });
    for (const invalid of [{ now: 5n }, [], "text", null, { long: "x".repeat(70_000) }]) {
      const metadata = invalid as never;
      await expectFailure("invalid_entry", () => store.create({ id: "odd", metadata }));
    }
    for (const name of ["tenant", "user", "cwd"]) {
      const options = { id: "odd", [name]: 5 } as never;
      await expectFailure("invalid_entry", () => store.create(options));
    }
    await expectFailure("invalid_entry", () => store.create({ id: "odd", created: NaN }));
  },

  async "keeps long tenants and users, and refuses those that an index cannot have"(subject) {
    const { store } = subject;
    const createText = (length: number) =>
      Array.from({ length }, (_, index) => String.fromCharCode(0x4e00 + index * 7919 % 20_000))
        .join("");
    const owner = { tenant: createText(500), user: createText(500) };
    await createSession(store, { id: createText(200), ...owner });
    expectEqual((await store.list(owner)).length, 1, "sessions of the tenant and the user");
    for (const name of ["tenant", "user"]) {
      const options = { id: "long", [name]: "x".repeat(501) };
      await expectFailure("invalid_entry", () => store.create(options));
    }
  },

  async "selects sessions by members of their metadata"(subject) {
    const { store } = subject;
    const common = { seats: 3, "trial\0": true, 'a "name"': null, é: "\ud800", "": "" };
    const long = "x".repeat(2_000);
    await createSession(store, { id: "pro", tenant: "acme", metadata: { plan: "pro", ...common } });
    await createSession(store, { id: "free", metadata: { plan: "free", ...common, long } });
    await createSession(store, { id: "odd", metadata: { seats: "3", plan: ["pro"], none: {} } });
    await createSession(store, { id: "none" });
    const reopened = await subject.reopen();
    const listIds = async (metadata: SessionFilter["metadata"] = {}, others: SessionFilter = {}) =>
      (await reopened.list({ metadata, ...others })).map(({ id }) => id).toSorted();
    expectEqual(await listIds({ plan: "pro" }), ["pro"], "one member");
    expectEqual(await listIds({ seats: 3 }), ["free", "pro"], "a number");
    expectEqual(await listIds(common), ["free", "pro"], "members of every type");
    expectEqual(await listIds({ ...common, plan: "free" }), ["free"], "all members");
    expectEqual(await listIds({ plan: "free", seats: "3" }), [], "members of two sessions");
    expectEqual(await listIds({ toString: null, none: null }), [], "members that are missing");
    expectEqual(await listIds({}, { tenant: "acme" }), ["pro"], "no member, and a tenant");
    expectEqual(await listIds({ seats: 3 }, { tenant: "zoo" }), [], "a member, and a tenant");
    const hits = await reopened.search("word", { metadata: { plan: "free" } });
    expectEqual(hits.map(({ sessionId }) => sessionId), ["free"], "sessions of the hits");
    const pages = await collectPages((cursor) =>
      reopened.list({ limit: 1, metadata: { seats: 3 }, ...cursor })
    );
    expectEqual(pages.map((page) => page.length), [1, 1], "sizes of the pages");
    expectEqual(await reopened.deleteAll({ metadata: { plan: "free" } }), ["free"], "deleted");
    expectEqual(await listIds({ seats: 3 }), ["pro"], "after the deletion");
    for (const value of [{}, [], undefined, NaN, 5n, long]) {
      const metadata = { a: value } as never;
      await expectFailure("bad_filter", () => reopened.list({ metadata }));
      await expectFailure("bad_filter", () => reopened.search("word", { metadata }));
      await expectFailure("bad_filter", () => reopened.deleteAll({ tenant: "acme", metadata }));
    }
    await expectFailure("bad_filter", () => reopened.deleteAll({ metadata: {} }));
  },

  async "selects sessions by tenants, users and directories of any text"(subject) {
    const { store } = subject;
    const texts = ["t", "t\0", "t\0x", "t\ud800", "t\ud801", "t\ufffd", "t\ue000d800", "T", ""];
    for (const [number, text] of texts.entries()) {
      const options = { tenant: text, user: text, cwd: text };
      await createSession(store, { id: `s${number}`, ...options });
    }
    const reopened = await subject.reopen();
    for (const [number, text] of texts.entries()) {
      for (const name of ["tenant", "user", "cwd"] as const) {
        const listed = await reopened.list({ [name]: text });
        expectEqual(listed.map(({ id }) => id), [`s${number}`], `${name} ${JSON.stringify(text)}`);
        expectEqual(listed[0]?.[name], text, `listed ${name}`);
      }
    }
    expectEqual(await reopened.deleteAll({ tenant: "t\ud800" }), ["s3"], "deleted");
  },

  async "rejects filters, limits and cursors that are invalid"(subject) {
    const { store } = subject;
    await createSession(store, { id: "kept", tenant: "acme" });
    await createSession(store, { id: "other", tenant: "acme" });
    for (const value of [5, null, {}, ["acme"], true]) {
      for (const name of ["tenant", "user", "cwd", "metadata"]) {
        const filter = { [name]: name === "metadata" && value === null ? "a" : value } as never;
        if (name === "metadata" && value !== null && typeof value === "object") continue;
        await expectFailure("bad_filter", () => store.list(filter));
        await expectFailure("bad_filter", () => store.search("word", filter));
        await expectFailure("bad_filter", () => store.deleteAll(filter));
      }
    }
    const ranges = [
      { types: "message" },
      { types: [5] },
      { types: null },
      { after: "2020" },
      { after: NaN },
      { before: null },
      { before: {} },
    ];
    for (const range of ranges as unknown as readonly Record<string, never>[]) {
      await expectFailure("bad_filter", () => store.search("word", range));
    }
    for (const sessionId of ["", 5, null] as unknown as readonly string[]) {
      await expectFailure("bad_id", () => store.search("word", { sessionId }));
    }
    for (const options of [null, 5, "acme", []] as unknown as readonly never[]) {
      await expectFailure("bad_filter", () => store.list(options));
      await expectFailure("bad_filter", () => store.search("word", options));
      await expectFailure("bad_filter", () => store.deleteAll(options));
    }
    for (const limit of [-1, 1.5, NaN, "2", null] as unknown as readonly never[]) {
      await expectFailure("bad_filter", () => store.list({ limit }));
      await expectFailure("bad_filter", () => store.search("word", { limit }));
    }
    expectEqual((await store.list({ limit: Infinity })).length, 2, "list without a limit");
    expectEqual((await store.search("word", { limit: Infinity })).length, 2, "search without one");
    for (
      const updatedBefore of [NaN, "2100-01-01", new Date(), null] as unknown as readonly never[]
    ) {
      await expectFailure("bad_filter", () => store.deleteAll({ updatedBefore }));
    }
    const { cursor: list = "" } = await store.list({ limit: 1 });
    const { cursor: search = "" } = await store.search("word", { limit: 1 });
    const forged = (cursor: string, index: number, value: string) =>
      `[${cursor.slice(1, -1).split(",").with(index, value).join()}]`;
    for (const value of ["1e999", "null", '"1"', "{}"]) {
      for (const index of [0, 2]) {
        await expectFailure("bad_cursor", () => store.list({ cursor: forged(list, index, value) }));
      }
      for (const index of [0, 2, 3]) {
        const cursor = forged(search, index, value);
        await expectFailure("bad_cursor", () => store.search("word", { cursor }));
      }
    }
    for (const id of ["5", '"\\u0000"', '"\\ud800"', '""', `"${"x".repeat(201)}"`]) {
      await expectFailure("bad_cursor", () => store.list({ cursor: forged(list, 1, id) }));
    }
    for (const position of ["1e300", "1.5"]) {
      const cursor = forged(search, 3, position);
      await expectFailure("bad_cursor", () => store.search("word", { cursor }));
    }
    for (const cursor of [5, null, {}, "", "[]", "null"] as unknown as readonly never[]) {
      await expectFailure("bad_cursor", () => store.list({ cursor }));
    }
    expectEqual((await store.list()).length, 2, "number of sessions");
  },

  async "rejects options of other names, so that a misspelled filter or tenant is noticed"(
    subject,
  ) {
    const { store } = subject;
    await createSession(store, { id: "kept", tenant: "acme" });
    for (const name of ["tennant", "updatedbefore", "id", "__proto__", "constructor"]) {
      const options = JSON.parse(`{"${name}":"acme"}`);
      await expectFailure("bad_filter", () => store.deleteAll(options));
      await expectFailure("bad_filter", () => store.deleteAll({ tenant: "acme", ...options }));
      await expectFailure("bad_filter", () => store.list(options));
      await expectFailure("bad_filter", () => store.search("word", options));
      if (name === "id") continue;
      await expectFailure("invalid_entry", () => store.create({ id: "new", ...options }));
    }
    expectEqual((await store.list()).length, 1, "number of sessions");
  },

  async "lists each session once while others are created, written and deleted"(subject) {
    const { store } = subject;
    const ids = Array.from({ length: 12 }, (_, number) => `s${number}`);
    for (const id of ids) await subject.writeSession(id, createMessageEntry("a word"));
    await waitForClock();
    let pages = 0;
    const listed = await collectPages(async (cursor) => {
      const page = await store.list({ limit: 3, ...cursor });
      if (pages === 0) {
        const [first, , last] = page;
        for (const id of [first?.id ?? "", last?.id ?? "", "s2", "s1"]) await rewrite(store, id);
        await subject.writeSession("new", createMessageEntry("a word"));
        // A fork has older entries.
        const position = { id: "e", parentId: null, timestamp: 1 };
        const entries = [{ ...createMessageEntry("a word"), ...position }];
        await withSession(store.create({ id: "fork", entries }), (fork) => {
          fork.append(createMessageEntry("a word"));
        });
        await store.delete("s0");
      }
      if (pages === 1) await rewrite(store, page[0]?.id ?? "");
      pages++;
      return page;
    });
    const found = listed.flat().map(({ id }) => id);
    expectEqual(found.toSorted(), ids.slice(1).toSorted(), "ids of the pages");
  },

  async "deletes all sessions that match, except open ones"(subject) {
    const { store } = subject;
    await createSession(store, { id: "a1", tenant: "acme" });
    await createSession(store, { id: "a2", tenant: "acme" });
    await createSession(store, { id: "z1", tenant: "zoo" });
    await expectFailure("bad_filter", () => store.deleteAll({}));
    expectEqual(await store.deleteAll({ tenant: "acme", updatedBefore: 0 }), [], "older than all");
    await withSession(store.open("a2"), async () => {
      expectEqual(await (await subject.reopen()).deleteAll({ tenant: "acme" }), ["a1"], "deleted");
    });
    const updatedBefore = Date.now() + 3_600_000;
    const deleted = await store.deleteAll({ updatedBefore });
    expectEqual(deleted.toSorted(), ["a2", "z1"], "deleted by time");
    expectEqual(await store.list(), [], "list");
  },

  async "deletes sessions by their age: the time of the last entry, or of a later creation"(
    subject,
  ) {
    const { store } = subject;
    const entries = [{ ...createMessageEntry("old"), id: "e", parentId: null, timestamp: 1 }];
    await (await store.create({ id: "old", created: 1, entries })).close();
    await (await store.create({ id: "fork", entries })).close();
    const updatedBefore = Date.now() - 3_600_000;
    expectEqual(await store.deleteAll({ updatedBefore }), ["old"], "deleted");
    expectEqual((await store.list()).map(({ id }) => id), ["fork"], "list");
  },

  async "deletes the sessions of sub-agents with that of their parent"(subject) {
    const { store } = subject;
    const create = (id: string, parentId: string) => {
      const metadata = {
        subAgentParentId: parentId,
        subAgentCallId: "call",
        subAgentPath: parentId === "parent" ? ["call"] : ["call", "call"],
      };
      return createSession(store, { id, tenant: "acme", metadata });
    };
    for (const act of ["delete", "deleteAll"] as const) {
      await createSession(store, { id: "other", tenant: "zoo" });
      await createSession(store, { id: "parent", tenant: "acme" });
      await create("child", "parent");
      await create("grandchild", "child");
      await withSession(store.open("grandchild"), async () => {
        const reopened = await subject.reopen();
        await expectFailure("locked", () => reopened.delete("parent"));
        expectEqual((await reopened.list()).length, 4, "sessions while one is open");
      });
      if (act === "delete") await store.delete("parent");
      else {
        const deleted = await store.deleteAll({ tenant: "acme" });
        expectEqual(deleted.toSorted(), ["child", "grandchild", "parent"], "deleted");
      }
      expectEqual((await store.list()).map(({ id }) => id), ["other"], "list");
      await store.delete("other");
    }
  },

  async "keeps the time of creation that is given"(subject) {
    await createSession(subject.store, { id: "old", created: 86_400_000 });
    const [summary] = await (await subject.reopen()).list();
    expectEqual(summary?.created, 86_400_000, "created");
  },

  async "deletes a session, also from search results"(subject) {
    await subject.writeSession("gone", createMessageEntry("secret"));
    await subject.store.delete("gone");
    const store = await subject.reopen();
    expectEqual(await store.list(), [], "list");
    expectEqual(await store.search("secret"), [], "hits");
    await expectFailure("not_found", () => store.open("gone"));
    await subject.writeSession("gone", createMessageEntry("new"));
    await withSession(store.open("gone", { access: "read" }), async (session) => {
      expectEqual(extractTexts(await session.path()), ["new"], "path");
    });
  },
};
