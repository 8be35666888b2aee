import { assertEquals } from "@std/assert";
import type { SessionStore } from "../../core/session.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { createLinkedOptions, listWithoutSubAgents } from "../store/sub_agent_link.ts";
import { exportJsonl } from "./export_jsonl.ts";
import { importSession } from "./import_session.ts";

/** Returns the exports of a session and of that of a sub-agent which it has started. */
async function exportFamily(): Promise<{ readonly parent: string; readonly child: string }> {
  const store = new InMemorySessionStore();
  await using parent = await store.create({ id: "parent", tenant: "acme" });
  parent.append({ type: "title", title: "Parent" });
  const options = {
    ...createLinkedOptions({ ...parent.header, metadata: { plan: "pro" } }, "call"),
  };
  await using child = await store.create({ ...options, id: "child" });
  child.append({ type: "title", title: "Child" });
  return { parent: await exportJsonl(parent), child: await exportJsonl(child) };
}

async function load(store: SessionStore, jsonl: string, id?: string): Promise<void> {
  const { session } = await importSession(store, jsonl, { id });
  await session.close();
}

async function listRoots(store: SessionStore): Promise<readonly unknown[]> {
  return (await listWithoutSubAgents(store)).map(({ id, metadata }) => ({ id, metadata }))
    .toSorted((left, right) => left.id < right.id ? -1 : 1);
}

Deno.test("importSession(): the session of a sub-agent is listed where its parent is missing", async () => {
  const store = new InMemorySessionStore();
  await load(store, (await exportFamily()).child, "child");
  assertEquals(await listRoots(store), [{ id: "child", metadata: { plan: "pro" } }]);
});

Deno.test("importSession(): a copy of the session of a sub-agent is listed, and not deleted with the parent", async () => {
  const store = new InMemorySessionStore();
  const { parent, child } = await exportFamily();
  await load(store, parent, "parent");
  await load(store, child, "copy");
  assertEquals(await listRoots(store), [
    { id: "copy", metadata: { plan: "pro" } },
    { id: "parent", metadata: undefined },
  ]);
  await store.delete("parent");
  assertEquals((await store.list()).map(({ id }) => id), ["copy"]);
});

Deno.test("importSession(): restored under their ids, parent first, sessions keep their relation", async () => {
  const store = new InMemorySessionStore();
  const { parent, child } = await exportFamily();
  await load(store, parent, "parent");
  await load(store, child, "child");
  assertEquals(await listRoots(store), [{ id: "parent", metadata: undefined }]);
  await store.delete("parent");
  assertEquals(await store.list(), []);
});

Deno.test("importSession(): a sub-agent of another tenant's agent is not related to it", async () => {
  const store = new InMemorySessionStore();
  const { parent, child } = await exportFamily();
  await load(store, parent.replace('"acme"', '"zoo"'), "parent");
  await load(store, child, "child");
  assertEquals((await listRoots(store)).length, 2);
});
