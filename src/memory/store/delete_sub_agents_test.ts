import { assertEquals, assertRejects } from "@std/assert";
import { SessionError, type SessionErrorReason } from "../../core/errors/errors.ts";
import type { SessionStore, SessionSummary } from "../../core/sessions/session.ts";
import { deleteMatching } from "./delete_matching.ts";
import {
  deleteListed,
  type DeleteSessionOptions,
  deleteSubAgents,
  type SubAgentStore,
} from "./delete_sub_agents.ts";

/** A store of sessions with their parents, which deletes sub-agents with a session and has no locks. */
class FakeStore implements Pick<SessionStore, "list" | "delete"> {
  readonly deleted: string[] = [];
  readonly missing = new Set<string>();
  readonly #parents: Readonly<Record<string, string>>;

  constructor(parents: Readonly<Record<string, string>>) {
    this.#parents = parents;
  }

  list({ metadata }: { readonly metadata?: Readonly<Record<string, unknown>> | undefined } = {}) {
    const ids = Object.keys(this.#parents).filter((id) =>
      this.#parents[id] === metadata?.["subAgentParentId"] && !this.deleted.includes(id)
    );
    return Promise.resolve(ids.map((id) => ({ id }) as SessionSummary));
  }

  async delete(id: string): Promise<void> {
    await deleteSubAgents(this, id);
    if (this.missing.has(id)) throw new SessionError(`${id} is missing`, { reason: "not_found" });
    this.deleted.push(id);
  }
}

Deno.test("deleteSubAgents(): deletes the lowest sessions first, each once", async () => {
  const store = new FakeStore({ a: "root", b: "root", c: "a", d: "c" });
  await store.delete("root");
  assertEquals(store.deleted, ["d", "c", "b", "a", "root"]);
});

Deno.test("deleteSubAgents(): ends for sessions that name each other as parents", async () => {
  const store = new FakeStore({ a: "c", b: "a", c: "b", self: "self" });
  await store.delete("a");
  await store.delete("self");
  assertEquals(store.deleted, ["c", "b", "a", "self"]);
});

Deno.test("deleteSubAgents(): leaves out sessions that another process has deleted", async () => {
  const store = new FakeStore({ a: "root", b: "root" });
  store.missing.add("a");
  await deleteSubAgents(store, "root", {
    checkUnlocked: (id) =>
      id === "a"
        ? Promise.reject(new SessionError("gone", { reason: "not_found" }))
        : Promise.resolve(),
  });
  assertEquals(store.deleted, ["b"]);
});

Deno.test("deleteSubAgents(): deletes none if one is locked, and can be called again", async () => {
  const store = new FakeStore({ a: "root", b: "root", c: "b" });
  const checkUnlocked = (id: string) =>
    id === "c"
      ? Promise.reject(new SessionError("locked", { reason: "locked" }))
      : Promise.resolve();
  await assertRejects(() => deleteSubAgents(store, "root", { checkUnlocked }), SessionError);
  assertEquals(store.deleted, []);
  await deleteSubAgents(store, "root");
  assertEquals(store.deleted, ["c", "b", "a"]);
});

Deno.test("deleteMatching(): leaves out sessions that are open or that another process has deleted", async () => {
  const refusals: Readonly<Record<string, SessionErrorReason>> = { b: "locked", c: "not_found" };
  const store = {
    list: () =>
      Promise.resolve(
        ["a", "b", "c", "d"].map((id) => ({ id, created: 1, updated: 1 }) as SessionSummary),
      ),
    delete: (id: string) => {
      const reason = refusals[id];
      if (reason === undefined) return Promise.resolve();
      return Promise.reject(new SessionError(`${id} is not deleted`, { reason }));
    },
  };
  assertEquals(await deleteMatching(store, { tenant: "acme" }), ["a", "d"]);
  const failing = { ...store, delete: () => Promise.reject(new Error("no disk")) };
  await assertRejects(() => deleteMatching(failing, { tenant: "acme" }), Error, "no disk");
});

Deno.test("deleteListed(): deletes the sessions of sub-agents that were started meanwhile", async () => {
  const parents: Record<string, string> = { child: "root" };
  const createSummary = (id: string): SessionSummary =>
    ({
      id,
      created: 1,
      updated: 1,
      metadata: { subAgentParentId: parents[id] ?? "none", subAgentCallId: "c" },
    }) as unknown as SessionSummary;
  const present = new Set(["root", "child"]);
  const store: SubAgentStore = {
    list: () => Promise.resolve([...present].map(createSummary)),
    delete: (id) => deleteSession(id, { store }),
  };
  const deleteSession = async (id: string, { store: listed }: DeleteSessionOptions) => {
    await deleteSubAgents(listed, id);
    if (!present.delete(id)) throw new SessionError("gone", { reason: "not_found" });
    if (id !== "root") return;
    parents["late"] = "root";
    present.add("late");
  };
  assertEquals(await deleteListed(store, {}, deleteSession), ["root", "child", "late"]);
  assertEquals([...present], []);
});
