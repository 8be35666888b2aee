import { assertEquals } from "@std/assert";
import type { NewEvent, RunAttempt } from "../events/event_storage.ts";
import { createEventService, ObjectEvents } from "./object_events.ts";
import type { RestateClient } from "./restate_client.ts";
import type { RestateHandler, RestatePackage } from "./restate_package.ts";

/** Creates the events of runs in an object of Restate whose state is in memory. */
function createEvents(): ObjectEvents {
  return createObject().events;
}

/** Creates such events, and a function that calls a handler of the object. */
function createObject() {
  const state = new Map<string, unknown>();
  const context = {
    get: (name: string) => Promise.resolve(state.get(name) ?? null),
    set: (name: string, value: unknown) => void state.set(name, value),
  };
  const restate = {
    object: (definition: unknown) => definition,
    handlers: { object: { shared: (handler: unknown) => handler } },
  };
  const { handlers } = createEventService(restate as unknown as RestatePackage, "events") as {
    readonly handlers: Readonly<Record<string, RestateHandler>>;
  };
  const call = (handler: string, input: unknown) =>
    handlers[handler]?.(context as never, input as never);
  const results = new Map<string, unknown>();
  const client = {
    call: async (
      path: string,
      input: unknown,
      { idempotencyKey = crypto.randomUUID() }: { readonly idempotencyKey?: string } = {},
    ) => {
      const handler = path.split("/").at(-1) ?? "";
      if (!results.has(idempotencyKey)) results.set(idempotencyKey, await call(handler, input));
      return results.get(idempotencyKey);
    },
    send: () => Promise.resolve(),
  };
  const options = { service: "events", client: client as unknown as RestateClient, keepMs: 1 };
  return { events: new ObjectEvents(options), call };
}

/** Creates an execution, which its function ends, and its records. */
function createAttempt(names: readonly string[]) {
  const detach = new AbortController();
  const attempt: RunAttempt = { detached: detach.signal };
  const events = names.map((event): NewEvent => ({
    ...{ type: "event", event, key: event, runId: "run", attempt },
  }));
  return { attempt, events, end: () => detach.abort() };
}

async function read(events: ObjectEvents): Promise<unknown[]> {
  const records = (await events.read([{ runId: "run", after: 0 }], 10)).get("run") ?? [];
  return records.map((record) => "event" in record ? record.event : record.type);
}

Deno.test("ObjectEvents: records of an execution that another one follows are dropped", async () => {
  const events = createEvents();
  const first = createAttempt(["a", "b"]);
  const second = createAttempt(["c"]);
  const [a, b] = first.events;
  await events.begin("run", first.attempt);
  assertEquals(await events.append(a ? [a] : []), [1]);
  await events.begin("run", second.attempt);
  first.end();
  assertEquals(await events.append([...b ? [b] : [], ...second.events]), [0, 2]);
  assertEquals(await read(events), ["a", "c"]);
});

Deno.test("ObjectEvents: an execution stores its records also if an earlier one has begun to publish after it", async () => {
  const events = createEvents();
  const late = createAttempt(["late"]);
  const present = createAttempt(["a", "b"]);
  await events.begin("run", present.attempt);
  await events.begin("run", late.attempt);
  const appended = events.append(present.events);
  late.end();
  assertEquals(await appended, [1, 2]);
  assertEquals(await events.append(late.events), [0]);
  assertEquals(await read(events), ["a", "b"]);
});

Deno.test("ObjectEvents: records of an execution that could not be noted are stored", async () => {
  const events = createEvents();
  const { events: [event] } = createAttempt(["a"]);
  await events.begin("run", createAttempt([]).attempt);
  assertEquals(await events.append(event ? [event] : []), [1]);
});

Deno.test("ObjectEvents: records of a worker of an earlier version, which sends them alone, are stored", async () => {
  const { events, call } = createObject();
  await events.begin("run", createAttempt([]).attempt);
  assertEquals(await call("append", [{ type: "event", event: "a", key: "a" }]), 1);
  assertEquals(await read(events), ["a"]);
});
