import { assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../src/core/errors/errors.ts";
import type { SessionStore } from "../../src/core/sessions/session.ts";
import type { PostgresClient } from "../../src/memory/postgres/mod.ts";
import { PostgresStorage } from "../../src/memory/postgres/postgres_storage.ts";
import { quoteSchema } from "../../src/memory/postgres/postgres_tables.ts";
import { storeFrom } from "../../src/memory/storage/store_from.ts";
import { seededRandom, type SessionStoreFixture, testSessionStore } from "../../src/testing/mod.ts";
import { createMessageEntry } from "../../src/testing/session_subject.ts";
import { DEADLINE_MS } from "../deadline.ts";
import {
  createDisconnectedError,
  openPool,
  type PostgresStores,
  readTexts,
  ServerTests,
  writeSession,
} from "./postgres_stores.ts";

const tests = await ServerTests.start();
const random = seededRandom(5);

/** Loses the connection before or after one of five statements. */
class UnreliableClient implements PostgresClient {
  readonly #client: PostgresClient;

  constructor(client: PostgresClient) {
    this.#client = client;
  }

  async query(text: string, values: unknown[]) {
    // The ids that such a statement has deleted are not known.
    const failure = text.includes("SKIP LOCKED") ? 1 : random();
    if (failure < 0.1) throw createDisconnectedError();
    const result = await this.#client.query(text, values);
    if (failure < 0.2) throw createDisconnectedError();
    return result;
  }
}

function createFixture(stores: PostgresStores, open: () => SessionStore): SessionStoreFixture {
  return {
    store: open(),
    reopen: open,
    damage: (id, position) => stores.damage(id, position),
    endLease: (id) => stores.endLease(id),
  };
}

testSessionStore(
  (name, run) => tests.register(name, run),
  () => {
    const stores = tests.createStores();
    const fixture = createFixture(stores, () => stores.open());
    return { ...fixture, dispose: () => stores[Symbol.asyncDispose]() };
  },
);

testSessionStore(
  (name, run) => tests.register(`with an unreliable connection, ${name}`, run),
  async () => {
    const stores = tests.createStores();
    const pool = await openPool(stores.server);
    const connection = new UnreliableClient(pool);
    return {
      ...createFixture(stores, () => stores.open({ connection })),
      dispose: async () => {
        await stores[Symbol.asyncDispose]();
        await pool.end();
      },
    };
  },
);

tests.test("appends entries with one statement for each flush", async (stores) => {
  const pool = await openPool(stores.server);
  let statements = 0;
  const connection: PostgresClient = {
    query: (text, values) => {
      statements++;
      return pool.query(text, values);
    },
  };
  const session = await stores.open({ connection }).create({ id: "s" });
  statements = 0;
  for (let number = 0; number < 50; number++) session.append(createMessageEntry(`${number}`));
  await session.flush();
  assertEquals(statements, 1);
  await session.close();
  await pool.end();
});

tests.test(
  "stores an append once whose connection was lost, unless another writer took over",
  async (stores) => {
    const pool = await openPool(stores.server);
    let onAppend: (() => Promise<void>) | undefined;
    let isExecuted = true;
    const connection: PostgresClient = {
      query: async (text, values) => {
        const disturb = text.includes(".append_entr") ? onAppend : undefined;
        if (!disturb || isExecuted) {
          const result = await pool.query(text, values);
          if (!disturb) return result;
        }
        onAppend = undefined;
        await disturb();
        throw createDisconnectedError();
      },
    };
    const store = stores.open({ connection });
    const session = await store.create({ id: "s" });
    const append = async (text: string) => {
      session.append(createMessageEntry(text));
      await session.flush();
    };
    for (isExecuted of [true, false]) {
      onAppend = () => Promise.resolve();
      await append(`executed: ${isExecuted}`);
    }
    const takeOver = async () => {
      await stores.endLease("s");
      await using other = await stores.open().open("s");
      other.append(createMessageEntry("of the other"));
    };
    isExecuted = true;
    onAppend = takeOver;
    await append("before the other");
    const error = await assertRejects(() => append("lost"), SessionError, "no longer locked");
    assertEquals(error.reason, "lock_lost");
    await session.close();
    const texts = ["executed: true", "executed: false", "before the other", "of the other"];
    assertEquals(await readTexts(stores.open(), "s"), texts);

    const next = await store.open("s");
    isExecuted = false;
    onAppend = takeOver;
    next.append(createMessageEntry("lost"));
    await assertRejects(() => next.flush(), SessionError, "no longer locked");
    await next.close();
    assertEquals(await readTexts(stores.open(), "s"), [...texts, "of the other"]);
    await pool.end();
  },
);

tests.test(
  "stores an append once that the server still executes when its connection was lost",
  async (stores) => {
    const pool = await openPool(stores.server);
    let isLost = true;
    const late: Promise<unknown>[] = [];
    const connection: PostgresClient = {
      query: async (text, values) => {
        if (isLost || !text.includes(".append_entr")) return await pool.query(text, values);
        isLost = true;
        // Longer than a statement waits for a row.
        late.push(pool.query(`${text}, pg_sleep(0.6)`, values));
        // Until it has locked the row.
        await new Promise((resolve) => setTimeout(resolve, 100));
        throw createDisconnectedError();
      },
    };
    const session = await stores.open({ connection }).create({ id: "s" });
    for (const text of ["a", "b"]) {
      isLost = false;
      session.append(createMessageEntry(text));
      await session.flush();
    }
    await session.close();
    await Promise.all(late);
    assertEquals(await readTexts(stores.open(), "s"), ["a", "b"]);
    await pool.end();
  },
);

tests.test(
  "does not take a session again from a writer that took it over, also while it stays open",
  async (stores) => {
    let renew = () => {};
    const storage = new PostgresStorage({
      connection: stores.server.url,
      schema: quoteSchema(stores.schema),
      maxConnections: 2,
      timeoutMs: DEADLINE_MS,
      retryMs: DEADLINE_MS,
    });
    await using store = storeFrom(storage, {
      startInterval: (_milliseconds, run) => {
        renew = run;
        return () => {};
      },
    });
    const other = stores.open();
    const writeMore = async (text: string) => {
      await using session = await other.open("s");
      session.append(createMessageEntry(text));
    };
    const first = await store.create({ id: "s" });
    const append = async (text: string) => {
      first.append(createMessageEntry(text));
      await first.flush();
    };
    await append("kept");
    await stores.endLease("s");
    await writeMore("new");
    renew(); // The lease is free.
    const writers = `SELECT id FROM ${stores.schema}.sessions WHERE writer IS NOT NULL`;
    while ((await stores.server.sql(writers)).length === 0);
    await assertRejects(() => append("lost"), SessionError, "open the session again");
    renew();
    await assertRejects(() => append("lost"), SessionError, "open it again");
    await writeMore("newer");
    await first.close();
    assertEquals(await readTexts(other, "s"), ["kept", "new", "newer"]);
  },
);

tests.test("deletes a session once when the connection is lost afterwards", async (stores) => {
  const pool = await openPool(stores.server);
  let isLost = false;
  const connection: PostgresClient = {
    query: async (text, values) => {
      const result = await pool.query(text, values);
      if (isLost || !text.includes("RETURNING id")) return result;
      isLost = true;
      throw createDisconnectedError();
    },
  };
  const store = stores.open({ connection });
  await writeSession(store, "s", "a");
  await store.delete("s");
  assertEquals([isLost, await store.list()], [true, []]);
  const error = await assertRejects(() => store.delete("s"), SessionError);
  assertEquals(error.reason, "not_found");
  await pool.end();
});

tests.test(
  "rejects an append that exceeds the time limit, and asks to open the session again if it was stored",
  async (stores) => {
    const { schema, server } = stores;
    const store = stores.open({ timeoutMs: 1_000 });
    const session = await store.create({ id: "s" });
    session.append(createMessageEntry("a"));
    await session.flush();
    const lock = await openPool(server, { maxConnections: 1 });
    await lock.query("BEGIN", []);
    await lock.query(`LOCK TABLE ${schema}.sessions`, []);
    session.append(createMessageEntry("late"));
    await assertRejects(() => session.flush(), SessionError, "did not answer within 1000 ms");
    await lock.query("COMMIT", []);
    while ((await server.sql(`SELECT FROM ${schema}.entries`)).length < 2);
    session.append(createMessageEntry("b"));
    const error = await assertRejects(
      () => session.flush(),
      SessionError,
      "open the session again",
    );
    assertEquals(error.reason, "write_failed");
    await session.close();
    const reopened = await stores.open().open("s");
    reopened.append(createMessageEntry("b"));
    await reopened.close();
    assertEquals(await readTexts(stores.open(), "s"), ["a", "late", "b"]);
    await lock.end();
  },
);

tests.test("writes and opens other sessions while another client has locked some", async (stores) => {
  const { schema, server } = stores;
  const store = stores.open({ maxConnections: 10 });
  const ids = Array.from({ length: 12 }, (_, number) => `s${String(number).padStart(2, "0")}`);
  const sessions = await Promise.all(ids.map((id) => store.create({ id })));
  const writeAll = () =>
    sessions.map((session) => {
      session.append(createMessageEntry("a"));
      return session.flush();
    });
  await Promise.all(writeAll());
  const locked = ids.slice(0, 4);
  const lock = await openPool(server, { maxConnections: 1 });
  await lock.query("BEGIN", []);
  await lock.query(`SELECT FROM ${schema}.sessions WHERE id = ANY ($1) FOR UPDATE`, [locked]);
  let blocked = locked.length;
  const flushes = writeAll();
  const waiting = flushes.slice(0, locked.length).map((flush) => flush.then(() => blocked--));
  await Promise.all(flushes.slice(locked.length));
  const opening = locked.map((id) => assertRejects(() => stores.open().open(id), SessionError));
  await (await store.create({ id: "new" })).close();
  assertEquals(blocked, locked.length);
  await lock.query("COMMIT", []);
  await Promise.all([...waiting, ...opening]);
  for (const session of sessions) await session.close();
  assertEquals(await Promise.all(ids.map((id) => readTexts(store, id))), ids.map(() => ["a", "a"]));
  await lock.end();
});
