import { assert, assertEquals, assertRejects } from "@std/assert";
import { ManualIntervals } from "../../../tests/memory/manual_intervals.ts";
import { SessionError } from "../../core/errors/errors.ts";
import { extractText } from "../../core/messages/content.ts";
import { userMessage } from "../../core/messages/message.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionEntry, SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { testSessionStore } from "../../testing/session_conformance.ts";
import type { EntryStorage, StoredSession } from "./entry_storage.ts";
import { createMemoryStorage } from "./memory_storage.ts";
import { storeFrom } from "./store_from.ts";

testSessionStore((name, run) => Deno.test(`storeFrom(): ${name}`, run), () => {
  const storage = createMemoryStorage();
  const lines: number[] = [];
  const damaged = damage(storage, { lines });
  let offset = 0;
  const open = () => storeFrom(damaged, { now: () => Date.now() + offset });
  return {
    store: open(),
    reopen: open,
    damage: (_id, position) => void lines.push(position),
    endLease: () => void (offset += 30_001),
  };
});

Deno.test("storeFrom(): deleteAll() keeps an old session that is written after it was listed", async () => {
  const storage = createMemoryStorage();
  const store = storeFrom(storage);
  const entries: SessionEntry[] = [
    { type: "title", title: "old", id: "e", parentId: null, timestamp: 1 },
  ];
  for (const id of ["a", "b"]) await (await store.create({ id, created: 1, entries })).close();
  const remove = storage.delete.bind(storage);
  storage.delete = async (id, token) => {
    if (id === "b") {
      await using session = await store.open("a");
      session.append(createMessageEntry("new"));
    }
    return await remove(id, token);
  };
  assertEquals(await store.deleteAll({ updatedBefore: Date.now() - 60_000 }), ["b"]);
  assertEquals((await store.list()).map(({ id, entries }) => [id, entries]), [["a", 2]]);
});

function createMessageEntry(text: string): SessionEntryBody {
  return { type: "message", message: userMessage(text, 1) };
}

Deno.test("storeFrom(): renews the leases of all open sessions with one timer, until they are closed", async () => {
  const timers = new ManualIntervals();
  const storage = createMemoryStorage();
  const store = storeFrom(storage, { ...timers.options, leaseMs: 30_000, owner: "first" });
  const other = storeFrom(storage, { ...timers.options, leaseMs: 30_000 });
  const sessions = [await store.create({ id: "a" }), await store.create({ id: "b" })];
  for (const session of sessions) session.append(createMessageEntry("hello"));
  for (const session of sessions) await session.flush();
  assertEquals(timers.running.map(({ milliseconds }) => milliseconds), [10_000]);
  for (let second = 0; second < 60; second += 10) {
    timers.time += 10_000;
    await timers.tick();
  }
  const error = await assertRejects(() => other.open("a"), SessionError, "is open in first");
  assertEquals([error.reason, error.owner?.heartbeat], ["locked", timers.time]);
  for (const session of sessions) await session.close();
  assertEquals(timers.running, []);
  await (await other.open("a")).close();
});

Deno.test("storeFrom(): close() releases the lease after a renewal that is under way", async () => {
  const timers = new ManualIntervals();
  const storage = createMemoryStorage();
  const calls: string[] = [];
  const renewal = createDeferred();
  const store = storeFrom({
    ...damage(storage, {}),
    lease: async (id, request) => {
      if (calls.length > 0) await renewal.promise;
      calls.push("lease");
      return await storage.lease(id, request);
    },
    release: (id, token) => {
      calls.push("release");
      return storage.release(id, token);
    },
  }, timers.options);
  const session = await store.create({ id: "s" });
  session.append(createMessageEntry("kept"));
  await session.flush();
  await timers.tick();
  const closing = session.close();
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(calls, ["lease"]);
  renewal.resolve();
  await closing;
  assertEquals(calls, ["lease", "lease", "release"]);
});

/** Lets a second writer take a session with one entry over from the first one, whose lease has ended. */
async function takeOver() {
  const timers = new ManualIntervals();
  const storage = createMemoryStorage();
  const createStore = (owner: string) => storeFrom(storage, { ...timers.options, owner });
  const first = await createStore("first").create({ id: "s" });
  first.append(createMessageEntry("kept"));
  await first.flush();
  timers.time += 30_001;
  const second = await createStore("second").open("s");
  return { timers, createStore, first, second };
}

Deno.test("storeFrom(): flush() rejects with lock_lost and the new owner after the lease ended and was granted again", async () => {
  const { createStore, first, second } = await takeOver();
  first.append(createMessageEntry("lost"));
  const error = await assertRejects(() => first.flush(), SessionError, "taken over by second");
  assertEquals([error.reason, error.owner?.name], ["lock_lost", "second"]);
  await first.close();
  await assertRejects(() => createStore("third").open("s"), SessionError, "is open in second");
  second.append(createMessageEntry("new"));
  await second.close();
  assertEquals((await createStore("third").list())[0]?.entries, 2);
});

for (const isRenewed of [true, false]) {
  const when = isRenewed ? "while it renews its lease" : "between two renewals";
  Deno.test(`storeFrom(): a writer does not take the session again from one that took it over ${when}`, async () => {
    const { timers, createStore, first, second } = await takeOver();
    if (isRenewed) await timers.tick();
    second.append(createMessageEntry("new"));
    await second.close();
    await timers.tick();
    first.append(createMessageEntry("lost"));
    const error = await assertRejects(() => first.flush(), SessionError);
    assertEquals(error.reason, "lock_lost");
    await timers.tick();
    // Also while the first writer has it open.
    const third = await createStore("third").open("s");
    third.append(createMessageEntry("newer"));
    await first.close();
    await third.close();
    assertEquals((await createStore("fourth").list())[0]?.entries, 3);
  });
}

Deno.test("storeFrom(): keeps the entries of a writer whose lease ended when no other was granted", async () => {
  const timers = new ManualIntervals();
  const store = storeFrom(createMemoryStorage(), timers.options);
  const session = await store.create({ id: "s" });
  timers.time += 3_600_000;
  session.append(createMessageEntry("late"));
  await session.close();
  assertEquals((await store.list()).length, 1);
});

Deno.test("storeFrom(): flush() rejects when close() could not store the entries", async () => {
  const storage = damage(createMemoryStorage(), {});
  const append = () => Promise.reject(new Error("out of space"));
  const session = await storeFrom({ ...storage, append }).create({ id: "s" });
  session.append(createMessageEntry("lost"));
  const closing = session.close();
  await assertRejects(() => session.flush(), SessionError, "out of space");
  await assertRejects(() => closing, SessionError, "out of space");
  await assertRejects(() => session.flush(), SessionError, "out of space");
});

Deno.test("storeFrom(): a write that fails takes back the entries that were appended during it", async () => {
  const storage = createMemoryStorage();
  const writing = createDeferred<void>();
  const outcome = createDeferred<void>();
  const store = storeFrom({
    ...damage(storage, {}),
    append: async (id, append) => {
      if (append.position === 1) {
        writing.resolve();
        await outcome.promise;
      }
      return await storage.append(id, append);
    },
  });
  const session = await store.create({ id: "s" });
  const kept = session.append(createMessageEntry("kept"));
  await session.flush();
  session.append(createMessageEntry("failed"));
  await writing.promise;
  session.append(createMessageEntry("appended meanwhile"));
  outcome.reject(new Error("out of space"));
  await assertRejects(() => session.flush(), SessionError, "2 of its entries were not stored");
  assertEquals([session.leafId, session.outline.length], [kept.id, 1]);
  await session.close();
  assertEquals((await store.list())[0]?.entries, 1);
});

Deno.test("storeFrom(): splits entries of more than 64 MiB into several appends, and keeps those that were stored", async () => {
  const storage = createMemoryStorage();
  const sizes: number[] = [];
  const store = storeFrom({
    ...damage(storage, {}),
    append: (id, append) => {
      sizes.push(append.entries.length);
      if (sizes.length === 3) return Promise.reject(new Error("out of space"));
      return storage.append(id, append);
    },
  });
  const session = await store.create({ id: "s" });
  const [short, long] = ["short", "x".repeat(40_000_000)];
  for (const text of [short, long, long, short, long]) session.append(createMessageEntry(text));
  await assertRejects(() => session.flush(), SessionError, "1 of its entries was not stored");
  assertEquals(sizes, [2, 2, 1]);
  assertEquals(session.outline.length, 4);
  session.append(createMessageEntry(short));
  await session.close();
  await using reader = await store.open("s", { access: "read" });
  const texts = (await reader.path()).map((entry) =>
    entry.type === "message" && entry.message.role === "user" && extractText(entry.message.content)
  );
  assertEquals(texts.map((text) => text && text.length), [5, 40_000_000, 40_000_000, 5, 5]);
  assertEquals((await store.list())[0]?.entries, 5);
});

Deno.test("storeFrom(): create() leaves no session of which only some entries were stored", async () => {
  const storage = createMemoryStorage();
  let appends = 0;
  const store = storeFrom({
    ...damage(storage, {}),
    append: (id, append) => {
      if (++appends === 3) return Promise.reject(new Error("out of space"));
      return storage.append(id, append);
    },
  });
  await using source = await store.create({ id: "source" });
  const data = "x".repeat(40_000_000);
  const entries = ["a", "b"].map((id) => ({
    ...{ type: "custom", name: "data", data, id, parentId: null, timestamp: 1 } as const,
  }));
  source.append({ type: "title", title: "Source" });
  await source.flush();
  await assertRejects(() => store.create({ id: "copy", entries }), SessionError, "out of space");
  assertEquals((await store.list()).map(({ id }) => id), ["source"]);
  await (await store.create({ id: "copy", entries })).close();
});

Deno.test("storeFrom(): renews a lease no later than a timer can wait", async () => {
  const timers = new ManualIntervals();
  const leaseMs = Number.MAX_SAFE_INTEGER;
  const store = storeFrom(createMemoryStorage(), { ...timers.options, leaseMs });
  const session = await store.create();
  assertEquals(timers.running.map(({ milliseconds }) => milliseconds), [2 ** 31 - 1]);
  await session.close();
});

Deno.test("storeFrom(): deleteAll() by age finds sub-agents without a list of all sessions", async () => {
  const storage = createMemoryStorage();
  const limits: unknown[] = [];
  const store = storeFrom({
    ...damage(storage, {}),
    list: (options) => {
      limits.push(options.limit);
      return storage.list(options);
    },
    deleteAll: async () => {
      const owner = { pid: 1, since: 0, heartbeat: 0 };
      await storage.lease("parent", { token: "deletion", owner, durationMs: 1 });
      return await storage.delete("parent", "deletion") ? ["parent"] : [];
    },
  });
  const parent = { subAgentParentId: "parent", subAgentCallId: "call" };
  const ids = ["child", ...Array.from({ length: 1_100 }, (_, number) => `s${number}`), "parent"];
  for (const id of ids) {
    const session = await store.create({ id, ...(id === "child" && { metadata: parent }) });
    session.append({ type: "title", title: "Session" });
    await session.close();
  }
  assertEquals(await store.deleteAll({ updatedBefore: 1 }), ["parent", "child"]);
  assertEquals(limits.filter((limit) => limit === 500).length, 3);
  assertEquals((await store.list({ limit: Infinity })).length, 1_100);
});

Deno.test("storeFrom(): keeps a session whose lease was granted to another writer while it is deleted", async () => {
  const storage = createMemoryStorage();
  let offset = 0;
  const now = () => Date.now() + offset;
  const other = storeFrom(storage, { now, owner: "other" });
  let opened: Promise<Session> | undefined;
  const store = storeFrom({
    ...damage(storage, {}),
    list: async (options) => {
      // The sub-agents of the session are listed under its lease.
      offset += 30_001;
      opened ??= other.open("s");
      await opened;
      return await storage.list(options);
    },
  }, { now });
  const created = await store.create({ id: "s" });
  created.append(createMessageEntry("kept"));
  await created.close();
  const error = await assertRejects(() => store.delete("s"), SessionError, "taken over by other");
  assertEquals(error.reason, "lock_lost");
  const session = await opened;
  session?.append(createMessageEntry("new"));
  await session?.close();
  assertEquals((await other.list())[0]?.entries, 2);
});

/** Damages a storage: the outlines and lines at some positions cannot be read. */
function damage(
  storage: EntryStorage,
  { outlines = [], lines = [] }: {
    readonly outlines?: readonly number[];
    readonly lines?: readonly number[];
  },
): EntryStorage {
  return {
    append: (id, append) => storage.append(id, append),
    list: (options) => storage.list(options),
    delete: (id, token) => storage.delete(id, token),
    lease: (id, request) => storage.lease(id, request),
    release: (id, token) => storage.release(id, token),
    load: async (id): Promise<StoredSession | undefined> => {
      const stored = await storage.load(id);
      const isKept = (_entry: unknown, position: number) => !outlines.includes(position);
      return stored && {
        ...stored,
        outline: stored.outline.map((entry, position) =>
          isKept(entry, position) ? entry : undefined
        ),
      };
    },
    readLines: async (id, positions) =>
      (await storage.readLines(id, positions)).map((line, index) =>
        lines.includes(positions[index] ?? -1) ? undefined : line
      ),
  };
}

Deno.test("storeFrom(): reports each entry that is missing in the storage, and appends after the last one", async () => {
  const storage = createMemoryStorage();
  await using session = await storeFrom(storage).create({ id: "s" });
  const entries = ["a", "b", "c", "d"].map((text) => session.append(createMessageEntry(text)));
  await session.close();
  const damaged = damage(storage, { outlines: [1, 3], lines: [2] });
  const reopened = await storeFrom(damaged).open("s");
  const [, , third] = entries;
  assertEquals(reopened.damage.map(({ type, offset }) => [type, offset]), [
    ["broken_entry", 1],
    ["lost_parent", 2],
    ["broken_entry", 3],
  ]);
  const path = await reopened.path();
  assertEquals(path, entries.slice(0, 1));
  assertEquals(reopened.damage.at(-1), {
    type: "broken_entry",
    offset: 2,
    length: 0,
    entryId: third?.id ?? "",
  });
  reopened.append(createMessageEntry("e"));
  await reopened.close();
  await using complete = await storeFrom(storage).open("s", { access: "read" });
  assertEquals(complete.outline.length, 5);
  assertEquals(complete.damage.length, 0);
});

Deno.test("storeFrom(): reports entries whose lines the storage returns in another order, and returns none of them", async () => {
  const storage = createMemoryStorage();
  const session = await storeFrom(storage).create({ id: "s" });
  const entries = ["a", "b", "c"].map((text) => session.append(createMessageEntry(text)));
  await session.close();
  const reversed: EntryStorage = {
    ...damage(storage, {}),
    readLines: async (id, positions) => (await storage.readLines(id, positions)).toReversed(),
  };
  await using reopened = await storeFrom(reversed).open("s", { access: "read" });
  assertEquals(await reopened.path(), entries.slice(1, 2));
  const [first, , third] = entries;
  assertEquals(reopened.damage.map(({ entryId }) => entryId), [first?.id, third?.id]);
});

for (const interval of [1, 0]) {
  Deno.test(`storeFrom(): lists each session once while others are written every ${interval} ms during the request for a page`, async () => {
    const timers = new ManualIntervals();
    const storage = createMemoryStorage();
    let onList = () => Promise.resolve();
    const store = storeFrom({
      ...damage(storage, {}),
      list: async (options) => {
        const page = await storage.list(options);
        await onList();
        return page;
      },
    }, timers.options);
    let step = 1;
    const ids = Array.from({ length: 300 }, (_, number) => `s${String(number).padStart(3, "0")}`);
    const write = async (id: string, open = () => store.open(id)) => {
      timers.time += step;
      await using session = await open();
      session.append(createMessageEntry(id));
    };
    for (const id of ids) await write(id, () => store.create({ id }));
    timers.time++;
    const first = await store.list({ limit: 10 });
    // More sessions than one request lists have moved; then the oldest of them moves before each further request.
    const older = ids.slice(0, 150);
    for (const id of older) await write(id);
    step = interval;
    onList = async () => {
      const id = older.shift();
      if (id !== undefined) await write(id);
    };
    const listed = [...first];
    for (let { cursor } = first; cursor !== undefined;) {
      const page = await store.list({ limit: 10, cursor });
      listed.push(...page);
      cursor = page.cursor;
    }
    assertEquals(listed.map(({ id }) => id), ids.toReversed());
  });
}

Deno.test("storeFrom(): reports an error of the storage as a SessionError that names the session", async () => {
  const failing = {
    ...damage(createMemoryStorage(), {}),
    load: () => Promise.reject(new Error("connection refused")),
    list: () => Promise.reject(new Error("connection refused")),
  };
  const store = storeFrom(failing);
  const opened = await assertRejects(
    () => store.open("s", { access: "read" }),
    SessionError,
    'Cannot read the session "s": connection refused',
  );
  assertEquals(opened.reason, "read_failed");
  await assertRejects(() => store.list(), SessionError, "Cannot read the sessions: connection");
  const created = await assertRejects(() => store.create({ id: "s" }), SessionError);
  assert(created.message.includes("connection refused"));
});

Deno.test("storeFrom(): deletes under a lease, and many sessions with the storage's deleteAll()", async () => {
  const storage = createMemoryStorage();
  const calls: unknown[] = [];
  const store = storeFrom({
    ...damage(storage, {}),
    lease: (id, request) => {
      calls.push(["lease", request.token]);
      return storage.lease(id, request);
    },
    delete: (id, token) => {
      calls.push(["delete", token]);
      return storage.delete(id, token);
    },
    deleteAll: (options) => {
      calls.push(["deleteAll", options]);
      return options.tenant === "acme"
        ? Promise.resolve(["a", "b"])
        : Promise.reject(new Error("connection refused"));
    },
  });
  const session = await store.create({ id: "s" });
  session.append(createMessageEntry("kept"));
  await session.close();
  await store.delete("s");
  assertEquals(await store.deleteAll({ tenant: "acme" }), ["a", "b"]);
  const [, [, token] = []] = calls as unknown[][];
  assertEquals(calls.slice(1), [["lease", token], ["delete", token], ["deleteAll", {
    tenant: "acme",
  }]]);
  const error = await assertRejects(() => store.deleteAll({ tenant: "zoo" }), SessionError);
  assertEquals(error.message, "Cannot write the sessions: connection refused");
});

Deno.test("storeFrom(): search() ends when it is aborted while the storage searches", async () => {
  const controller = new AbortController();
  const store = storeFrom({
    ...damage(createMemoryStorage(), {}),
    search: () => {
      queueMicrotask(() => controller.abort());
      return new Promise(() => {});
    },
  });
  assertEquals(await store.search("word", { signal: controller.signal }), []);
});
