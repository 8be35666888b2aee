import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { SessionError } from "../../core/errors/errors.ts";
import { userMessage } from "../../core/messages/message.ts";
import type { SessionStore } from "../../core/sessions/session.ts";
import { FileSessionStore } from "../file/file_store.ts";
import { SqliteSessionStore } from "../sqlite/sqlite_store.ts";
import { forkSession } from "../transfer/fork.ts";
import { InMemorySessionStore } from "./in_memory_store.ts";
import { scopeStore, type SessionScope } from "./scoped_store.ts";

async function writeSession(store: SessionStore, id: string, scope: SessionScope = {}) {
  await using session = await store.create({ id, ...scope });
  session.append({ type: "message", message: userMessage(`the word of ${id}`, 1) });
}

async function expectMissing(act: () => Promise<unknown>): Promise<void> {
  const error = await assertRejects(act, SessionError);
  assertEquals(error.reason, "not_found");
}

/** Runs a test with each store. */
function testStores(name: string, test: (store: SessionStore) => Promise<void>): void {
  const stores = {
    InMemorySessionStore: () => new InMemorySessionStore(),
    FileSessionStore: (directory: string) => new FileSessionStore({ directory }),
    SqliteSessionStore: (directory: string) =>
      new SqliteSessionStore({ path: `${directory}/sessions.db` }),
  };
  for (const [kind, create] of Object.entries(stores)) {
    Deno.test(`scopeStore(): ${name}, ${kind}`, async () => {
      const directory = await Deno.makeTempDir();
      const store = create(directory);
      await test(store);
      if ("close" in store) await store.close();
      await Deno.remove(directory, { recursive: true });
    });
  }
}

testStores("sessions of other tenants do not exist", async (store) => {
  const acme = scopeStore(store, { tenant: "acme" });
  const zoo = scopeStore(store, { tenant: "zoo" });
  await writeSession(acme, "a");
  await writeSession(store, "none");
  await writeSession(zoo, "z");
  await using _open = await zoo.open("z");
  for (const id of ["z", "none", "missing"]) {
    await expectMissing(() => acme.open(id));
    await expectMissing(() => acme.open(id, { access: "read" }));
    await expectMissing(() => acme.delete(id));
    await expectMissing(() => acme.search("word", { sessionId: id }));
    await expectMissing(() => forkSession(acme, id));
    await expectMissing(() => forkSession(acme, id, { into: store }));
  }
  assertEquals((await acme.list()).map(({ id }) => id), ["a"]);
  assertEquals((await acme.search("word")).map(({ sessionId }) => sessionId), ["a"]);
  assertEquals([...await acme.list({ tenant: "zoo" })], []);
  assertEquals([...await acme.search("word", { tenant: "zoo" })], []);
  assertEquals(await acme.deleteAll({ tenant: "zoo" }), []);
  for (const options of [null, { tenant: "zoo", cursor: 5, limit: -1, other: 1 }]) {
    const invalid = options as never;
    const requests = [
      () => acme.list(invalid),
      () => acme.search("word", invalid),
      () => acme.deleteAll(invalid),
    ];
    for (const request of requests) {
      assertEquals((await assertRejects(request, SessionError)).reason, "bad_filter");
    }
  }
  assertEquals(await acme.deleteAll({ updatedBefore: Infinity }), ["a"]);
  assertEquals((await store.list()).length, 2);
});

testStores("its sessions can be created, forked and deleted", async (store) => {
  const acme = scopeStore(store, { tenant: "acme", user: "ann" });
  await writeSession(acme, "a", { tenant: "zoo" });
  assertEquals((await store.list({ tenant: "acme", user: "ann" })).map(({ id }) => id), ["a"]);
  await writeSession(store, "open", { tenant: "zoo" });
  await (await forkSession(store, "open", { id: "fork", into: acme })).close();
  const session = await acme.open("fork");
  assertEquals([session.header.tenant, session.header.user], ["acme", "ann"]);
  await session.close();
  await acme.delete("fork");
  await acme.delete("a");
  assertEquals((await store.list()).map(({ id }) => id), ["open"]);
});

testStores("an id of another tenant is taken, with advice that can be followed", async (store) => {
  const acme = scopeStore(store, { tenant: "acme" });
  const zoo = scopeStore(store, { tenant: "zoo" });
  await writeSession(zoo, "z");
  const expectTaken = async (advice: string, create: () => Promise<unknown>) => {
    const error = await assertRejects(create, SessionError, advice);
    assertEquals([error.reason, error.owner], ["already_exists", undefined]);
  };
  await expectTaken("exists: use another id", () => acme.create({ id: "z" }));
  await expectTaken("exists: open it, or use another id", () => zoo.create({ id: "z" }));
  await using _open = await zoo.open("z");
  await expectTaken("exists: use another id", () => acme.create({ id: "z" }));
  const error = await assertRejects(() => zoo.create({ id: "z" }), SessionError);
  assertEquals(error.reason, "locked");
  await using _new = await acme.create({ id: "new" });
  assertEquals(
    (await assertRejects(() => acme.create({ id: "new" }), SessionError)).reason,
    "locked",
  );
  await assertRejects(() => acme.create({ id: "" }), SessionError, "Invalid session id");
});

Deno.test("scopeStore(): open() rejects a session that another tenant has created meanwhile with the same id", async () => {
  const store = new InMemorySessionStore();
  await writeSession(store, "s", { tenant: "acme" });
  const open = store.open.bind(store);
  store.open = async (id, options) => {
    const session = await open(id, options);
    store.open = open;
    await session.close();
    await store.delete(id);
    await writeSession(store, id, { tenant: "zoo" });
    return session;
  };
  await expectMissing(() => scopeStore(store, { tenant: "acme" }).open("s"));
  await (await store.open("s")).close(); // It is not locked.
});

Deno.test("scopeStore(): rejects an empty scope, and deleteAll() without an option", async () => {
  const store = new InMemorySessionStore();
  assertThrows(() => scopeStore(store, {}), SessionError, "scope");
  for (const tenant of [null, 5, {}] as unknown as readonly string[]) {
    assertThrows(() => scopeStore(store, { tenant, user: "amy" }), SessionError, "tenant");
  }
  const acme = scopeStore(store, { tenant: "acme" });
  const error = await assertRejects(() => acme.deleteAll({}), SessionError);
  assertEquals(error.reason, "bad_filter");
});
