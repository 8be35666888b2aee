import { assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../src/core/errors/errors.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { findStoredServer } from "./session_server.ts";

const metadata = (subAgentParentId: string) => ({ subAgentParentId, subAgentCallId: "call_1" });
const data = { provider: "openai", baseUrl: "http://localhost:9/v1" };

Deno.test("findStoredServer(): a sub-agent has the server of the agent that started it, unless it has its own entry", async () => {
  const store = new InMemorySessionStore();
  const create = async (id: string, parent: string | undefined, server: unknown) => {
    const session = await store.create({ id, ...(parent && { metadata: metadata(parent) }) });
    const name = server === undefined ? "note" : "base_url";
    session.append({ type: "custom", name, data: server ?? null });
    await session.close();
    return await findStoredServer(store, id);
  };
  assertEquals(await create("parent", undefined, data), data);
  assertEquals(await create("child", "parent", undefined), data);
  assertEquals(await create("grandchild", "child", undefined), data);
  assertEquals(await create("own", "parent", null), undefined);
});

Deno.test("findStoredServer(): sessions of agents that were deleted, or that name each other, have none", async () => {
  const store = new InMemorySessionStore();
  for (const [id, parent] of [["orphan", "deleted"], ["a", "b"], ["b", "a"], ["own", "own"]]) {
    const session = await store.create({ id, metadata: metadata(parent ?? "") });
    session.append({ type: "custom", name: "note", data: null });
    await session.close();
    assertEquals([id, await findStoredServer(store, id ?? "")], [id, undefined]);
  }
  await assertRejects(() => findStoredServer(store, "deleted"), SessionError);
});
