import { assertEquals } from "@std/assert";
import type { EventStorage, StoredEvent } from "./event_storage.ts";
import { WatchedRun } from "./watched_run.ts";

/** A storage with one run, which counts how often it is read. */
class CountedStorage implements EventStorage {
  readonly stored: StoredEvent[] = [];
  reads = 0;

  add(count: number): readonly StoredEvent[] {
    const added = Array.from({ length: count }, (_, index): StoredEvent => ({
      type: "event",
      event: null,
      key: "",
      number: this.stored.length + index + 1,
    }));
    this.stored.push(...added);
    return added;
  }

  append(): Promise<readonly number[]> {
    return Promise.reject(new Error("not used"));
  }

  read(
    [position]: Parameters<EventStorage["read"]>[0],
    limit: number,
  ): Promise<ReadonlyMap<string, readonly StoredEvent[]>> {
    this.reads++;
    const { runId, after } = position ?? { runId: "", after: 0 };
    return Promise.resolve(new Map([[runId, this.stored.slice(after, after + limit)]]));
  }

  findCheckpoint(): Promise<number> {
    return Promise.resolve(0);
  }
}

Deno.test("WatchedRun: a reader that has all records does not read the storage again until some are missing", async () => {
  const storage = new CountedStorage();
  const watched = new WatchedRun("run", storage);
  storage.add(3);
  assertEquals((await watched.read(0)).length, 3);
  assertEquals([await watched.read(3), await watched.read(3), storage.reads], [[], [], 1]);
  assertEquals(watched.add(storage.add(2)), true);
  assertEquals([(await watched.read(3)).length, storage.reads], [2, 1]);

  storage.add(1);
  watched.miss();
  assertEquals([(await watched.read(5)).length, storage.reads], [1, 2]);
  assertEquals([await watched.read(6), storage.reads], [[], 2]);
});

Deno.test("WatchedRun: a reader that is behind reads the storage, without effect on one that is not", async () => {
  const storage = new CountedStorage();
  storage.add(40);
  const watched = new WatchedRun("run", storage);
  assertEquals(await watched.read(40), []);
  // The storage has further records that neither of them has got.
  storage.add(1);
  assertEquals((await watched.read(38)).length, 3);
  assertEquals((await watched.read(40)).length, 1);
  const { reads } = storage;
  assertEquals([await watched.read(41), storage.reads], [[], reads]);
});
