import { assert, assertEquals, assertFalse, assertMatch, assertRejects } from "@std/assert";
import {
  createMessageEntry,
  openSqlite,
  testDatabase,
} from "../../../tests/memory/sqlite_database.ts";
import { SessionError } from "../../core/errors/errors.ts";
import type { SessionDamage } from "../../core/sessions/session.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { testSessionStore } from "../../testing/session_conformance.ts";
import { localFileSystem } from "../file/local_file_system.ts";
import type { StorageListOptions } from "../storage/entry_storage.ts";
import { openDatabase } from "./sqlite_database.ts";
import { createListQuery } from "./sqlite_queries.ts";
import { SqliteSessionStore, type SqliteStoreOptions } from "./sqlite_store.ts";
import { createTables } from "./sqlite_tables.ts";

testSessionStore((name, run) => Deno.test(`SqliteSessionStore: ${name}`, run), async () => {
  const directory = await Deno.makeTempDir();
  const stores: SqliteSessionStore[] = [];
  const path = `${directory}/sessions.db`;
  const open = () => {
    const files = { ...localFileSystem, wait: () => Promise.resolve() };
    const options: SqliteStoreOptions = { path, files };
    const store = new SqliteSessionStore(options);
    stores.push(store);
    return store;
  };
  return {
    store: open(),
    reopen: open,
    damage: async (_id, position) => {
      const database = await openDatabase(path, createTables);
      database.exec(`UPDATE entries SET line = 'garbled' WHERE position = ${position}`);
      database.close();
    },
    endLease: (id) => {
      const lock = `${path}-locks/${id}.lock`;
      Deno.utimeSync(lock, 0, Date.now() / 1000 - 31);
    },
    dispose: async () => {
      for (const store of stores) await store.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
});

testDatabase("refuses a database of another program, which stays as it is", async (path) => {
  const names = ["bookmarks", "sessions"];
  for (const [version, name] of [0, 3, 5].flatMap((v) => names.map((name) => [v, name] as const))) {
    const file = `${path}-${version}-${name}`;
    const other = openSqlite(file);
    other.exec(`CREATE TABLE ${name} (content TEXT); PRAGMA user_version = ${version}`);
    other.close();
    const before = Deno.readFileSync(file);
    await using store = new SqliteSessionStore({ path: file });
    for (const use of [() => store.list(), () => store.create({ id: "s" })]) {
      const error = await assertRejects(use, SessionError, "has tables of another program");
      assertEquals(error.reason, "not_a_session");
    }
    assertEquals(Deno.readFileSync(file), before);
  }
});

Deno.test("SqliteSessionStore: rejects a database of a newer version", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/sessions.db`;
  const database = await openDatabase(path, createTables);
  database.exec("PRAGMA user_version = 7");
  database.close();
  await using store = new SqliteSessionStore({ path });
  const error = await assertRejects(() => store.list(), SessionError, "update the program");
  assertEquals(error.reason, "newer_version");
  await Deno.remove(directory, { recursive: true });
});

Deno.test("SqliteSessionStore: rejects a file that is not a database, and works after its removal", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/sessions.db`;
  await Deno.writeTextFile(path, "not a database, ".repeat(100));
  await using store = new SqliteSessionStore({ path });
  const error = await assertRejects(() => store.create(), SessionError, "not a database");
  assertEquals(error.reason, "read_failed");
  assert(error.message.includes(`the database "${path}" cannot be opened: `), error.message);
  await Deno.remove(path);
  assertEquals(await store.list(), []);
  await store.close();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("SqliteSessionStore: memory and rows agree when a write fails", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/sessions.db`;
  await using store = new SqliteSessionStore({ path });
  const session = await store.create({ id: "s" });
  const kept = session.append({ type: "title", title: "kept" });
  await session.flush();
  const database = await openDatabase(path, createTables);
  database.exec(
    "CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(FAIL, 'full'); END",
  );
  session.append({ type: "title", title: "lost" });
  await assertRejects(() => session.flush(), SessionError, "full");
  assertEquals(session.leafId, kept.id);
  database.exec("DROP TRIGGER full");
  database.close();
  session.append({ type: "title", title: "kept again" });
  await session.close();
  const [summary] = await store.list();
  assertEquals([summary?.entries, summary?.title], [2, "kept again"]);
  await store.close();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("SqliteSessionStore: another process reads flushed entries immediately", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/sessions.db`;
  await using store = new SqliteSessionStore({ path });
  await using session = await store.create({ id: "s" });
  session.append({ type: "title", title: "now" });
  await session.flush();
  const script = `
    import { DatabaseSync } from "node:sqlite";
    const database = new DatabaseSync(${JSON.stringify(path)}, { readOnly: true });
    console.log(database.prepare("SELECT count(*) AS n FROM entries").get().n);
  `;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-config", script],
  }).output();
  assert(new TextDecoder().decode(stdout).trim() === "1");
  await session.close();
  await store.close();
  await Deno.remove(directory, { recursive: true });
});

async function writeSession(
  store: SqliteSessionStore,
  id: string,
  ...texts: readonly string[]
): Promise<SessionEntry[]> {
  await using session = await store.create({ id });
  return texts.map((text) => session.append(createMessageEntry(text)));
}

/** Reads the database and its write-ahead log. */
function readFiles(path: string): string {
  return ["", "-wal"].map((extension) => {
    try {
      return new TextDecoder("latin1").decode(Deno.readFileSync(path + extension));
    } catch {
      return "";
    }
  }).join("");
}

if (Deno.build.os !== "windows") {
  testDatabase("creates files that only their owner can read", async (path) => {
    await using store = new SqliteSessionStore({ path });
    await using session = await store.create({ id: "s" });
    session.append(createMessageEntry("private"));
    await session.flush();
    for (const extension of ["", "-wal", "-shm"]) {
      assertEquals((Deno.statSync(path + extension).mode ?? 0) & 0o777, 0o600);
    }
    await session.close();
    await store.close();
  });
}

testDatabase("delete() removes the text and its words from all files", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "kept", "the public text");
  const secrets = Array.from({ length: 40 }, (_, number) => `secretword${number} `.repeat(50));
  await writeSession(store, "gone", ...secrets);
  assert(readFiles(path).includes("secretword"));
  await store.delete("gone");
  assert(!readFiles(path).includes("secretword"));
  assertEquals(await store.search("secretword"), []);
  assertEquals((await store.search("public")).length, 1);
  await store.close();
});

testDatabase(
  "waits for the lock of another connection without blocking the event loop",
  async (path) => {
    await using store = new SqliteSessionStore({ path });
    await using session = await store.create({ id: "s" });
    session.append(createMessageEntry("one"));
    await session.flush();
    const other = await openDatabase(path, createTables);
    other.exec("BEGIN IMMEDIATE");
    session.append(createMessageEntry("two"));
    let isFlushed = false;
    const flushed = session.flush().then(() => isFlushed = true);
    let ticks = 0;
    while (ticks < 20) {
      await new Promise((resolve) => setTimeout(resolve));
      ticks++;
    }
    assertEquals(isFlushed, false);
    other.exec("COMMIT");
    other.close();
    await flushed;
    assertEquals(session.outline.length, 2);
    await session.close();
    await store.close();
  },
);

testDatabase("reports every entry that cannot be read from overwritten pages", async (path) => {
  const ids = await (async () => {
    await using store = new SqliteSessionStore({ path });
    return (await writeSession(
      store,
      "s",
      ...Array.from({ length: 50 }, (_, number) => `${number} ${"x".repeat(900)}`),
    )).map(({ id }) => id);
  })();
  const size = (await Deno.stat(path)).size;
  const intact = await Deno.readFile(path);
  let damagedDatabases = 0;
  for (let offset = 4096; offset + 4096 <= size; offset += 4096) {
    const bytes = intact.slice();
    bytes.fill(0xa5, offset, offset + 4096);
    await Deno.writeFile(path, bytes);
    const store = new SqliteSessionStore({ path });
    try {
      const session = await store.open("s", { access: "read" });
      const read = (await Array.fromAsync(session.entries())).map(({ id }) => id);
      const reported = session.damage.filter(({ type }) => type === "broken_entry").length;
      assertEquals(read.length + reported, ids.length, `page at ${offset}`);
      assertEquals(read.filter((id) => !ids.includes(id)), []);
      if (reported > 0) damagedDatabases++;
      await session.close();
    } catch (error) {
      assert(error instanceof SessionError, `page at ${offset}: ${error}`);
    } finally {
      await store.close();
    }
  }
  assert(damagedDatabases > 3, `${damagedDatabases} pages with entries`);
});

testDatabase("keeps a database in memory without any file", async (path) => {
  const directory = path.slice(0, path.lastIndexOf("/"));
  const before = Array.from(Deno.readDirSync("."), ({ name }) => name).toSorted();
  await using store = new SqliteSessionStore({ path: ":memory:" });
  const session = await store.create({ id: "s" });
  session.append(createMessageEntry("one"));
  await session.flush();
  await assertRejects(() => store.open("s"), SessionError, "is open in");
  await session.close();
  assertEquals((await store.list()).length, 1);
  await store.close();
  assertEquals(Array.from(Deno.readDirSync(".")).map(({ name }) => name).toSorted(), before);
  assertEquals(Array.from(Deno.readDirSync(directory)), []);
});

testDatabase("delete() waits for a process that reads the write-ahead log", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "gone", ...Array.from({ length: 40 }, () => "secretword ".repeat(50)));
  const reader = openSqlite(path);
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM entries").get();
  let isDeleted = false;
  const deleted = store.delete("gone").then(() => isDeleted = true);
  for (let tick = 0; tick < 20; tick++) await new Promise((resolve) => setTimeout(resolve));
  assertEquals([isDeleted, readFiles(path).includes("secretword")], [false, true]);
  reader.exec("COMMIT");
  reader.close();
  await deleted;
  assert(!readFiles(path).includes("secretword"));
  await store.close();
});

testDatabase("flush() rejects after the database was deleted or replaced", async (path) => {
  for (const change of ["deleted", "replaced"]) {
    const store = new SqliteSessionStore({ path });
    const session = await store.create({ id: "s" });
    session.append(createMessageEntry("one"));
    await session.flush();
    await Deno.copyFile(path, `${path}.copy`);
    await Deno.remove(path);
    if (change === "replaced") await Deno.rename(`${path}.copy`, path);
    session.append(createMessageEntry("two"));
    const error = await assertRejects(() => session.flush(), SessionError, change);
    assertEquals(error.reason, "write_failed");
    assertEquals(session.outline.length, 1);
    await session.close();
    assertEquals((await store.list()).length, change === "deleted" ? 0 : 1);
    await store.close();
    for (const extension of ["", "-wal", "-shm"]) {
      await Deno.remove(path + extension).catch(() => {});
    }
  }
});

testDatabase(
  "flush() rejects if only a later call found that the database was deleted",
  async (path) => {
    await using store = new SqliteSessionStore({ path });
    const session = await store.create({ id: "s" });
    session.append(createMessageEntry("one"));
    // Written, but not synced to disk.
    while ((await store.list()).length === 0) await Promise.resolve();
    await Deno.remove(path);
    assertEquals((await store.list()).length, 0);
    await assertRejects(() => session.flush(), SessionError, "replaced");
    await session.close().catch(() => {});
    await store.close();
  },
);

testDatabase(
  "flush() puts entries into the database if the write-ahead log was deleted",
  async (path) => {
    await using store = new SqliteSessionStore({ path });
    const session = await store.create({ id: "s" });
    session.append(createMessageEntry("one"));
    await session.flush();
    await Deno.remove(`${path}-wal`);
    session.append(createMessageEntry("two"));
    await session.flush();
    const database = openSqlite(`file:${path}?immutable=1`, { readOnly: true });
    assertEquals(database.prepare("SELECT count(*) AS n FROM entries").get()?.["n"], 2);
    database.close();
    await session.close();
    await store.close();
  },
);

testDatabase("flush() of a session without entries does not skip that of another", async (path) => {
  const files = { ...localFileSystem };
  const options: SqliteStoreOptions = { path, files };
  await using store = new SqliteSessionStore(options);
  const [full, empty] = [await store.create({ id: "full" }), await store.create({ id: "empty" })];
  full.append(createMessageEntry("one"));
  while ((await store.list()).length === 0) await Promise.resolve();
  await empty.flush();
  await full.flush();
  const database = await openDatabase(path, createTables);
  assertEquals(database.prepare("SELECT syncs FROM sessions").get()?.["syncs"], 1);
  database.close();
  await full.close();
  await empty.close();
  await store.close();
});

testDatabase("lists and reads a database that cannot be written", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "s", "one");
  await store.close();
  const url = new URL("./sqlite_store.ts", import.meta.url).href;
  const script = `
    import { SqliteSessionStore, type SqliteStoreOptions } from ${JSON.stringify(url)};
    const store = new SqliteSessionStore({ path: ${JSON.stringify(path)} });
    const session = await store.open("s", { access: "read" });
    const listed = await store.list();
    console.log(listed.length, session.outline.length, (await store.search("one")).length);
  `;
  await Deno.writeTextFile(`${path}.ts`, script);
  for (const version of ["current", "5"]) {
    const database = openSqlite(path);
    if (version !== "current") database.exec(`PRAGMA user_version = ${version}`);
    database.close();
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-config",
        "--no-check",
        "--cached-only",
        "--allow-read",
        "--allow-env",
        "--allow-sys",
        `${path}.ts`,
      ],
    }).output();
    const errors = new TextDecoder().decode(stderr);
    assertEquals(new TextDecoder().decode(stdout).trim(), "1 1 1", errors);
  }
});

testDatabase("list() with a limit reads only that many sessions, from an index", async (path) => {
  const database = await openDatabase(path, createTables);
  const explain = (options: StorageListOptions) => {
    const { sql, values } = createListQuery(options);
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    return steps.map(({ detail }) => String(detail)).join("; ");
  };
  const after = { updated: 1, id: "s" };
  assertEquals(explain({ limit: 10 }), "SCAN sessions USING INDEX sessions_in_order");
  for (const filter of [{}, { tenant: "t" }, { user: "u" }]) {
    assertMatch(explain({ limit: 10, after, ...filter }), /^SEARCH sessions USING INDEX \w+ \(/);
  }
  const plan = explain({ limit: 10, after, metadata: { plan: "pro" } });
  assertMatch(plan, /SEARCH session_members USING PRIMARY KEY \(member=\?/);
  assertFalse(/SCAN sessions(;|$)/.test(plan), plan);
  database.close();
});

testDatabase(
  "opens a session with a forged number of entries, and does not write to it",
  async (path) => {
    await using store = new SqliteSessionStore({ path });
    await writeSession(store, "s", "a", "b");
    const database = await openDatabase(path, createTables);
    for (
      const [count, missing] of [[2_000_000_000, 100_000], [2 ** 50, 100_000], [3, 1]] as const
    ) {
      database.exec(`UPDATE sessions SET entries = ${count}`);
      const session = await store.open("s", { access: "read" });
      assertEquals([session.outline.length, session.damage.length], [2, missing]);
      await session.close();
    }
    database.exec("UPDATE sessions SET entries = -5");
    const session = await store.open("s");
    assertEquals(session.outline, []);
    session.append(createMessageEntry("c"));
    const error = await assertRejects(() => session.close(), SessionError, "another program has");
    assertEquals(error.reason, "write_failed");
    assertEquals(database.prepare("SELECT count(*) AS count FROM entries").get()?.["count"], 2);
    database.close();
    await store.close();
  },
);

testDatabase(
  "finds the entries around a damaged page of the table when the index is damaged too",
  async (path) => {
    await using store = new SqliteSessionStore({ path });
    const texts = Array.from({ length: 300 }, (_, number) => `text ${number}. ${"x".repeat(200)}`);
    await writeSession(store, "s", ...texts);
    await store.close();
    const database = openSqlite(path);
    const schema = "SELECT rootpage FROM sqlite_schema WHERE name = 'entry_outlines'";
    const root = Number(database.prepare(schema).get()?.["rootpage"]);
    database.close();
    const bytes = await Deno.readFile(path);
    const size = 4096;
    bytes.fill(0, (root - 1) * size, root * size);
    const page = Math.floor(new TextDecoder("latin1").decode(bytes).indexOf("text 150.") / size);
    bytes.fill(0, page * size, (page + 1) * size);
    await Deno.writeFile(path, bytes);
    await using damaged = new SqliteSessionStore({ path });
    await using session = await damaged.open("s", { access: "read" });
    assert(session.outline.length > 250, `${session.outline.length} entries`);
    assertEquals(session.outline.length + session.damage.filter(isBroken).length, 300);
    await session.close();
    await damaged.close();
  },
);

function isBroken({ type }: SessionDamage): boolean {
  return type === "broken_entry";
}

testDatabase(
  "flush() rejects with the new owner after the session was taken over",
  async (path) => {
    const open = (owner: string) => {
      const files = { ...localFileSystem, wait: () => Promise.resolve() };
      const options: SqliteStoreOptions = { path, owner, files };
      return new SqliteSessionStore(options);
    };
    await using first = open("first");
    await using second = open("second");
    const session = await first.create({ id: "s" });
    session.append(createMessageEntry("kept"));
    await session.flush();
    Deno.utimeSync(`${path}-locks/s.lock`, 0, Date.now() / 1000 - 31);
    await using taken = await second.open("s");
    session.append(createMessageEntry("lost"));
    const error = await assertRejects(() => session.flush(), SessionError, "taken over by second");
    assertEquals([error.reason, error.owner?.name], ["lock_lost", "second"]);
    await session.close();
    taken.append(createMessageEntry("kept too"));
    await taken.close();
    assertEquals((await second.list())[0]?.entries, 2);
  },
);

testDatabase("delete() keeps a session whose lock was taken over meanwhile", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "s", "kept");
  store.list = async () => {
    await Deno.remove(`${path}-locks/s.lock`);
    return [];
  };
  const error = await assertRejects(() => store.delete("s"), SessionError);
  assertEquals(error.reason, "lock_lost");
  await using reader = await store.open("s", { access: "read" });
  assertEquals(reader.outline.length, 1);
  await store.close();
});
