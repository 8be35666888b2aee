import { assertEquals } from "@std/assert";
import type { NewEvent } from "../../src/durable/events/event_storage.ts";
import { SessionEvents } from "../../src/durable/in_process/session_events.ts";
import { createMemoryStorage, storeFrom } from "../../src/memory/mod.ts";

/** Opens the events of two processes over one storage; the leases of the first have ended when the second opens a session. */
function openEvents() {
  const storage = createMemoryStorage();
  const later = () => Date.now() + 60_000;
  const events = new SessionEvents(storeFrom(storage, { owner: "first", now: Date.now }), "p-");
  const other = storeFrom(storage, { owner: "second", now: later });
  const readEvents = async () =>
    (await events.read([{ runId: "a", after: 0 }], 10)).get("a")
      ?.flatMap((record) => "event" in record ? [record.event] : []);
  return { events, other, readEvents };
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
