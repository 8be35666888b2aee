import { assertEquals, assertRejects } from "@std/assert";
import {
  createMessageEntry,
  openSqlite,
  testDatabase,
} from "../../../tests/memory/sqlite_database.ts";
import { SessionError } from "../../core/errors/errors.ts";
import { openDatabase } from "./sqlite_database.ts";
import { SqliteSessionStore } from "./sqlite_store.ts";
import { createTables } from "./sqlite_tables.ts";

async function writeSession(
  store: SqliteSessionStore,
  id: string,
  ...texts: readonly string[]
): Promise<void> {
  await using session = await store.create({ id });
  for (const text of texts) session.append(createMessageEntry(text));
}

testDatabase("lists, opens and deletes a session whose row is damaged", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "intact", "one");
  for (const column of ["summary", "header"]) {
    for (const value of ["{", "null", '{"id":"intact"}', "[]"]) {
      await using session = await store.create({ id: "s", tenant: "acme" });
      session.append(createMessageEntry("two"));
      await session.close();
      const database = await openDatabase(path, createTables);
      database.prepare(`UPDATE sessions SET ${column} = ? WHERE id = 's'`).run(value);
      database.close();
      const listed = await store.list();
      assertEquals(listed.map(({ id }) => id).toSorted(), ["intact", "s"]);
      const { problem } = listed.find(({ id }) => id === "s") ?? {};
      assertEquals(problem !== undefined, column === "summary");
      const opened = await store.open("s");
      assertEquals([opened.id, opened.header.tenant], ["s", "acme"]);
      opened.append(createMessageEntry("three"));
      await opened.close();
      assertEquals((await store.search("three")).length, 1);
      const restored = (await store.list({ tenant: "acme" }))[0];
      assertEquals([restored?.problem, restored?.firstPrompt], [undefined, "two"]);
      assertEquals([restored?.entries, restored?.messages], [2, 2]);
      await store.delete("s");
    }
  }
  await store.close();
});

testDatabase("restores a damaged summary of a session that has lost an entry", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await writeSession(store, "s", "one", "two", "three");
  const database = openSqlite(path);
  database.exec("DELETE FROM entries WHERE position = 1; UPDATE sessions SET summary = '{'");
  database.close();
  await using session = await store.open("s");
  session.append(createMessageEntry("four"));
  await session.close();
  const [summary] = await store.list();
  // The number of entries is also that of the positions.
  assertEquals([summary?.entries, summary?.messages, summary?.firstPrompt], [4, 3, "one"]);
  await store.close();
});

testDatabase(
  "flush() syncs a session also after another one whose row was deleted",
  async (path) => {
    await using store = new SqliteSessionStore({ path });
    const [kept, deleted] = [
      await store.create({ id: "kept" }),
      await store.create({ id: "gone" }),
    ];
    for (const session of [kept, deleted]) {
      session.append(createMessageEntry("a"));
      await session.flush();
    }
    const database = openSqlite(path);
    const readSyncs = () =>
      database.prepare("SELECT syncs FROM sessions WHERE id = 'kept'").get()?.["syncs"];
    const before = Number(readSyncs());
    for (const session of [kept, deleted]) session.append(createMessageEntry("b"));
    // Both entries are committed, and not synced.
    while (Number(database.prepare("SELECT count(*) AS n FROM entries").get()?.["n"]) < 4) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    database.exec("DELETE FROM sessions WHERE id = 'gone'");
    await assertRejects(() => deleted.flush(), SessionError, "replaced");
    await kept.flush();
    assertEquals(readSyncs(), before + 1);
    database.close();
    await kept.close();
    await deleted.close();
  },
);
