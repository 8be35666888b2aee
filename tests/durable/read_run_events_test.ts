import { assertEquals } from "@std/assert";
import type { DurableStatus } from "../../src/core/durable/durable_engine.ts";
import { EngineClosedError } from "../../src/core/durable/engine_closed_error.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { systemClock } from "../../src/core/ports/ports.ts";
import { EventHub } from "../../src/durable/events/event_hub.ts";
import type { EventStorage, StoredEvent } from "../../src/durable/events/event_storage.ts";
import { followRunEvents, readRunEvents } from "../../src/durable/events/read_run_events.ts";

/** Creates the events of a run in memory, whose reads fail when they are cut. */
function createSource() {
  const stored: StoredEvent[] = [];
  const cut = createDeferred<never>();
  cut.promise.catch(() => {});
  let isHanging = false;
  const storage: EventStorage = {
    append: (events) =>
      Promise.resolve(events.map(({ runId: _, ...content }) => {
        const number = stored.length + 1;
        stored.push({ ...content, number });
        return number;
      })),
    read: async ([position]) => {
      if (isHanging) await cut.promise;
      return new Map([["run", stored.slice(position?.after)]]);
    },
    findCheckpoint: () => Promise.resolve(0),
  };
  const hub = new EventHub({ storage, clock: systemClock, pollMs: Infinity });
  const getStatus = () => Promise.reject(new EngineClosedError());
  const hang = () => {
    isHanging = true;
  };
  return { hub, cut, hang, source: { hub, storage, clock: systemClock, getStatus } };
}

Deno.test("followRunEvents(): a reader gets the events that are published while the engine is closed, and then ends", async () => {
  const { hub, source } = createSource();
  const read: unknown[] = [];
  const reading = (async () => {
    for await (const batch of followRunEvents(source, "run", {})) read.push(...batch);
  })();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await hub.append("run", { type: "event", event: "late", key: "" });
  await hub.close();
  await reading;
  assertEquals(read, [{ number: 1, type: "event", event: "late" }]);
});

Deno.test("followRunEvents(): a read that the end of the engine interrupts ends the reader", async () => {
  const { hub, cut, hang, source } = createSource();
  hang();
  const next = followRunEvents(source, "run", {}).next();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await hub.close();
  cut.reject(new Error("The connection was closed"));
  assertEquals(await next, { done: true, value: undefined });
});

Deno.test("followRunEvents(): a read that fails since the engine was closed ends the reader, and rejects otherwise", async () => {
  for (const isClosed of [true, false]) {
    const { cut, hang, source } = createSource();
    hang();
    let isClosing = false;
    const engineClosed = new EngineClosedError();
    const assertOpen = () => isClosing ? Promise.reject(engineClosed) : Promise.resolve();
    const opened = { ...source, assertOpen };
    const follow = (after: "checkpoint" | 0, storage = source.storage) =>
      followRunEvents({ ...opened, storage }, "run", { after }).next();
    const findCheckpoint = () => cut.promise;
    const reads = [
      follow(0),
      follow("checkpoint", { ...source.storage, findCheckpoint }),
      readRunEvents(opened, "run"),
    ];
    const ended = Promise.allSettled(reads);
    await new Promise((resolve) => setTimeout(resolve, 5));
    isClosing = isClosed;
    cut.reject(new Error("Connection terminated"));
    const failed = { status: "rejected", reason: await cut.promise.catch((error) => error) };
    const done = { status: "fulfilled", value: { done: true, value: undefined } };
    const refused = { status: "rejected", reason: engineClosed };
    const expected = isClosed ? [done, done, refused] : [failed, failed, failed];
    assertEquals(await ended as unknown[], expected);
  }
});

Deno.test("followRunEvents(): the events that are stored while the end of the run is looked up are read", async () => {
  const { hub, source } = createSource();
  const getStatus = async () => {
    const last = { runId: "run", type: "event", event: "last", key: "" } as const;
    await source.storage.append([last, { runId: "run", type: "end" }]);
    hub.notify([["run", 2]]);
    return "completed" as const;
  };
  const read: unknown[] = [];
  for await (const batch of followRunEvents({ ...source, getStatus }, "run", {})) {
    read.push(...batch);
  }
  assertEquals(read, [{ number: 1, type: "event", event: "last" }]);
});

Deno.test("followRunEvents(): a reader that waits for days keeps one listener", async () => {
  const { source } = createSource();
  const counts: number[] = [];
  const listeners = new Set<() => void>();
  const { hub } = source;
  const watch = hub.watch.bind(hub);
  hub.watch = (runId) => {
    const watched = watch(runId);
    watched.onChange = (listener) => {
      counts.push(listeners.add(listener).size);
      return () => listeners.delete(listener);
    };
    return watched;
  };
  const clock = { now: Date.now, sleep: () => Promise.resolve() };
  const getStatus = (): Promise<DurableStatus> =>
    Promise.resolve(counts.length < 100 ? "running" : "completed");
  for await (const _batch of followRunEvents({ ...source, clock, getStatus }, "run", {}));
  assertEquals([counts.length, Math.max(...counts), listeners.size], [100, 1, 0]);
});
