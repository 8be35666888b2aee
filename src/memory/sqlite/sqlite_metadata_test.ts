import { assert, assertEquals } from "@std/assert";
import {
  createMessageEntry,
  openSqlite,
  testDatabase,
} from "../../../tests/memory/sqlite_database.ts";
import { SqliteSessionStore } from "./sqlite_store.ts";

testDatabase("stores the metadata in the header only", async (path) => {
  await using store = new SqliteSessionStore({ path });
  const metadata = { text: "x".repeat(60_000) };
  await using session = await store.create({ id: "s", tenant: "acme", metadata });
  session.append(createMessageEntry("a"));
  await session.close();
  assertEquals((await store.list({ tenant: "acme" }))[0]?.metadata, metadata);
  await store.close();
  const database = openSqlite(path);
  const row = database.prepare("SELECT length(summary) AS length FROM sessions").get();
  database.close();
  assert(Number(row?.["length"]) < 2_000);
});

testDatabase("deletes the members of metadata with their session", async (path) => {
  await using store = new SqliteSessionStore({ path });
  await using session = await store.create({ id: "s", metadata: { secret: "xyzzy-metadata" } });
  session.append(createMessageEntry("a"));
  await session.close();
  await store.delete("s");
  await store.close();
  const bytes = new TextDecoder("latin1").decode(await Deno.readFile(path));
  assertEquals(bytes.includes("xyzzy-metadata"), false);
});
