import { assertStringIncludes } from "@std/assert";
import { MEMORY_PATH, openDatabase } from "./sqlite_database.ts";
import { createSearchQuery } from "./sqlite_queries.ts";
import { createTables } from "./sqlite_tables.ts";

Deno.test("createSearchQuery(): the search of one session uses the range of its entries in the index", async () => {
  const database = await openDatabase(MEMORY_PATH, createTables);
  const { sql, values } = createSearchQuery({ words: ["the"], sessionId: "s", limit: 10 });
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  database.close();
  const plan = steps.map(({ detail }) => String(detail)).join("; ");
  // Both ends of the range are constraints of the full-text index.
  assertStringIncludes(plan, "SCAN entry_text VIRTUAL TABLE INDEX 0:M1><");
});
