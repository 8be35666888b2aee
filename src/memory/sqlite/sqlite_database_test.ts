import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { SessionError } from "../../core/errors/errors.ts";
import { addAdvice, isDiskFull, MEMORY_PATH, openDatabase } from "./sqlite_database.ts";
import { createTables } from "./sqlite_tables.ts";

Deno.test("addAdvice(): a full disk and a damaged database have advice, other errors stay", async () => {
  const database = await openDatabase(MEMORY_PATH, createTables);
  database.exec("PRAGMA max_page_count = 1");
  const insert = () => database.exec("CREATE TABLE large AS SELECT zeroblob(100000)");
  const full = assertThrows(insert, Error);
  assertEquals(isDiskFull(full), true);
  assertStringIncludes(String(addAdvice(full)), "free some space");
  database.close();
  const damaged = new Error("database disk image is malformed");
  assertStringIncludes(String(addAdvice(damaged)), "restore a backup");
  const other = new Error("no such table");
  assertEquals(addAdvice(other), other);
});

Deno.test("openDatabase(): names the versions that are needed when SQLite has no full-text search", async () => {
  const createTables = () => {
    throw new Error("no such module: fts5"); // as on Node 22.13 to 22.15
  };
  const error = await assertRejects(() => openDatabase(MEMORY_PATH, createTables), SessionError);
  assertEquals(error.reason, "read_failed");
  assertStringIncludes(error.message, "Node 22.16 or later");
  assertStringIncludes(error.message, "FileSessionStore");
});
