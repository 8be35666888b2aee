import { assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../core/errors/errors.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { EntryStorage } from "./entry_storage.ts";
import { createMemoryStorage } from "./memory_storage.ts";
import { SharedInterval } from "./shared_interval.ts";
import { storeFrom } from "./store_from.ts";
import { UnreleasedLeases } from "./unreleased_leases.ts";
import { acquireLease, type WriterLease } from "./writer_lease.ts";

const nextTask = () => new Promise((resolve) => setTimeout(resolve));

/** Acquires a lease that is renewed by hand, in a storage whose other methods are those of memory. */
async function acquireManual(
  lease: EntryStorage["lease"],
  release: EntryStorage["release"] = () => Promise.resolve(),
): Promise<{ readonly lease: WriterLease; readonly tick: () => void }> {
  let tick = () => {};
  const storage = createMemoryStorage();
  const acquired = await acquireLease({
    storage: {
      append: (...args) => storage.append(...args),
      load: (id) => storage.load(id),
      readLines: (...args) => storage.readLines(...args),
      list: (options) => storage.list(options),
      delete: (...args) => storage.delete(...args),
      lease,
      release,
    },
    sessionId: "s",
    createRequest: () => ({ token: "t", owner: { pid: 1, since: 0, heartbeat: 0 }, durationMs: 9 }),
    renewals: new SharedInterval(3, (_milliseconds, run) => {
      tick = run;
      return () => {};
    }),
    unreleased: new UnreleasedLeases({ durationMs: 9, now: () => 0 }),
  });
  return { lease: acquired, tick: () => tick() };
}

Deno.test("WriterLease: a renewal that is due as soon as the storage has answered is made", async () => {
  let renewals = 0;
  let onAnswer = () => {};
  const { lease, tick } = await acquireManual(() => {
    renewals++;
    return Promise.resolve().then(() => {
      onAnswer();
      return { type: "granted" };
    });
  });
  for (let microtasks = 2; microtasks < 12; microtasks++) {
    renewals = 0;
    onAnswer = () => {
      onAnswer = () => {};
      void (async () => {
        for (let count = 0; count < microtasks; count++) await Promise.resolve();
        tick();
      })();
    };
    tick();
    await nextTask();
    assertEquals(renewals, 2, `${microtasks} microtasks later`);
  }
  await lease.release();
});

Deno.test("WriterLease: release() waits for the renewal of a write that was refused", async () => {
  const calls: string[] = [];
  const renewal = createDeferred<void>();
  const { lease } = await acquireManual(async () => {
    if (calls.length > 0) await renewal.promise;
    calls.push("lease");
    return { type: "granted" };
  }, () => Promise.resolve(void calls.push("release")));
  const refused = assertRejects(() => lease.use(() => Promise.resolve(false)), SessionError);
  await nextTask();
  const released = lease.release();
  await nextTask();
  renewal.resolve();
  await Promise.all([refused, released]);
  assertEquals(calls, ["lease", "lease", "release"]);
});

Deno.test("WriterLease: renews no lease that is released", async () => {
  let renewals = 0;
  const { lease, tick } = await acquireManual(() => {
    renewals++;
    return Promise.resolve({ type: "granted" });
  });
  await lease.release();
  tick();
  await assertRejects(() => lease.use(() => Promise.resolve(false)), SessionError);
  assertEquals(renewals, 1);
});

Deno.test("WriterLease: renews again after a storage that throws at once", async () => {
  let renewals = 0;
  const { lease, tick } = await acquireManual(() => {
    if (++renewals === 2) throw new Error("no connection");
    return Promise.resolve({ type: "granted" });
  });
  tick();
  await nextTask();
  tick();
  await nextTask();
  assertEquals(renewals, 3);
  await lease.release();
});

Deno.test("acquireLease(): ends an earlier lease of the store that could not be released", async () => {
  const storage = createMemoryStorage();
  const release = storage.release.bind(storage);
  let isReachable = false;
  storage.release = async (...args) => {
    if (!isReachable) throw new Error("unreachable");
    await release(...args);
  };
  const store = storeFrom(storage);
  const title = { type: "title", title: "kept", id: "e", parentId: null, timestamp: 1 } as const;
  await (await store.create({ id: "s", created: 1, entries: [title] })).close();
  await assertRejects(() => store.open("s"), SessionError, "unreachable");
  await assertRejects(() => storeFrom(storage).open("s"), SessionError, "is open");
  isReachable = true;
  await using _opened = await store.open("s");
  await assertRejects(() => storeFrom(storage).open("s"), SessionError, "is open");
});

Deno.test("acquireLease(): ends an earlier lease of the store whose request was granted without an answer", async () => {
  const storage = createMemoryStorage();
  const lease = storage.lease.bind(storage);
  let failures = 1;
  storage.lease = async (...args) => {
    const result = await lease(...args);
    if (failures-- > 0) throw new Error("connection lost");
    return result;
  };
  const store = storeFrom(storage);
  await assertRejects(() => store.create({ id: "s" }), SessionError, "connection lost");
  await using created = await store.create({ id: "s" });
  assertEquals(created.id, "s");
});

Deno.test("acquireLease(): ends an earlier lease of the store whose request was granted after the session was open again", async () => {
  const storage = createMemoryStorage();
  const lease = storage.lease.bind(storage);
  const store = storeFrom(storage);
  const title = { type: "title", title: "kept", id: "e", parentId: null, timestamp: 1 } as const;
  await (await store.create({ id: "s", created: 1, entries: [title] })).close();
  let grantLate = () => Promise.resolve<unknown>(undefined);
  storage.lease = (...args) => {
    storage.lease = lease;
    grantLate = () => lease(...args);
    return Promise.reject(new Error("no answer"));
  };
  await assertRejects(() => store.open("s"), SessionError, "no answer");
  await (await store.open("s")).close();
  await grantLate();
  await assertRejects(() => storeFrom(storage).open("s"), SessionError, "is open");
  await using opened = await store.open("s");
  assertEquals(opened.id, "s");
  await assertRejects(() => store.open("s"), SessionError, "is open");
});

Deno.test("acquireLease(): ends an earlier lease of the store that was renewed after its release", async () => {
  const storage = createMemoryStorage();
  const lease = storage.lease.bind(storage);
  let renew = () => {};
  const startInterval = (_milliseconds: number, run: () => void) => {
    renew = run;
    return () => {};
  };
  const store = storeFrom(storage, { startInterval });
  const title = { type: "title", title: "kept", id: "e", parentId: null, timestamp: 1 } as const;
  const session = await store.create({ id: "s", created: 1, entries: [title] });
  let grantLate = () => Promise.resolve<unknown>(undefined);
  storage.lease = (...args) => {
    storage.lease = lease;
    grantLate = () => lease(...args);
    return Promise.reject(new Error("no answer"));
  };
  renew();
  await session.close();
  await grantLate();
  await assertRejects(() => storeFrom(storage).open("s"), SessionError, "is open");
  await using opened = await store.open("s");
  assertEquals(opened.id, "s");
});
