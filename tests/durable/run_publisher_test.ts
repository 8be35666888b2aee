import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { DurableSteps } from "../../src/core/durable/durable_steps.ts";
import { NetworkError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { executeRun } from "../../src/durable/engine/execute_run.ts";
import type { EventContent, StoredEvent } from "../../src/durable/events/event_storage.ts";
import type { RunEvents } from "../../src/durable/events/run_events.ts";
import { RunPublisher } from "../../src/durable/steps/run_publisher.ts";
import { reply, scriptedStream } from "../../src/testing/mod.ts";
import { ArrayJournal, type RecordedStep } from "./array_journal.ts";

/** The events of a run, of which a crash loses the last ones. */
class StoredEvents implements RunEvents {
  readonly stored: StoredEvent[];
  readonly #loadMs: number;

  constructor(stored: readonly StoredEvent[] = [], { loadMs = 0 } = {}) {
    this.stored = [...stored];
    this.#loadMs = loadMs;
  }

  async load(): Promise<readonly StoredEvent[]> {
    const stored = [...this.stored];
    if (this.#loadMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#loadMs));
    return stored;
  }

  append(content: EventContent): Promise<void> {
    this.stored.push({ ...content, number: this.stored.length + 1 });
    return Promise.resolve();
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  get values(): unknown[] {
    return this.stored.map((record) => "event" in record ? record.event : record.type);
  }
}

/** Events whose first reads fail. */
function failLoads(
  events: StoredEvents,
  { count, error }: { readonly count: number; readonly error: Error },
): RunEvents {
  let failures = 0;
  return {
    load: () => failures++ < count ? Promise.reject(error) : events.load(),
    append: (content) => events.append(content),
    flush: events.flush,
  };
}

const { signal: detached } = new AbortController();
const sleep = () => Promise.resolve();

async function publishAll(
  events: StoredEvents,
  { replayed = [], executed = [] }: { replayed?: readonly string[]; executed?: readonly string[] },
): Promise<void> {
  const publisher = new RunPublisher({ events, isContinued: true, detached, sleep });
  for (const event of replayed) await publisher.publish(event, { isReplayed: true });
  for (const event of executed) await publisher.publish(event, { isReplayed: false });
  await publisher.end({ isAlways: false });
}

Deno.test("RunPublisher: a replay publishes exactly the events that were not stored, wherever the process ended", async () => {
  const event = fc.constantFrom("a", "b", "c");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ event, isTransient: fc.boolean() }), { maxLength: 12 }),
      fc.nat(),
      fc.array(event, { maxLength: 4 }),
      async (first, cut, next) => {
        const all = first.map(({ event, isTransient }) => isTransient ? `${event}?` : event);
        const before = new StoredEvents();
        await publishAll(before, { executed: all });
        const count = cut % (all.length + 1);
        const after = new StoredEvents(before.stored.slice(0, count));
        // Progress of a tool, for instance, is not emitted again.
        const isReplayed = (text: string) => !text.endsWith("?");
        await publishAll(after, { replayed: all.filter(isReplayed), executed: next });
        const known = all.slice(0, count);
        const lost = all.slice(count).filter(isReplayed);
        const published = after.values.filter((value) => value !== "continued" && value !== "end");
        assertEquals(published, [...known, ...lost, ...next]);
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("RunPublisher: a note separates the events of a step that was interrupted from those of its repetition", async () => {
  const before = new StoredEvents();
  await publishAll(before, { executed: ["begin", "part 1", "part 2"] });
  const events = new StoredEvents(before.stored.slice(0, 3));
  await publishAll(events, { replayed: ["begin"], executed: ["part 1", "end of the step"] });
  assertEquals(
    events.values,
    ["begin", "part 1", "part 2", "continued", "part 1", "end of the step", "end"],
  );
});

Deno.test("RunPublisher: nothing is published again when all events and the end were stored", async () => {
  const events = new StoredEvents();
  await publishAll(events, { executed: ["begin", "done"] });
  await publishAll(events, { replayed: ["begin", "done"] });
  assertEquals(events.values, ["begin", "done", "end"]);
});

Deno.test("RunPublisher: a key with any characters is stored as text that every storage accepts", async () => {
  const events = new StoredEvents();
  const publisher = new RunPublisher({ events, isContinued: false, detached, sleep });
  const key = `call \0\ud800 ${"long ".repeat(10_000)}`;
  await publisher.publish("event", { key, isReplayed: false });
  await publisher.end({ isAlways: false });
  const keys = events.stored.flatMap((record) => "key" in record ? [record.key] : []);
  assertEquals(keys.map((stored) => /^[a-z0-9]{1,20}$/.test(stored)), [true]);
});

Deno.test("RunPublisher: an event of a replay that differs only by its times and its number is not published again", async () => {
  const createEvents = (durationMs: number, seq: number) =>
    [1, 2].map((turn) => ({ type: "model_call_end", turn, durationMs, seq: seq + turn }));
  const events = new StoredEvents();
  const first = new RunPublisher({ events, isContinued: false, detached, sleep });
  for (const event of createEvents(80, 10)) await first.publish(event, { isReplayed: false });
  await first.end({ isAlways: false });
  const second = new RunPublisher({ events, isContinued: true, detached, sleep });
  for (const event of createEvents(0, 9)) await second.publish(event, { isReplayed: true });
  await second.end({ isAlways: false });
  assertEquals(events.values, [...createEvents(80, 10), "end"]);
});

Deno.test("RunPublisher: a process that no longer executes the run stores nothing more", async () => {
  const before = new StoredEvents();
  await publishAll(before, { executed: ["begin", "part"] });
  const stored = before.stored.slice(0, 2);
  for (const isReplayed of [true, false]) {
    const events = new StoredEvents(stored);
    const detach = new AbortController();
    const publisher = new RunPublisher({
      events,
      isContinued: true,
      detached: detach.signal,
      sleep,
    });
    void publisher.publish("waits for those that are stored", { isReplayed });
    const ended = publisher.end({ isAlways: true });
    detach.abort();
    await ended;
    assertEquals(events.values, ["begin", "part"]);
  }
});

Deno.test("RunPublisher: a read of the stored events that fails is repeated for 15 seconds, so that a replay publishes none of them again", async () => {
  const events = new StoredEvents();
  await publishAll(events, { executed: ["a", "b"] });
  const failing = failLoads(events, { count: 30, error: new Error("unavailable") });
  const publisher = new RunPublisher({ events: failing, isContinued: true, detached, sleep });
  for (const event of ["a", "b", "c"]) await publisher.publish(event, { isReplayed: true });
  await publisher.end({ isAlways: false });
  assertEquals(events.values, ["a", "b", "end", "c", "end"]);
});

Deno.test("RunPublisher: stored events are read when their storage can be reached again, and not when it refuses", async () => {
  for (
    const [error, expected] of [
      [new NetworkError("Restate cannot be reached"), ["a", "end"]],
      [new Error("damaged"), ["a", "end", "a", "end"]],
    ] as const
  ) {
    const events = new StoredEvents();
    await publishAll(events, { executed: ["a"] });
    const failing = failLoads(events, { count: 100, error });
    const publisher = new RunPublisher({ events: failing, isContinued: true, detached, sleep });
    await publisher.publish("a", { isReplayed: true });
    await publisher.end({ isAlways: false });
    assertEquals(events.values, [...expected]);
  }
});

Deno.test("RunPublisher: a step that ends waits seconds for the stored events of a slow storage, and no minute", async () => {
  for (const [limitMs, expected] of [[10_000, 1], [60_000, undefined]] as const) {
    const loaded = createDeferred<readonly StoredEvent[]>();
    const events = Object.assign(new StoredEvents(), { load: () => loaded.promise });
    // The storage answers after that time.
    const sleep = async (milliseconds: number) => {
      if (milliseconds < limitMs) return;
      loaded.resolve([{ type: "event", event: "part", key: "part", number: 1 }]);
      await new Promise<never>(() => {});
    };
    const publisher = new RunPublisher({ events, isContinued: true, detached, sleep });
    void publisher.publish("begin", { isReplayed: true });
    assertEquals(await publisher.findInterrupted(), expected);
  }
});

Deno.test("RunPublisher: a run waits when many of its events are not stored", async () => {
  const loaded = createDeferred<readonly StoredEvent[]>();
  const events = Object.assign(new StoredEvents(), { load: () => loaded.promise });
  const publisher = new RunPublisher({ events, isContinued: true, detached, sleep });
  const publish = () => publisher.publish("event", { isReplayed: false });
  const first = Array.from({ length: 1_000 }, publish);
  assertEquals(first.filter((waiting) => waiting !== undefined), []);
  const waiting = publish();
  assert(waiting);
  loaded.resolve([]);
  await waiting;
  assertEquals(events.values.length, 1_001);
});

Deno.test("RunPublisher: an event after the end of the run is not stored, one that comes just before it is", async () => {
  const events = new StoredEvents();
  const publisher = new RunPublisher({ events, isContinued: false, detached, sleep });
  await publisher.publish("a", { isReplayed: false });
  const ended = publisher.end({ isAlways: false });
  await publisher.publish("b", { isReplayed: false });
  await ended;
  await publisher.publish("c", { isReplayed: false });
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(events.values, ["a", "b", "end"]);
});

Deno.test("RunPublisher: the first event is not stored either when the run has ended without one", async () => {
  const events = new StoredEvents();
  const publisher = new RunPublisher({ events, isContinued: false, detached, sleep });
  await publisher.end({ isAlways: false });
  await publisher.publish("a", { isReplayed: false });
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(events.values, []);
});

/** Executes a run whose only step gives a reply in parts, until it is interrupted or has ended. */
async function executeReply(
  events: StoredEvents,
  { parts, records = [], crashAt }: {
    readonly parts: readonly string[];
    readonly records?: readonly RecordedStep[];
    readonly crashAt?: string;
  },
): Promise<readonly RecordedStep[]> {
  const journal = new ArrayJournal(records, (name) => name === crashAt);
  Object.assign(journal, { events });
  Object.defineProperty(journal, "isContinued", { value: true });
  const workflow = async (steps: DurableSteps) => {
    await steps.publish("begin");
    const streamFn = scriptedStream([reply(parts.map((text) => ({ type: "text", text })))]);
    const agent = durableAgent({ model: "any/model", streamFn }, steps);
    agent.subscribe((event) => {
      if (event.type !== "message_update" || event.delta.type !== "text_delta") return;
      void steps.publish(event.delta.delta);
    });
    await agent.prompt("Count");
    await steps.publish("after");
    await steps.run("end", () => null);
  };
  await executeRun(journal, { workflow, input: null }).catch(() => {});
  return journal.records;
}

for (const loadMs of [0, 50]) {
  Deno.test(`RunPublisher: a reply is published completely, although that of an interrupted step began alike, if stored events are read in ${loadMs} ms`, async () => {
    const parts = ["a ", "b ", "c "];
    const interrupted = new StoredEvents();
    await executeReply(interrupted, { parts: ["a ", "x "], crashAt: "turn 1, model call 1" });
    assertEquals(interrupted.values, ["begin", "a ", "x "]);
    const recorded = new StoredEvents(interrupted.stored, { loadMs });
    const records = await executeReply(recorded, { parts, crashAt: "end" });
    const all = ["begin", "a ", "x ", "continued", "a ", "b ", "c ", "after"];
    assertEquals(recorded.values, all);
    for (let count = 3; count <= all.length; count++) {
      const events = new StoredEvents(recorded.stored.slice(0, count), { loadMs });
      await executeReply(events, { parts: [], records });
      assertEquals(events.values, [...all, "end"], `${count} events were stored`);
    }
  });
}

Deno.test("RunPublisher: events that a replay emits in another order are not published again", async () => {
  const events = new StoredEvents();
  await publishAll(events, { executed: ["begin", "message", "reply", "next"] });
  await publishAll(events, { replayed: ["begin", "reply", "message", "next", "last"] });
  assertEquals(events.values, ["begin", "message", "reply", "next", "end", "last", "end"]);
});

Deno.test("RunPublisher: the end of a recorded step is not published again after the events of an interrupted one", async () => {
  const events = new StoredEvents();
  await publishAll(events, { executed: ["begin", "end of the first", "part of the second"] });
  const publisher = new RunPublisher({ events, isContinued: true, detached, sleep });
  await publisher.publish("begin", { isReplayed: true });
  publisher.skipInterrupted(3, (event) => event === "end of the first");
  for (const event of ["end of the first", "part of the second"]) {
    await publisher.publish(event, { isReplayed: true });
  }
  await publisher.end({ isAlways: false });
  assertEquals(events.values, [
    ...["begin", "end of the first", "part of the second", "end"],
    ...["continued", "part of the second", "end"],
  ]);
});

Deno.test("RunPublisher: a replay whose events are not among many stored ones takes no time for each pair of them", async () => {
  const count = 30_000;
  const createRecord = (_: unknown, index: number): StoredEvent => ({
    ...{ type: "event", event: index, key: `other ${index}`, number: index + 1 },
  });
  const events = new StoredEvents(Array.from({ length: count }, createRecord));
  const publisher = new RunPublisher({ events, isContinued: true, detached, sleep });
  const begin = performance.now();
  for (let index = 0; index < count; index++) await publisher.publish(index, { isReplayed: true });
  await publisher.end({ isAlways: false });
  assertEquals(events.stored.length, 2 * count + 1);
  assert(performance.now() - begin < 5_000);
});
