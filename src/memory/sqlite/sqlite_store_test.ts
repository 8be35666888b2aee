import { assert, assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../core/errors.ts";
import { testSessionStore } from "../../testing/session_conformance.ts";
import { openDatabase } from "./sqlite_database.ts";
import { createTables } from "./sqlite_tables.ts";
import { SqliteSessionStore } from "./sqlite_store.ts";

testSessionStore((name, run) => Deno.test(`SqliteSessionStore: ${name}`, run), async () => {
  const directory = await Deno.makeTempDir();
  const stores: SqliteSessionStore[] = [];
  const open = () => {
    const store = new SqliteSessionStore({ path: `${directory}/sessions.db` });
    stores.push(store);
    return store;
  };
  return {
    store: open(),
    reopen: open,
    dispose: async () => {
      for (const store of stores) await store.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
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
