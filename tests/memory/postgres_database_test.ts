import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { BadRequestError, SessionError } from "../../src/core/errors/errors.ts";
import { type PostgresClient, PostgresSessionStore } from "../../src/memory/postgres/mod.ts";
import { PG_PACKAGE } from "../../src/memory/postgres/postgres_client.ts";
import {
  createDeleteStatement,
  createListQuery,
  createSearchQuery,
  type Query,
} from "../../src/memory/postgres/postgres_queries.ts";
import { createMigration, quoteSchema } from "../../src/memory/postgres/postgres_tables.ts";
import { createMessageEntry } from "../../src/testing/session_subject.ts";
import { root } from "../project.ts";
import { openPool, readTexts, ServerTests, writeSession } from "./postgres_stores.ts";

const tests = await ServerTests.start();

Deno.test("PG_PACKAGE: has the version range of deno.json", async () => {
  const { imports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  assertEquals(imports[PG_PACKAGE.name], `npm:${PG_PACKAGE.name}@${PG_PACKAGE.range}`);
});

Deno.test("PostgresSessionStore: rejects an invalid URL or schema without naming a secret", () => {
  const error = assertThrows(
    () => new PostgresSessionStore({ connection: "app:s3cret@db/app" }),
    BadRequestError,
    "use a URL such as postgres://",
  );
  assertFalse(error.message.includes("s3cret"));
  for (const schema of ["", "a b", 'a"b', "x".repeat(64)]) {
    assertThrows(
      () => new PostgresSessionStore({ connection: "postgres://db/app", schema }),
      BadRequestError,
      "Invalid schema",
    );
  }
});

tests.test(
  "creates its tables once when several processes start at the same time",
  async (stores) => {
    const lists = await Promise.all(Array.from({ length: 8 }, () => stores.open().list()));
    assertEquals(lists, Array(8).fill([]));
  },
);

tests.test(
  "upgrades tables of an older version, and rejects those of a newer one",
  async (stores) => {
    await writeSession(stores.open(), "s", "one");
    const schema = quoteSchema(stores.schema);
    const upgrade = createMigration(schema, [
      // Steps that were done are not repeated.
      (schema) => `DROP SCHEMA ${schema};`,
      (schema) => `DROP SCHEMA ${schema};`,
      (schema) => `DROP SCHEMA ${schema};`,
      (schema) => `ALTER TABLE ${schema}.sessions ADD COLUMN of_the_future text;`,
    ]);
    await stores.server.sql(upgrade);
    await stores.server.sql(upgrade);
    const error = await assertRejects(
      () => stores.open().list(),
      SessionError,
      "update the program",
    );
    assertEquals(error.reason, "newer_version");
    await stores.server.sql(`DELETE FROM ${schema}.migrations WHERE version > 3`);
    assertEquals(await readTexts(stores.open(), "s"), ["one"]);
  },
);

tests.test("upgrades tables of version 1, which lack the function for one entry", async (stores) => {
  const { schema, server } = stores;
  await writeSession(stores.open(), "s", "a");
  for (
    const signature of await server.sql(
      `SELECT '${schema}.append_entry'::regproc::oid::regprocedure AS name`,
    )
  ) {
    await server.sql(`DROP FUNCTION ${signature["name"]}`);
  }
  await server.sql(`DELETE FROM ${schema}.migrations WHERE version > 1`);
  await using session = await stores.open().open("s");
  session.append(createMessageEntry("b"));
  await session.flush();
  assertEquals(await readTexts(stores.open(), "s"), ["a", "b"]);
});

tests.test("finds entries of version 2, whose words were others", async (stores) => {
  const { schema, server } = stores;
  const store = stores.open();
  const long = "\u5317".repeat(250) + "\u4eac";
  // Each text, and the words that version 2 has for it.
  const texts = {
    unspaced: ["my phone\u6211\u559c\u6b22\u5317\u4eacduck\u70e4\u9e2d", [
      "my",
      "phone\u6211\u559c\u6b22\u5317\u4eacduck\u70e4\u9e2d",
    ]],
    composed: ["a cafe\u0301", ["a", "cafe"]],
    plain: ["ascii, naïve \u2014 \u2019\u{1f600}", ["ascii", "naïve"]],
    long: [long, [long.slice(0, 200)]],
  } as const;
  for (const [id, [text]] of Object.entries(texts)) await writeSession(store, id, text);
  await using session = await store.create({ id: "data" });
  session.append({ type: "custom", name: "note", data: "one\ntwo\u001bfive\n\n\u5317six" });
  await session.flush();
  const words = { ...texts, data: ["", ["note", "one", "ntwo", "u001bfive", "n", "n\u5317six"]] };
  for (const [id, [, list]] of Object.entries(words)) {
    await server.sql(
      `UPDATE ${schema}.entries SET words = array_to_tsvector($1) WHERE session = $2`,
      [list, id],
    );
  }
  await server.sql(`DELETE FROM ${schema}.migrations WHERE version > 2`);
  const upgraded = stores.open();
  const queries = {
    北京: ["long", "unspaced"],
    喜欢: ["unspaced"],
    duck: ["unspaced"],
    café: ["composed"],
    two: ["data"],
    five: ["data"],
    six: ["data"],
    naïve: ["plain"],
    wo: [],
  };
  for (const [query, ids] of Object.entries(queries)) {
    const hits = await upgraded.search(query);
    assertEquals(hits.map(({ sessionId }) => sessionId).toSorted(), ids, query);
  }
  // Each search examines only entries whose words are not known: for many, that takes seconds.
  const examined = await server.sql(
    `SELECT session FROM ${schema}.entries WHERE words @@ '…'::tsquery ORDER BY session`,
  );
  assertEquals(examined.map(({ session }) => session), ["composed", "long"]);
});

tests.test("rejects a database without the encoding UTF8", async ({ server }) => {
  await server.sql(
    "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
  );
  const connection = server.url.replace("/postgres?", "/latin?");
  await using store = new PostgresSessionStore({ connection });
  await assertRejects(
    () => store.list(),
    SessionError,
    "encoding LATIN1: use a database with UTF8",
  );
});

tests.test("works with rights to read and write the tables only", async (stores) => {
  await writeSession(stores.open(), "s", "one");
  const { schema, server } = stores;
  const role = `role_of_${schema}`;
  await server.sql(`CREATE ROLE ${role} LOGIN`);
  try {
    const connection = server.url.replace("user=postgres", `user=${role}`);
    const store = stores.open({ connection });
    const error = await assertRejects(() => store.list(), SessionError, "permission denied");
    assertMatch(error.message, /\(42501\): grant the role of the connection the rights/);
    await server.sql(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
    await server.sql(`GRANT SELECT ON ${schema}.migrations TO ${role}`);
    await server.sql(
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.sessions, ${schema}.entries TO ${role}`,
    );
    await writeSession(store, "t", "two");
    assertEquals(await store.deleteAll({ updatedBefore: Infinity }), ["s", "t"]);
    const other = stores.open({ connection, schema: "other" });
    await assertRejects(() => other.list(), SessionError, "Cannot create the tables: permission");
    await server.sql(`DELETE FROM ${schema}.migrations WHERE version > 1`);
    const older = stores.open({ connection });
    await assertRejects(() => older.list(), SessionError, "Cannot upgrade the tables: permission");
    assertEquals(await store.list(), []);
  } finally {
    await server.sql(`DROP OWNED BY ${role}`);
    await server.sql(`DROP ROLE ${role}`);
  }
});

tests.test(
  "names the cause and what to do when the server cannot be used, but no secret",
  async ({ server }) => {
    const options = { retryMs: 0, timeoutMs: 20_000 };
    const cases: readonly (readonly [connection: string, cause: string])[] = [
      [
        "postgres://app:s3cret@127.0.0.1:1/app",
        "could not be reached for 0 ms: connect ECONNREFUSED",
      ],
      ["postgres:///app?host=/nowhere&user=app&password=s3cret", "check that it runs"],
      [
        `${server.url.replace("/postgres?", "/missing?")}&password=s3cret`,
        "(3D000): create the data",
      ],
      [
        `${server.url.replace("user=postgres", "user=missing")}&password=s3cret`,
        "(28000): check the",
      ],
      ["postgres://app:s3cret@[/app", "Invalid"],
    ];
    for (const [connection, cause] of cases) {
      await using store = new PostgresSessionStore({ connection, ...options });
      for (const act of [() => store.list(), () => store.create({ id: "s" })]) {
        const error = await assertRejects(act, SessionError, cause);
        assertFalse(Deno.inspect(error).includes("s3cret"), Deno.inspect(error));
      }
    }
  },
);

tests.test("uses a client that it does not close", async (stores) => {
  const pool = await openPool(stores.server);
  const statements: string[] = [];
  const connection: PostgresClient = {
    query: (text, values) => {
      statements.push(text);
      return pool.query(text, values);
    },
  };
  const store = stores.open({ connection });
  await writeSession(store, "s", "one");
  await store.close();
  const error = await assertRejects(() => store.list(), SessionError, "create a new one");
  assertEquals(error.reason, "closed");
  assert(statements.length > 3);
  assertEquals((await pool.query("SELECT 1 AS one", [])).rows, [{ one: 1 }]);
  await pool.end();
});

tests.test("returns texts that Postgres refuses exactly as given", async (stores) => {
  const [tenant, user, cwd] = ["a\0b", "\ud800", "C:\\work\ue000"];
  const entryId = "\0\udc00";
  const store = stores.open({ newId: () => entryId });
  const session = await store.create({ id: "s", tenant, user, cwd, metadata: { "\0": "\ud800" } });
  session.append({ type: "title", title: "a\0\ud800" });
  await session.close();
  const [summary] = await store.list({ tenant, user, cwd });
  assertEquals([summary?.tenant, summary?.user, summary?.cwd], [tenant, user, cwd]);
  assertEquals([summary?.title, summary?.leafId], ["a\0\ud800", entryId]);
  assertEquals(summary?.metadata, { "\0": "\ud800" });
  assertEquals(await store.list({ user: "\ud801" }), []);
  await using reader = await store.open("s", { access: "read" });
  assertEquals(reader.outline[0]?.id, entryId);
  assertEquals((await reader.entry(entryId))?.id, entryId);
});

tests.test(
  "finds words of any length, and of entries with more words than the index has",
  async (stores) => {
    const store = stores.open();
    const words = Array.from({ length: 40_000 }, (_, number) => `word${number}x`).join(" ");
    const long = "l".repeat(5_000);
    await writeSession(store, "s", `${words} last`, long, "plain words");
    const find = async (query: string) => (await store.search(query)).map(({ snippet }) => snippet);
    assertEquals((await find("last")).length, 1);
    assertEquals((await find("word39999x")).length, 1);
    assertEquals((await find("wor")).length, 2);
    assertEquals((await find("l".repeat(3_000))).length, 1);
    assertEquals(await find(`${"l".repeat(5_000)}l`), []);
    assertEquals(await find("plain word"), ["plain words"]);
  },
);

tests.test("opens a session with a forged number of entries, and does not write to it", async (stores) => {
  const { schema, server } = stores;
  const store = stores.open();
  await writeSession(store, "s", "a", "b");
  await server.sql(`UPDATE ${schema}.sessions SET entries = 2147483647`);
  const session = await store.open("s");
  assertEquals(session.outline.length, 2);
  assertEquals(session.damage.length, 100_000);
  session.append(createMessageEntry("c"));
  await assertRejects(() => session.close(), SessionError, "has 2147483647 entries");
  assertEquals((await server.sql(`SELECT 1 FROM ${schema}.entries`)).length, 2);
});

tests.test("opens a session whose rows were deleted or changed", async (stores) => {
  const { schema, server } = stores;
  const sql = (text: string) => server.sql(text.replaceAll("$", `${schema}.`));
  const created = await stores.open().create({ id: "s", tenant: "acme", user: "a\0", cwd: "/w" });
  for (const text of ["a", "b", "c", "d"]) created.append(createMessageEntry(text));
  await created.close();
  await sql("DELETE FROM $entries WHERE position = 1");
  await sql("UPDATE $sessions SET header = 'garbled', summary = '[]'");
  const [damaged] = await stores.open().list({ tenant: "acme" });
  assertEquals([damaged?.problem === undefined, damaged?.entries], [false, 4]);
  const session = await stores.open().open("s");
  const { tenant, user, cwd } = session.header;
  assertEquals([tenant, user, cwd], ["acme", "a\0", "/w"]);
  assertEquals(session.damage.map(({ type, offset }) => [type, offset]), [
    ["broken_entry", 1],
    ["lost_parent", 2],
  ]);
  session.append(createMessageEntry("e"));
  await session.close();
  assertEquals(await readTexts(stores.open(), "s"), ["a", "c", "d", "e"]);
  const [restored] = await stores.open().list();
  assertEquals([restored?.entries, restored?.messages, restored?.firstPrompt], [5, 4, "a"]);
  assertEquals([restored?.problem, restored?.tenant], [undefined, "acme"]);
  await sql("DELETE FROM $sessions");
  assertEquals(await sql("SELECT * FROM $entries"), []);
});

tests.test(
  "ignores a forged row behind the last entry, and replaces it with the next entry",
  async (stores) => {
    const { schema, server } = stores;
    const store = stores.open();
    await writeSession(store, "s", "a");
    const forge = (position: number) =>
      server.sql(
        `INSERT INTO ${schema}.entries SELECT session, $1, 'forged', id, type, timestamp, line, words
        FROM ${schema}.entries WHERE position = 0`,
        [position],
      );
    await forge(1);
    await forge(7);
    assertEquals((await store.search("a")).length, 1);
    const session = await store.open("s");
    assertEquals(session.outline.length, 1);
    session.append(createMessageEntry("b"));
    await session.close();
    assertEquals(await readTexts(store, "s"), ["a", "b"]);
    await server.sql(`INSERT INTO ${schema}.entries VALUES ('none', 0, 'x', '', 't', 1, '{}')`);
    assertEquals((await store.list()).length, 1);
    await assertRejects(() => store.open("none"), SessionError, "does not exist");
    const created = await store.create({ id: "none" });
    created.append(createMessageEntry("c"));
    await created.close();
    assertEquals(await readTexts(store, "none"), ["c"]);
  },
);

tests.test(
  "deletes many sessions of a tenant, and the leases of processes that ended",
  async (stores) => {
    const { schema, server } = stores;
    const store = stores.open();
    await writeSession(store, "s", "a");
    await server.sql(
      `INSERT INTO ${schema}.sessions (id, entries, updated, tenant, user_id, header, summary)
      SELECT 'copy ' || number, 1, number, 'tenant ' || number % 2, 'amy',
        regexp_replace(header, '"created":[0-9]+', '"created":0'), summary
      FROM ${schema}.sessions, generate_series(1, 1200) AS number`,
    );
    await server.sql(
      `INSERT INTO ${schema}.sessions (id, writer, lease_end) VALUES ('x', 'x', now())`,
    );
    assertEquals((await store.deleteAll({ tenant: "tenant 1" })).length, 600);
    assertEquals((await store.deleteAll({ user: "amy", updatedBefore: 600 })).length, 299);
    assertEquals((await store.deleteAll({ user: "amy" })).length, 301);
    const rows = await server.sql(`SELECT id FROM ${schema}.sessions`);
    assertEquals(rows, [{ id: "s" }]);
  },
);

tests.test("reads pages and searches from indexes", async (stores) => {
  const { schema, server } = stores;
  await writeSession(stores.open(), "s", "a");
  await server.sql(
    `INSERT INTO ${schema}.sessions (id, entries, updated, tenant, user_id)
      SELECT 'copy ' || number, 1, number, 'tenant ' || number % 400, 'user ' || number % 400
      FROM generate_series(1, 20000) AS number`,
  );
  await server.sql(
    `INSERT INTO ${schema}.entries
      SELECT 'copy ' || number, 0, 'id', NULL, 'title', 0, '', array_to_tsvector(ARRAY['w' || number])
      FROM generate_series(1, 20000) AS number`,
  );
  await server.sql(`VACUUM ANALYZE ${schema}.sessions`);
  await server.sql(`VACUUM ANALYZE ${schema}.entries`);
  const explain = async ({ text, values }: Query) =>
    JSON.stringify(await server.sql(`EXPLAIN ${text}`, values));
  const quoted = quoteSchema(schema);
  const after = { updated: 9_000, id: "copy 1" };
  const lists = [
    [{}, "sessions_in_order"],
    [{ tenant: "tenant 1" }, "sessions_of_tenant"],
    [{ user: "user 1" }, "sessions_of_user"],
  ] as const;
  for (const [filter, index] of lists) {
    const plan = await explain(createListQuery(quoted, { limit: 10, after, ...filter }));
    assertStringIncludes(plan, index);
    assertFalse(plan.includes("Seq Scan"), plan);
  }
  const search = { words: ["w123"], limit: 256 };
  assertStringIncludes(await explain(createSearchQuery(quoted, search)), "entries_by_word");
  const statement = createDeleteStatement(quoted, { tenant: "tenant 1" }, 500);
  assertStringIncludes(await explain(statement), "sessions_of_tenant");
});

tests.test("selects sessions by their metadata from an index", async (stores) => {
  const { schema, server } = stores;
  await writeSession(stores.open(), "s", "a");
  await server.sql(
    `INSERT INTO ${schema}.sessions (id, entries, updated, metadata)
      SELECT 'copy ' || number, 1, number, CASE WHEN number % 2 = 0 THEN jsonb_build_array('["seats",' || number % 400 || ']') END
      FROM generate_series(1, 20000) AS number`,
  );
  await server.sql(
    `INSERT INTO ${schema}.entries
      SELECT 'copy ' || number, 0, 'id', NULL, 'title', 0, '', array_to_tsvector(ARRAY['word'])
      FROM generate_series(1, 20000) AS number`,
  );
  await server.sql(`VACUUM ANALYZE ${schema}.sessions`);
  await server.sql(`VACUUM ANALYZE ${schema}.entries`);
  const quoted = quoteSchema(schema);
  const filter = { metadata: { seats: 2 } };
  const after = { updated: 9_000, id: "copy 1" };
  const queries = [
    createListQuery(quoted, filter),
    createListQuery(quoted, { limit: 10, after, ...filter }),
    createSearchQuery(quoted, { words: ["word"], limit: 256, ...filter }),
    createDeleteStatement(quoted, filter, 100),
  ];
  for (const { text, values } of queries) {
    const plan = JSON.stringify(await server.sql(`EXPLAIN ${text}`, values));
    assertStringIncludes(plan, "sessions_by_metadata");
    assertFalse(plan.includes("Seq Scan"), plan);
  }
  // The rows above have the form in which the store keeps metadata.
  assertEquals((await server.sql(queries[0]?.text ?? "", queries[0]?.values)).length, 50);
});
