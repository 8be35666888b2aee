import { assertEquals, assertLessOrEqual } from "@std/assert";
import fc from "fast-check";
import { NetworkError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { systemClock } from "../../src/core/ports/ports.ts";
import { EventHub } from "../../src/durable/events/event_hub.ts";
import type {
  EventPosition,
  EventStorage,
  NewEvent,
  StoredEvent,
} from "../../src/durable/events/event_storage.ts";
import { followRunEvents } from "../../src/durable/events/read_run_events.ts";
import { withDeadline } from "../deadline.ts";
import { waitUntil } from "../wait_until.ts";

/** A storage whose statements take some turns of the event loop, and may fail. */
class SlowStorage implements EventStorage {
  readonly runs = new Map<string, StoredEvent[]>();
  /** Called with the runs that a statement has changed, as all processes are notified. */
  onAppend: (runIds: readonly string[]) => void = () => {};
  failures = 0;
  failure: Error = new Error("The storage refuses the records");
  appends = 0;
  readonly #turns: () => number;

  constructor(turns: () => number) {
    this.#turns = turns;
  }

  async append(events: readonly NewEvent[]): Promise<readonly number[]> {
    this.appends++;
    await this.#pause();
    if (this.failures-- > 0) throw this.failure;
    const numbers = events.map(({ runId, ...content }) => {
      const stored = this.runs.get(runId) ?? [];
      this.runs.set(runId, stored);
      return stored.push({ ...content, number: stored.length + 1 });
    });
    await this.#pause();
    this.onAppend([...new Set(events.map(({ runId }) => runId))]);
    return numbers;
  }

  async read(
    positions: readonly EventPosition[],
    limit: number,
  ): Promise<ReadonlyMap<string, readonly StoredEvent[]>> {
    await this.#pause();
    const found = new Map(
      positions.map(({ runId, after }) =>
        [runId, (this.runs.get(runId) ?? []).slice(after, after + limit)] as const
      ),
    );
    await this.#pause();
    return found;
  }

  findCheckpoint(): Promise<number> {
    return Promise.resolve(0);
  }

  async #pause(): Promise<void> {
    for (let turn = this.#turns(); turn > 0; turn--) await Promise.resolve();
  }
}

Deno.test("EventHub: readers in every process get all records once and in order, whatever their timing", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.infiniteStream(fc.nat(6)),
      fc.array(fc.record({ count: fc.integer({ min: 1, max: 400 }), readers: fc.nat(2) }), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.nat(300),
      async (turns, parts, start) => {
        const storage = new SlowStorage(() => turns.next().value ?? 0);
        const createHub = () => new EventHub({ storage, clock: systemClock, pollMs: Infinity });
        const [writing, other] = [createHub(), createHub()];
        storage.onAppend = (runIds) => other.notify(runIds.map((id) => [id, Infinity] as const));
        const getStatus = () => Promise.resolve("running" as const);
        const readers: Promise<{ readonly from: number; readonly numbers: number[] }>[] = [];
        const read = async (hub: EventHub, after: number) => {
          const numbers: number[] = [];
          const source = { hub, storage, clock: systemClock, getStatus };
          for await (const batch of followRunEvents(source, "run", { after })) {
            numbers.push(...batch.map(({ number }) => number));
          }
          return { from: after, numbers };
        };
        let total = 0;
        for (const { count, readers: added } of parts) {
          for (let index = 0; index < added; index++) {
            // Some positions are ahead of what other readers have got.
            const after = Math.min(start, storage.runs.get("run")?.length ?? 0);
            readers.push(read(writing, after), read(other, after), read(other, 0));
          }
          for (let index = 0; index < count; index++) {
            await writing.append("run", { type: "event", event: ++total, key: `${total}` });
          }
          await writing.append("another run", { type: "event", event: 0, key: "" });
        }
        await writing.append("run", { type: "end" });
        await writing.flush("run");
        for (const { from, numbers } of await Promise.all(readers)) {
          const expected = Array.from({ length: total - from }, (_, index) => from + index + 1);
          assertEquals(numbers, expected);
        }
        await writing.close();
        await other.close();
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("EventHub: records that are published while others are stored are stored together", async () => {
  const storage = new SlowStorage(() => 5);
  const hub = new EventHub({ storage, clock: systemClock, pollMs: Infinity });
  for (let number = 1; number <= 100; number++) {
    void hub.append(`run ${number % 10}`, { type: "event", event: number, key: `${number}` });
  }
  for (let run = 0; run < 10; run++) await hub.flush(`run ${run}`);
  assertEquals([storage.runs.size, storage.appends <= 3], [10, true]);
  await hub.close();
});

Deno.test("EventHub: large records are stored in several statements, and runs wait for them", async () => {
  const sizes: number[] = [];
  const storage = new SlowStorage(() => 5);
  const { append } = storage;
  storage.append = (events) => {
    sizes.push(JSON.stringify(events).length);
    return append.call(storage, events);
  };
  const hub = new EventHub({ storage, clock: systemClock, pollMs: Infinity });
  const event = "x".repeat(3_000_000);
  let accepted = 0;
  for (let number = 1; number <= 40; number++) {
    void hub.append("run", { type: "event", event, key: `${number}` }).then(() => accepted++);
  }
  await Promise.resolve();
  assertEquals(accepted < 40, true);
  await hub.flush("run");
  assertEquals([accepted, storage.runs.get("run")?.length], [40, 40]);
  assertEquals(Math.max(...sizes) < 10_000_000, true, `${Math.max(...sizes)} characters`);
  await hub.close();
});

Deno.test("EventHub: records are stored again when the storage was not available", async () => {
  const storage = new SlowStorage(() => 0);
  storage.failures = 2;
  const clock = { now: () => 0, sleep: () => Promise.resolve() };
  const hub = new EventHub({ storage, clock, pollMs: Infinity });
  await hub.append("run", { type: "event", event: 1, key: "1" });
  await hub.flush("run");
  assertEquals(storage.runs.get("run")?.length, 1);
  await hub.close();
});

Deno.test("EventHub: records wait until a storage that cannot be reached is back, and those that it refuses are given up", async () => {
  const clock = { now: () => 0, sleep: () => Promise.resolve() };
  const unreachable = new NetworkError("Restate cannot be reached");
  for (
    const [failure, stored] of [[unreachable, 1], [new Error("too large"), undefined]] as const
  ) {
    const storage = Object.assign(new SlowStorage(() => 0), { failures: 100, failure });
    const hub = new EventHub({ storage, clock, pollMs: Infinity });
    await hub.append("run", { type: "event", event: 1, key: "1" });
    await hub.flush("run");
    assertEquals(storage.runs.get("run")?.length, stored);
    await hub.close();
  }
});

Deno.test("EventHub: close() without a limit ends when a storage cannot be reached", async () => {
  const storage = new SlowStorage(() => 0);
  const failure = new NetworkError("Postgres cannot be reached");
  Object.assign(storage, { failures: Infinity, failure });
  const sleep = () => new Promise<void>((resolve) => void setTimeout(resolve, 0));
  const hub = new EventHub({ storage, clock: { now: () => 0, sleep }, pollMs: Infinity });
  for (let event = 0; event < 3_000; event++) {
    await hub.append("run", { type: "event", event, key: `${event}` });
  }
  await waitUntil(() => storage.appends > 0);
  const { appends } = storage;
  await withDeadline(hub.close());
  assertEquals(storage.runs.size, 0);
  // The records that wait need several statements, which would have five attempts each.
  assertLessOrEqual(storage.appends - appends, 5);
});

Deno.test("EventHub: close() without a limit stores the records when a storage can be reached again soon", async () => {
  const storage = new SlowStorage(() => 0);
  const failure = new NetworkError("Postgres cannot be reached");
  Object.assign(storage, { failures: 3, failure });
  const sleep = () => Promise.resolve();
  const hub = new EventHub({ storage, clock: { now: () => 0, sleep }, pollMs: Infinity });
  await hub.append("run", { type: "event", event: 1, key: "1" });
  await withDeadline(hub.close());
  assertEquals(storage.runs.get("run")?.length, 1);
});

Deno.test("EventHub: close() without a limit ends after a failed attempt that takes long", async () => {
  const storage = new SlowStorage(() => 0);
  const failure = new NetworkError("Postgres cannot be reached");
  Object.assign(storage, { failures: Infinity, failure });
  let time = 0;
  const clock = { now: () => time += 30_000, sleep: () => Promise.resolve() };
  const hub = new EventHub({ storage, clock, pollMs: Infinity });
  await hub.append("run", { type: "event", event: 1, key: "1" });
  await withDeadline(hub.close());
  assertEquals(storage.appends, 1);
});

Deno.test("EventHub: records that could not be read when they were reported are read by the next look", async () => {
  const storage = new SlowStorage(() => 1);
  const hub = new EventHub({ storage, clock: systemClock, pollMs: Infinity });
  const watched = hub.watch("run");
  assertEquals(await watched.read(0), []);
  // Another process appends a record.
  await storage.append([{ runId: "run", type: "end" }]);
  const { read } = storage;
  const failed = createDeferred<void>();
  storage.read = () => {
    storage.read = read;
    failed.resolve();
    return Promise.reject(new Error("The storage is not available"));
  };
  hub.notify([["run", Infinity]]);
  await failed.promise;
  await Promise.resolve();
  assertEquals((await watched.read(0)).map(({ type }) => type), ["end"]);
  hub.unwatch(watched);
  await hub.close();
});

Deno.test("EventHub: a reader gets large events in batches of a limited length, from the storage and from memory", async () => {
  const storage = new SlowStorage(() => 0);
  const clock = { now: () => 0, sleep: () => Promise.resolve() };
  const hub = new EventHub({ storage, clock, pollMs: Infinity });
  const appendAll = async () => {
    for (let number = 1; number <= 100; number++) {
      const event = "x".repeat(200_000);
      await hub.append("run", { type: "event", event, key: String(number) });
    }
    await hub.flush("run");
  };
  await appendAll();
  const watched = hub.watch("run");
  let last = 0;
  const sizes: number[] = [];
  const readAll = async () => {
    for (let records; (records = await watched.read(last)).length > 0;) {
      assertEquals(
        records.map(({ number }) => number),
        records.map((_, index) => last + index + 1),
      );
      last += records.length;
      sizes.push(records.length);
    }
  };
  await readAll();
  assertEquals(last, 100);
  // The size of the first events is not known before.
  assertLessOrEqual(Math.max(...sizes.slice(1)), 5);
  await appendAll();
  sizes.length = 0;
  await readAll();
  assertEquals(last, 200);
  assertLessOrEqual(Math.max(...sizes), 5);
  hub.unwatch(watched);
});

Deno.test("EventHub: close() waits for a limited time for a storage that does not answer, and tries no further", async () => {
  const storage = new SlowStorage(() => 0);
  storage.failures = Infinity;
  const waits: (() => void)[] = [];
  const sleep = () => new Promise<void>((resolve) => void waits.push(resolve));
  const clock = { now: () => 0, sleep };
  const hub = new EventHub({ storage, clock, pollMs: Infinity });
  await hub.append("run", { type: "event", event: null, key: "" });
  await waitUntil(() => waits.length === 1);
  const watched = hub.watch("run");
  const closing = hub.close({ limitMs: 1 });
  waits[1]?.();
  await closing;
  assertEquals(watched.isClosed, true);
  waits[0]?.();
  await hub.flush("run");
  assertEquals(storage.appends, 2);
});
