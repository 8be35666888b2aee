import { assertEquals } from "@std/assert";
import { userMessage } from "../../core/messages/message.ts";
import type { SearchSessionsOptions } from "../../core/sessions/session.ts";
import { testSessionStore } from "../../testing/session_conformance.ts";
import { InMemorySessionStore } from "./in_memory_store.ts";

testSessionStore(
  (name, run) => Deno.test(`InMemorySessionStore: ${name}`, run),
  () => new InMemorySessionStore(),
);

Deno.test("InMemorySessionStore: path() and search() select by number, type, time and session; search() finds at most 50 by default [A146]", async () => {
  let time = 0;
  const store = new InMemorySessionStore({ now: () => ++time });
  const sessions = [await store.create({ id: "a" }), await store.create({ id: "b" })] as const;
  const [first, second] = sessions;
  for (let count = 0; count < 30; count++) {
    for (const session of sessions) {
      session.append({ type: "message", message: userMessage(`needle ${count}`, time) });
    }
  }
  first.append({ type: "title", title: "needle" });
  for (const session of sessions) await session.flush();
  const path = await first.path();
  assertEquals(await first.path({ last: 2 }), path.slice(-2));
  assertEquals(await first.path({ types: ["title"] }), path.slice(-1));
  const after = path[20]?.timestamp ?? 0;
  assertEquals(await first.path({ after }), path.slice(20));
  const count = async (options?: SearchSessionsOptions) =>
    (await store.search("needle", options)).length;
  assertEquals(await count(), 50);
  assertEquals(await count({ limit: 100 }), 61);
  assertEquals(await count({ sessionId: "b" }), 30);
  assertEquals(await count({ types: ["title"] }), 1);
  assertEquals(await count({ sessionId: "a", after }), path.length - 20);
  assertEquals(await count({ sessionId: "a", before: after }), 20);
  second.append({ type: "title", title: "needle" });
  await second.flush();
  assertEquals(await count({ types: ["title"] }), 2);
  for (const session of sessions) await session.close();
});

Deno.test("InMemorySessionStore: append() never uses an id twice", async () => {
  const ids = ["a", "a", "a", "b", "b", "c"];
  const store = new InMemorySessionStore({ newId: () => ids.shift() ?? "end" });
  await using session = await store.create({ id: "s" });
  const entries = [1, 2, 3].map((number) => session.append({ type: "title", title: `${number}` }));
  assertEquals(entries.map(({ id }) => id), ["a", "b", "c"]);
  // Now the function always returns the same id.
  for (const title of ["4", "5", "6"]) session.append({ type: "title", title });
  assertEquals(new Set(session.outline.map(({ id }) => id)).size, 6);
  assertEquals(session.outline[3]?.id, "end");
});
