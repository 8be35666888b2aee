import { assertEquals } from "@std/assert";
import {
  createMessageEntry,
  openSqlite,
  testDatabase,
} from "../../../tests/memory/sqlite_database.ts";
import { createHeader, encodeEntry } from "../store/jsonl.ts";
import { SummaryBuilder } from "../store/summary.ts";
import { SqliteSessionStore } from "./sqlite_store.ts";

/** The index of words in the tables of the versions 2 and 3. */
const VERSION_3_INDEX = `
  CREATE VIRTUAL TABLE entry_text USING fts5(
    text, content='', tokenize='unicode61 remove_diacritics 0'
  );
  INSERT INTO entry_text (entry_text, rank) VALUES ('secure-delete', 1);
`;

testDatabase(
  "upgrades the index of version 5, so that it has words without spaces",
  async (path) => {
    const old = new SqliteSessionStore({ path });
    await using session = await old.create({ id: "s" });
    session.append(createMessageEntry("我喜欢北京烤鸭"));
    await session.close();
    await old.close();
    const database = openSqlite(path);
    database.exec(`
    INSERT INTO entry_text (entry_text) VALUES ('delete-all');
    INSERT INTO entry_text (rowid, text) SELECT number, '62114eac' FROM entries;
    PRAGMA user_version = 5
  `);
    database.close();
    await using store = new SqliteSessionStore({ path });
    assertEquals((await store.search("北京")).length, 1);
    await store.delete("s");
    assertEquals(await store.search("北京"), []);
  },
);

testDatabase("upgrades the columns of version 4, which have lost parts of texts", async (path) => {
  const ids = ["\ud800", "a\0b", "\ue000d800", "plain"];
  const entries = ids.map((id, number) => ({
    ...createMessageEntry(id),
    id,
    parentId: ids[number - 1] ?? null,
    timestamp: number,
  }));
  const old = new SqliteSessionStore({ path });
  await (await old.create({ id: "s", tenant: "\ud800", user: "\ue000", entries })).close();
  await old.close();
  const database = openSqlite(path);
  const set = database.prepare("UPDATE entries SET id = ?, parent = ? WHERE position = ?");
  // SQLite stores a lone surrogate as the replacement character.
  for (const [position, { id, parentId }] of entries.entries()) set.run(id, parentId, position);
  database.prepare("UPDATE sessions SET tenant = ?, user = ?").run("\ud800", "\ue000");
  database.exec("PRAGMA user_version = 4");
  database.close();
  await using store = new SqliteSessionStore({ path });
  await using session = await store.open("s");
  assertEquals(await session.path(), entries);
  assertEquals(session.damage, []);
  assertEquals((await store.list({ tenant: "\ud800", user: "\ue000" })).length, 1);
  assertEquals(await store.list({ tenant: "\ufffd" }), []);
});

testDatabase(
  "upgrades the index of version 3, so that it has words of all scripts",
  async (path) => {
    const text = "needle e\u0301clair \u{1e900}\u{1e922}";
    const old = new SqliteSessionStore({ path });
    for (const id of ["a", "b"]) {
      await using session = await old.create({ id });
      session.append(createMessageEntry(text));
    }
    await old.close();
    const database = openSqlite(path);
    database.exec(`DROP TABLE entry_text; ${VERSION_3_INDEX}; PRAGMA user_version = 3`);
    const entries = database.prepare("SELECT number FROM entries").all();
    for (const { number } of entries) {
      database.prepare("INSERT INTO entry_text (rowid, text) VALUES (?, ?)").run(number ?? 0, text);
    }
    database.close();
    await using store = new SqliteSessionStore({ path });
    for (const word of ["needle", "e\u0301clair", "\u{1e900}"]) {
      assertEquals((await store.search(word)).length, 2, word);
    }
    await store.delete("a");
    assertEquals((await store.search("needle")).map(({ sessionId }) => sessionId), ["b"]);
    await store.close();
  },
);

testDatabase("upgrades the tables of version 2, with an index of metadata", async (path) => {
  const old = new SqliteSessionStore({ path });
  for (const plan of ["pro", "free"]) {
    await using session = await old.create({ id: plan, metadata: { plan, seats: 3 } });
    session.append(createMessageEntry("needle"));
  }
  await old.close();
  const database = openSqlite(path);
  database.exec("DROP TABLE session_members; DROP TABLE entry_text; PRAGMA user_version = 2");
  database.exec(VERSION_3_INDEX);
  database.close();
  await using store = new SqliteSessionStore({ path });
  assertEquals((await store.list({ metadata: { plan: "pro" } })).map(({ id }) => id), ["pro"]);
  assertEquals((await store.search("needle", { metadata: { seats: 3 } })).length, 2);
  await store.delete("pro");
  assertEquals((await store.list({ metadata: { seats: 3 } })).map(({ id }) => id), ["free"]);
  await store.close();
});

testDatabase("upgrades the tables of version 1, with their index of words", async (path) => {
  const header = { type: "session", version: 1, id: "s", created: 1, cwd: "/work" };
  const database = openSqlite(path);
  database.exec(VERSION_1_TABLES);
  const entry = (number: number, parentId: string | null) => ({
    ...createMessageEntry(`needle ${number}`),
    id: `e${number}`,
    parentId,
    timestamp: number,
  });
  const entries = [entry(1, null), entry(2, "e1"), entry(3, "e2")];
  const builder = SummaryBuilder.from(createHeader({ id: "s", created: 1, cwd: "/work" }));
  for (const entry of entries) builder.add(entry);
  database.prepare("INSERT INTO sessions VALUES (?, ?, ?, ?, 0)").run(
    "s",
    JSON.stringify(header),
    JSON.stringify(builder.build(0)),
    3,
  );
  for (const entry of entries) {
    const { id, parentId, type, timestamp } = entry;
    const add =
      "INSERT INTO entries (session, id, parent, type, timestamp, line) VALUES (?, ?, ?, ?, ?, ?)";
    database.prepare(add).run("s", id, parentId, type, timestamp, encodeEntry(entry));
  }
  database.close();
  await using store = new SqliteSessionStore({ path });
  const session = await store.open("s");
  assertEquals(await session.path(), entries);
  session.append(createMessageEntry("needle 4"));
  await session.close();
  assertEquals((await store.search("needle")).length, 4);
  assertEquals((await store.list({ cwd: "/work" }))[0]?.entries, 4);
  await store.close();
});

const VERSION_1_TABLES = `
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY, header TEXT NOT NULL, summary TEXT NOT NULL, updated INTEGER NOT NULL,
    syncs INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE entries (
    number INTEGER PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    id TEXT NOT NULL, parent TEXT, type TEXT NOT NULL, timestamp INTEGER NOT NULL, line TEXT NOT NULL,
    UNIQUE (session, id)
  ) STRICT;
  CREATE INDEX entries_in_order ON entries (session, number);
  CREATE VIRTUAL TABLE entry_text USING fts5(
    text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0'
  );
  PRAGMA user_version = 1;
`;
