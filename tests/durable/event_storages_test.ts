import { assertEquals, assertRejects } from "@std/assert";
import { NetworkError } from "../../src/core/errors/errors.ts";
import { EventHub } from "../../src/durable/events/event_hub.ts";
import type { EventStorage } from "../../src/durable/events/event_storage.ts";
import { SessionEvents } from "../../src/durable/in_process/session_events.ts";
import { ObjectEvents } from "../../src/durable/restate/object_events.ts";
import { RestateClient } from "../../src/durable/restate/restate_client.ts";
import {
  createMemoryStorage,
  type EntryStorage,
  InMemorySessionStore,
  storeFrom,
} from "../../src/memory/mod.ts";

/** Publishes an event of two runs at once. */
async function publishTwo(storage: EventStorage): Promise<void> {
  const clock = { now: () => 0, sleep: () => Promise.resolve() };
  const hub = new EventHub({ storage, clock, pollMs: Infinity });
  void hub.append("a", { type: "event", event: "of a", key: "" });
  void hub.append("b", { type: "event", event: "of b", key: "" });
  await hub.flush("b");
  await hub.close();
}

Deno.test("SessionEvents: events are stored once when those of another run could not be stored at first", async () => {
  const store = new InMemorySessionStore();
  const { create } = store;
  let failures = 2;
  store.create = (options) => {
    if (options?.id === "test-b-events" && failures-- > 0) {
      return Promise.reject(new Error("The disk is full"));
    }
    return create.call(store, options);
  };
  const storage = new SessionEvents(store, "test-");
  await publishTwo(storage);
  await storage.close();
  const positions = ["a", "b"].map((runId) => ({ runId, after: 0 }));
  const found = await storage.read(positions, 10);
  assertEquals([...found.values()], [
    [{ type: "event", event: "of a", key: "", number: 1 }],
    [{ type: "event", event: "of b", key: "", number: 1 }],
  ]);
});

Deno.test("SessionEvents: events are stored once when an attempt has failed after it has stored them", async () => {
  const store = new InMemorySessionStore();
  const { create } = store;
  store.create = async (options) => {
    const session = await create.call(store, options);
    const { flush } = session;
    session.flush = async () => {
      session.flush = flush;
      await flush.call(session);
      throw new Error("The connection was lost");
    };
    return session;
  };
  const storage = new SessionEvents(store, "test-");
  await publishTwo(storage);
  await storage.close();
  const found = await storage.read([{ runId: "b", after: 0 }], 10);
  assertEquals(found.get("b"), [{ type: "event", event: "of b", key: "", number: 1 }]);
});

/** Fails the next statements of a storage. */
function failStatements(storage: EntryStorage, failures: { count: number }): EntryStorage {
  return new Proxy(storage, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) =>
        failures.count-- > 0
          ? Promise.reject(new Error("connection refused"))
          : Reflect.apply(member, target, args);
    },
  });
}

Deno.test("SessionEvents: events are stored and read when a store that cannot be reached is back", async () => {
  const failures = { count: 0 };
  const owner = { owner: "test", now: Date.now };
  const store = storeFrom(failStatements(createMemoryStorage(), failures), owner);
  const storage = new SessionEvents(store, "test-");
  failures.count = 40;
  await publishTwo(storage);
  await storage.close();
  failures.count = 40;
  const position = [{ runId: "a", after: 0 }];
  await assertRejects(() => storage.read(position, 10), NetworkError, "cannot be reached");
  failures.count = 0;
  const found = await storage.read(position, 10);
  assertEquals(found.get("a")?.map((record) => "event" in record && record.event), ["of a"]);
});

Deno.test("ObjectEvents: a request to store events that is repeated has the same idempotency key", async () => {
  const keys: Record<string, (string | null)[]> = {};
  let failures = 2;
  const client = new RestateClient({
    ingressUrl: "http://127.0.0.1:1",
    signal: new AbortController().signal,
    fetch: (input, init) => {
      const path = new URL(`${input}`).pathname;
      (keys[path] ??= []).push(new Headers(init?.headers).get("idempotency-key"));
      // The events are stored, but the answer is lost.
      if (path === "/events/b/append" && failures-- > 0) {
        return Promise.reject(new TypeError("The connection was lost"));
      }
      return Promise.resolve(Response.json(1));
    },
  });
  await publishTwo(new ObjectEvents({ service: "events", client, keepMs: 0 }));
  const counts = Object.values(keys).map((requests) => [requests.length, new Set(requests).size]);
  assertEquals(counts, [[3, 1], [3, 1]]);
});
