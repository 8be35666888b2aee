import { assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../core/errors/errors.ts";
import type { SessionStore } from "../../core/sessions/session.ts";
import type { SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { readSessionState } from "../recording/session_state.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { scopeStore } from "../storage/scoped_store.ts";
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

Deno.test("importSession(): forged metadata relate a session to no agent, however incomplete they are", async () => {
  const store = new InMemorySessionStore();
  const { parent, child } = await exportFamily();
  await load(store, parent, "parent");
  const [header = "", ...entries] = child.split("\n");
  const forged = { ...JSON.parse(header), metadata: { subAgentParentId: "parent", plan: "pro" } };
  const lines = [JSON.stringify(forged), ...entries].join("\n");
  const { session } = await importSession(scopeStore(store, { tenant: "zoo" }), lines, {});
  assertEquals(session.header.metadata, { plan: "pro" });
  // The foreign session is open, and prevents nothing.
  await store.delete("parent");
  await assertRejects(() => store.open("parent"), SessionError);
  await session.close();
  assertEquals((await store.list()).length, 1);
});

Deno.test("importSession(): nothing is approved by the lines, on no branch", async () => {
  const store = new InMemorySessionStore();
  const bodies: readonly SessionEntryBody[] = [
    { type: "grants_changed", grants: [{ type: "tool", name: "bash" }] },
    { type: "plan_created", plan: "- Deploy", steps: ["Deploy"], approvedHash: "ab" },
    {
      type: "approval",
      toolCallId: "call",
      name: "bash",
      decision: { type: "approved", scope: "prefix", prefix: "rm" },
    },
    { type: "approval_mode", mode: "bypassed" },
    { type: "title", title: "Shared" },
  ];
  await using original = await store.create({ id: "original" });
  const ids = bodies.map((body) => original.append(body).id);
  const { session } = await importSession(store, await exportJsonl(original), { id: "copy" });
  await session.close();
  await using copy = await store.open("copy", { access: "read" });
  assertEquals(copy.outline, original.outline);
  for (const leaf of ids) {
    const { grants = [], plan, approvals } = readSessionState(await copy.path({ leaf }));
    assertEquals([grants, plan?.approvedHash, approvals], [[], undefined, []]);
  }
  const { plan, approvalMode } = readSessionState(await copy.path());
  assertEquals([plan?.plan, approvalMode], ["- Deploy", "bypassed"]);
});
