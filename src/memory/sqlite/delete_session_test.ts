import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  createMessageEntry,
  openSqlite,
  testDatabase,
} from "../../../tests/memory/sqlite_database.ts";
import { SessionError } from "../../core/errors/errors.ts";
import { scopeStore } from "../storage/scoped_store.ts";
import { deleteSession } from "./delete_session.ts";
import { type Database, openDatabase } from "./sqlite_database.ts";
import { SqliteSessionStore } from "./sqlite_store.ts";
import { createTables } from "./sqlite_tables.ts";

/** A text of about 4,000 characters. */
const LONG_TEXT = Array.from({ length: 450 }, (_, number) => `zebra${number}`).join(" ");

async function writeSession(store: SqliteSessionStore, id: string, text: string): Promise<void> {
  await using session = await store.create({ id, tenant: "acme", created: 1 });
  session.append({ type: "title", title: `Title ${text.slice(0, 5)}` });
  for (let number = 0; number < 20; number++) {
    session.append(createMessageEntry(`${text} ${number}`));
  }
}

/** Deletes the first part of a session, as a process that ends meanwhile does. */
async function interruptDeletion(path: string, id: string): Promise<void> {
  const database = await openDatabase(path, createTables);
  let parts = 0;
  const deletion = deleteSession(id, (act) => {
    if (++parts === 3) throw new Error("interrupted");
    return Promise.resolve(act(database));
  });
  await assertRejects(() => deletion, Error, "interrupted");
  database.close();
}

async function hasText(path: string, text: string): Promise<boolean> {
  return new TextDecoder("latin1").decode(await Deno.readFile(path)).includes(text);
}

testDatabase("delete() lets other tasks run while it deletes a long session", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "long", LONG_TEXT);
  await using other = await store.create({ id: "other" });
  let isDeleted = false;
  const deletion = store.delete("long").then(() => isDeleted = true);
  const states = new Set<boolean>();
  while (!isDeleted) {
    other.append({ type: "title", title: "Written meanwhile" });
    await other.flush();
    const long = (await store.list()).find(({ id }) => id === "long");
    if (long) states.add(long.problem !== undefined);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  await deletion;
  assertEquals([...states].at(-1), true);
  assertEquals((await store.list()).map(({ id }) => id), ["other"]);
});

testDatabase("a session whose deletion was interrupted can be deleted again", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "a", LONG_TEXT);
  await writeSession(store, "b", "needle");
  await interruptDeletion(path, "a");

  const listed = (await store.list({ tenant: "acme" })).find(({ id }) => id === "a");
  assertEquals([listed?.title, listed?.created], [undefined, 1]);
  assert(listed?.problem?.includes("delete it again"));
  await using opened = await store.open("a", { access: "read" });
  assertEquals([opened.header.tenant, opened.outline, opened.damage], ["acme", [], []]);
  assertEquals(await store.search("zebra19"), []);
  await scopeStore(store, { tenant: "acme" }).delete("a");
  assertEquals((await store.list()).map(({ id }) => id), ["b"]);
  assertEquals((await store.search("needle", { limit: 100 })).length, 20);
  await store.close();
  assert(!await hasText(path, "zebra"));
});

testDatabase("deleteAll() deletes a session whose deletion was interrupted", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "a", LONG_TEXT);
  await interruptDeletion(path, "a");
  assertEquals(await store.deleteAll({ updatedBefore: Date.now() + 1_000 }), ["a"]);
  await store.close();
  assert(!await hasText(path, "zebra"));
});

testDatabase("a session whose deletion was interrupted can be continued, empty", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "a", LONG_TEXT);
  await interruptDeletion(path, "a");
  await using session = await store.open("a");
  session.append({ type: "title", title: "Again" });
  await session.close();
  const [summary] = await store.list({ tenant: "acme" });
  assertEquals([summary?.title, summary?.entries, summary?.problem], ["Again", 1, undefined]);
  await store.close();
  assert(!await hasText(path, "zebra"));
});

testDatabase("delete() ends when another process has deleted the rest", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "a", LONG_TEXT);
  const database = await openDatabase(path, createTables);
  let parts = 0;
  const isDeleted = await deleteSession("a", async (act) => {
    if (++parts === 3) {
      await store.delete("a");
      await writeSession(store, "a", "needle");
    }
    return act(database);
  });
  database.close();
  assertEquals([isDeleted, parts], [true, 3]);
  await using session = await store.open("a", { access: "read" });
  assertEquals([session.outline.length, session.damage], [21, []]);
});

testDatabase("delete() deletes the entries of a session without a row", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "a", LONG_TEXT);
  await writeSession(store, "b", "needle");
  const database = openSqlite(path);
  database.exec("PRAGMA secure_delete = ON; DELETE FROM sessions WHERE id = 'a'");
  await assertRejects(() => store.delete("a"), SessionError, "does not exist");
  const { count } = database.prepare("SELECT count(*) AS count FROM entries").get() ?? {};
  database.close();
  assertEquals([count, (await store.search("needle", { limit: 100 })).length], [21, 20]);
});

testDatabase(
  "delete() reports a full disk at once when another process has the database open",
  async (path) => {
    await using store = new SqliteSessionStore({ path });
    await writeSession(store, "a", "needle");
    const database = await openDatabase(path, createTables);
    // The deletion needs space.
    database.exec(`
    CREATE TABLE pages (page BLOB);
    CREATE TRIGGER full BEFORE DELETE ON sessions BEGIN INSERT INTO pages VALUES (zeroblob(100000)); END;
    PRAGMA max_page_count = 1;
  `);
    const use = <Value>(act: (database: Database) => Value) =>
      new Promise<Value>((resolve) => resolve(act(database)));
    await assertRejects(() => deleteSession("a", use), Error, "database or disk is full");
    database.close();
  },
);
