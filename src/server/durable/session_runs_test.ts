import { assert, assertEquals } from "@std/assert";
import type { DurableEngine, DurableStatus } from "../../core/durable/durable_engine.ts";
import { InMemorySessionStore } from "../../memory/mod.ts";
import { SessionRuns } from "./session_runs.ts";

Deno.test("SessionRuns: the next run is found with few looks after many runs that could not begin", async () => {
  const store = new InMemorySessionStore();
  const session = await store.create({ id: "session" });
  session.append({ type: "title", title: "Tried often" });
  await session.flush();
  const failed = new Set<string>();
  let looks = 0;
  const engine = {
    getRun: (id: string) => ({
      status: (): Promise<DurableStatus | undefined> => {
        looks++;
        return Promise.resolve(failed.has(id) ? "failed" : undefined);
      },
    }),
  } as unknown as DurableEngine;
  const runs = new SessionRuns({
    engine,
    sessionId: "session",
    open: () => store.open("session", { access: "read" }),
  });
  for (let run = 0; run < 300; run++) {
    looks = 0;
    const { active, nextId } = await runs.find(session);
    assertEquals([active, failed.has(nextId)], [undefined, false]);
    failed.add(nextId);
  }
  assertEquals(failed.size, 300);
  assert(looks <= 20, `${looks} looks`);
  await session.close();
});
