import { assert, assertEquals, assertRejects } from "@std/assert";
import type { NewEvent, RunAttempt } from "../../src/durable/events/event_storage.ts";
import { SessionEvents } from "../../src/durable/in_process/session_events.ts";
import { createMemoryStorage, storeFrom } from "../../src/memory/mod.ts";

/** Opens the events of two processes over one storage; the leases of the first have ended when the second opens a session. */
function openEvents() {
  const storage = createMemoryStorage();
  const later = () => Date.now() + 60_000;
  const store = storeFrom(storage, { owner: "first", now: Date.now });
  const events = new SessionEvents(store, "p-");
  const other = storeFrom(storage, { owner: "second", now: later });
  const readEvents = async () =>
    (await events.read([{ runId: "a", after: 0 }], 10)).get("a")
      ?.flatMap((record) => "event" in record ? [record.event] : []);
  return { events, store, other, readEvents };
}

function createAttempt({ signal }: AbortController = new AbortController()): RunAttempt {
  return { detached: signal };
}

function createEvent(event: string): NewEvent {
  return { runId: "a", type: "event", event, key: event };
}

Deno.test("SessionEvents: the events of a run that another process has taken over are dropped until it is released", async () => {
  const { events, other, readEvents } = openEvents();
  await events.append([createEvent("one")]);
  const taken = await other.open("p-a-events");
  await events.append([createEvent("lost")]);
  await events.append([createEvent("late")]);
  await taken.close();
  await events.release("a");
  await events.append([createEvent("two")]);
  assertEquals(await readEvents(), ["one", "two"]);
  await events.close();
});

Deno.test("SessionEvents: events wait for the lock of another process, unless the run was left", async () => {
  const { events, other, readEvents } = openEvents();
  const taken = await other.create({ id: "p-a-events" });
  events.leave("a");
  await events.append([createEvent("left")]);
  await events.release("a");
  const appended = events.append([createEvent("one")]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await taken.close();
  await appended;
  assertEquals(await readEvents(), ["one"]);
  await events.close();
});

Deno.test("SessionEvents: events of a process that has begun a run do not follow those of another one", async () => {
  const { events, other, readEvents } = openEvents();
  const next = new SessionEvents(other, "p-");
  events.start("a");
  await next.begin("a", createAttempt());
  await next.append([createEvent("one"), { runId: "a", type: "end" }]);
  assertEquals(await events.append([createEvent("late")]), [0]);
  assertEquals(await readEvents(), ["one"]);
});

Deno.test("SessionEvents: a process appends nothing when another one has read the events to continue the run", async () => {
  const { events, other, readEvents } = openEvents();
  const next = new SessionEvents(other, "p-");
  await events.append([createEvent("one")]);
  await next.begin("a", createAttempt());
  assertEquals(await events.append([createEvent("late")]), [0]);
  await next.append([createEvent("two")]);
  assertEquals(await readEvents(), ["one", "two"]);
  await next.close();
});

Deno.test("SessionEvents: a process that has left a run waits no longer for its events", async () => {
  const { events, other } = openEvents();
  const taken = await other.create({ id: "p-a-events" });
  taken.append({ type: "custom", name: "durable_event", data: null });
  const leaving = new AbortController();
  const began = events.begin("a", createAttempt(leaving));
  leaving.abort();
  await began;
  await taken.close();
  await (await other.open("p-a-events")).close();
});

Deno.test("SessionEvents: events that could not be stored are dropped if another process has appended others meanwhile", async () => {
  const { events, store, other, readEvents } = openEvents();
  const { create } = store;
  store.create = async (options) => {
    const session = await create.call(store, options);
    const { flush } = session;
    let flushes = 0;
    session.flush = async () => {
      await flush.call(session);
      if (++flushes === 2) throw new Error("The connection was lost");
    };
    return session;
  };
  const [one, two, three] = ["one", "two", "three"].map(createEvent);
  assert(one && two && three);
  await events.append([one]);
  await assertRejects(() => events.append([two]), Error, "The connection was lost");
  // The attempt has stored the event, and another one follows.
  assertEquals(await events.append([two, three]), [2, 3]);
  await events.release("a");

  store.create = create;
  const { open } = store;
  store.open = async (id, options) => {
    const session = await open.call(store, id, options);
    if (options?.access !== "read") session.flush = () => Promise.reject(new Error("lost"));
    return session;
  };
  const stale = [createEvent("stale")];
  await assertRejects(() => events.append(stale), Error, "lost");
  store.open = open;
  const taken = await other.open("p-a-events");
  const data = { type: "event", event: "of the other", key: "" };
  taken.append({ type: "custom", name: "durable_event", data });
  await taken.close();
  assertEquals(await events.append(stale), [0]);
  await events.close();
  const stored = await readEvents();
  assertEquals([stored?.slice(0, 3), stored?.at(-1)], [["one", "two", "three"], "of the other"]);
});
