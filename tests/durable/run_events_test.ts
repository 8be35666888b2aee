import { assertEquals } from "@std/assert";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { systemClock } from "../../src/core/ports/ports.ts";
import { EventHub } from "../../src/durable/events/event_hub.ts";
import type { EventStorage, StoredEvent } from "../../src/durable/events/event_storage.ts";
import { createRunEvents } from "../../src/durable/events/run_events.ts";

Deno.test("createRunEvents(): the stored events have those that the last attempt in this process has published", async () => {
  const answered = createDeferred<void>();
  const stored: StoredEvent[] = [];
  const storage: EventStorage = {
    append: async ([event]) => {
      await answered.promise;
      if (event) stored.push({ ...event, number: 1 });
      return [1];
    },
    read: () => Promise.resolve(new Map([["run", [...stored]]])),
    findCheckpoint: () => Promise.resolve(0),
  };
  const hub = new EventHub({ storage, clock: systemClock, pollMs: Infinity });
  await createRunEvents("run", { hub, storage }).append({ type: "event", event: 1, key: "" });
  const loaded = createRunEvents("run", { hub, storage }).load();
  await new Promise((resolve) => setTimeout(resolve, 1));
  answered.resolve();
  assertEquals((await loaded).length, 1);
  await hub.close();
});
