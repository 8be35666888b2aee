import { assert, assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../core/errors/errors.ts";
import type { SessionStore } from "../../core/sessions/session.ts";
import { FileSessionStore } from "../file/file_store.ts";
import type { EntryStorage } from "./entry_storage.ts";
import { createMemoryStorage } from "./memory_storage.ts";
import { storeFrom } from "./store_from.ts";

/** Returns a storage in memory without an index, and the positions that were read. */
function createCountingStorage(
  { hasSearch }: { readonly hasSearch: boolean },
): { readonly storage: EntryStorage; readonly read: number[] } {
  const storage = createMemoryStorage();
  const read: number[] = [];
  return {
    read,
    storage: {
      append: (...args) => storage.append(...args),
      load: (id) => storage.load(id),
      readLines: (id, positions) => {
        read.push(...positions);
        return storage.readLines(id, positions);
      },
      list: (options) => storage.list(options),
      delete: (...args) => storage.delete(...args),
      lease: (...args) => storage.lease(...args),
      release: (...args) => storage.release(...args),
      ...hasSearch && {
        search: async ({ limit, after }) => {
          const hits = (await storage.list({})).map(({ id, updated }) => (
            { id, updated, position: 0, line: "" }
          ));
          return after ? [] : hits.slice(0, limit);
        },
      },
    },
  };
}

/** Creates sessions with an entry at the time 1, and one at a later time. */
async function createWritten(store: SessionStore, count: number, written: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const at = (timestamp: number, id: string) =>
      ({ type: "title", id, parentId: null, timestamp, title: "word" }) as const;
    const session = await store.create({
      id: `s${number}`,
      created: 1,
      entries: number < written ? [at(1, "a"), at(5 + number, "b")] : [at(1, "a")],
    });
    await session.close();
  }
}

/** The cursor of a page whose first session was written at the time 1. */
const OLD_LIST_CURSOR = JSON.stringify([1, "s~", 1]);
const OLD_SEARCH_CURSOR = JSON.stringify([1, "s~", 1, 0]);

async function assertExpired(store: SessionStore): Promise<void> {
  for (
    const act of [
      () => store.list({ limit: 2, cursor: OLD_LIST_CURSOR }),
      () => store.search("word", { limit: 2, cursor: OLD_SEARCH_CURSOR }),
    ]
  ) {
    const error = await assertRejects(act, SessionError, "The cursor has expired");
    assertEquals(error.reason, "bad_cursor");
  }
}

Deno.test("storeFrom(): a cursor expires when more than 1,000 sessions were written since its first page", async () => {
  for (const hasSearch of [true, false]) {
    const { storage, read } = createCountingStorage({ hasSearch });
    const store = storeFrom(storage);
    await createWritten(store, 1_003, 1_000);
    const page = await store.list({ limit: 2, cursor: OLD_LIST_CURSOR });
    assertEquals(page.map(({ id }) => id), ["s999", "s998"]);
    await store.search("word", { limit: 2, cursor: OLD_SEARCH_CURSOR });
    const session = await store.open("s1000");
    session.append({ type: "title", title: "word" });
    await session.close();
    read.length = 0;
    await assertExpired(store);
    assert(read.length <= 2_002, `${read.length} lines were read`);
    assertEquals((await store.list({ limit: 2 })).length, 2);
    assertEquals((await store.search("word", { limit: 2000 })).length > 0, !hasSearch);
  }
});

Deno.test("FileSessionStore: a cursor expires when more than 1,000 sessions were written since its first page", async () => {
  const directory = await Deno.makeTempDir();
  const store = new FileSessionStore({ directory });
  await createWritten(store, 1, 0);
  const log = await Deno.readTextFile(`${directory}/s0.jsonl`);
  const later = log.trim().split("\n").at(-1)?.replace('"timestamp":1', '"timestamp":9')
    .replace('"id":"a"', '"id":"b"');
  for (let number = 0; number < 1_001; number++) {
    const text = `${log.replaceAll('"s0"', `"s${number}"`)}${later}\n`;
    await Deno.writeTextFile(`${directory}/s${number}.jsonl`, text);
  }
  await assertExpired(store);
  assertEquals((await store.list({ limit: 2 })).length, 2);
  assertEquals((await store.search("word", { limit: 2 })).length, 2);
  await Deno.remove(`${directory}/s0.jsonl`);
  assertEquals((await store.list({ limit: 2, cursor: OLD_LIST_CURSOR })).length, 2);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("storeFrom(): finds the earlier time of a long session without reading its lines", async () => {
  const { storage, read } = createCountingStorage({ hasSearch: false });
  let time = 1;
  const store = storeFrom(storage, { now: () => time });
  await createWritten(store, 2, 0);
  const session = await store.open("s0");
  for (time = 10; time < 2_010; time++) session.append({ type: "title", title: "word" });
  await session.close();
  read.length = 0;
  const page = await store.list({ cursor: OLD_LIST_CURSOR });
  assertEquals(page.map(({ id }) => id), ["s1", "s0"]);
  assertEquals(read.length, 32);
});
