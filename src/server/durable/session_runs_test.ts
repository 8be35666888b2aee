import { assert, assertEquals } from "@std/assert";
import type { DurableEngine, DurableStatus } from "../../core/durable/durable_engine.ts";
import { RUN_ENTRY } from "../../durable/agent/durable_session.ts";
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

Deno.test("SessionRuns: a run that has finished is not active, although the engine has not recorded its outcome yet", async () => {
  const store = new InMemorySessionStore();
  const session = await store.create({ id: "session" });
  session.append({ type: "custom", name: RUN_ENTRY, data: { runId: "run", part: 1 } });
  await session.flush();
  const open = () => store.open("session", { access: "read" });
  const find = async (type: "saved" | "finished") => {
    const event = { type, position: 1, entryId: "", queued: { steering: [], followUp: [] } };
    const engine = {
      getRun: (id: string) => ({
        status: () => Promise.resolve(id === "run" ? "running" : undefined),
        readEvents: () => Promise.resolve([{ type: "event", number: 1, event }]),
      }),
    } as unknown as DurableEngine;
    const runs = new SessionRuns({ engine, sessionId: "session", open });
    return (await runs.find(session)).active?.runId;
  };
  assertEquals([await find("saved"), await find("finished")], ["run", undefined]);
  await session.close();
});
