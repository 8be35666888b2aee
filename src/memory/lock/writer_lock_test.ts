import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { SessionError, type SessionOwner } from "../../core/errors.ts";
import { createNodeSystem, system } from "../../platform/system.ts";
import { FileSessionStore } from "../file/file_store.ts";
import type { FileSystem } from "../file/file_system.ts";
import { createLocalFileSystem } from "../file/local_file_system.ts";
import {
  acquireWriterLock,
  findLockOwner,
  type LockResult,
  type WriterLock,
} from "./writer_lock.ts";

/** No process has this id: it is above the limit of the operating systems. */
const MISSING_PID = 2 ** 30;

class Clock {
  time = 1_700_000_000_000;
  readonly now = () => this.time;
}

/** The file system with a lock of the operating system, and with claims, as on Node. */
const kernelLocks = createLocalFileSystem(system);
const claims = createLocalFileSystem(createNodeSystem());
const fileSystems: Readonly<Record<string, FileSystem>> = {
  "kernel lock": kernelLocks,
  claim: claims,
};

/** A directory for locks, and the clock of their owners. */
interface LockTest {
  readonly directory: string;
  readonly clock: Clock;
  readonly storage: FileSystem;
}

function testInDirectory(
  name: string,
  test: (options: Pick<LockTest, "directory" | "clock">) => void,
): void {
  Deno.test(name, () => {
    const directory = Deno.makeTempDirSync();
    try {
      test({ directory, clock: new Clock() });
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  });
}

function testStorages(name: string, test: (options: LockTest) => void): void {
  for (const [kind, storage] of Object.entries(fileSystems)) {
    testInDirectory(`${name} (${kind})`, (options) => test({ ...options, storage }));
  }
}

function acquire({ directory, clock: { now }, storage }: LockTest, name?: string): LockResult {
  return acquireWriterLock({ storage, directory, sessionId: "s", now, name });
}

function acquireLock(test: LockTest, name?: string): WriterLock {
  const result = acquire(test, name);
  assert(result.type === "held");
  return result.lock;
}

function getRefusal(test: LockTest): SessionOwner | undefined {
  const result = acquire(test);
  assert(result.type === "refused");
  return result.owner;
}

function findOwner({ directory, storage }: LockTest): SessionOwner | undefined {
  return findLockOwner(storage, `${directory}/s.lock`);
}

function listDirectory(directory: string): string[] {
  return Array.from(Deno.readDirSync(directory), ({ name }) => name);
}

testStorages(
  "acquireWriterLock() returns the owner with its last heartbeat if the lock is held",
  (test) => {
    const { clock, directory } = test;
    const lock = acquireLock(test, "swink chat");
    const since = clock.time;
    clock.time += 7000;
    lock.heartbeat();
    clock.time += 1000;
    const owner = { pid: Deno.pid, name: "swink chat", since, heartbeat: since + 7000 };
    assertEquals(getRefusal(test), owner);
    assertEquals(findOwner(test), owner);
    lock.release();
    lock.release();
    assertEquals(findOwner(test), undefined);
    acquireLock(test).release();
    assertEquals(listDirectory(directory), []);
  },
);

testStorages(
  "acquireWriterLock() takes over a lock that had no heartbeat for more than 30 s",
  (test) => {
    const { clock } = test;
    const stopped = acquireLock(test, "stopped");
    clock.time += 30_000;
    assertEquals(getRefusal(test)?.name, "stopped");
    clock.time += 1;
    const next = acquireLock(test, "next");
    assertEquals([stopped.isHeld(), next.isHeld()], [false, true]);
    const error = assertThrows(() => stopped.assertHeld(), SessionError, "taken over");
    assertEquals([error.reason, error.owner?.name], ["lock_lost", "next"]);
    stopped.release();
    assertEquals(next.isHeld(), true);
    assertEquals(getRefusal(test)?.name, "next");
    next.release();
  },
);

testStorages(
  "acquireWriterLock() acquires a lock whose record is invalid immediately",
  (test) => {
    const path = `${test.directory}/s.lock`;
    Deno.writeTextFileSync(path, "not json");
    assertEquals(findOwner(test), undefined);
    assertEquals(test.storage.stat(path), undefined);
    Deno.writeTextFileSync(path, "not json");
    acquireLock(test).release();
  },
);

testInDirectory(
  "acquireWriterLock() acquires the lock of a killed process immediately (kernel lock)",
  (options) => {
    const test = { ...options, storage: kernelLocks };
    Deno.writeTextFileSync(`${test.directory}/s.lock`, `{"pid":1,"since":${test.clock.time}}`);
    acquireLock(test).release();
  },
);

testInDirectory(
  "acquireWriterLock() acquires the lock of a killed process, and of an earlier one with the same id, immediately (claim)",
  (options) => {
    const test = { ...options, storage: claims };
    const path = `${test.directory}/s.lock`;
    const claimsOfEndedProcesses = [
      { pid: MISSING_PID, started: Date.now() },
      { pid: Deno.pid, started: 0 },
    ];
    for (const claim of claimsOfEndedProcesses) {
      Deno.writeTextFileSync(path, `{"pid":${claim.pid},"since":0}\n${JSON.stringify(claim)}`);
      acquireLock(test).release();
    }
    Deno.writeTextFileSync(path, `{"pid":${MISSING_PID},"since":0}`);
    acquireLock(test).release();
  },
);
testInDirectory(
  "acquireWriterLock() respects the locks of processes that lock files in the other way",
  (options) => {
    const [withKernelLock, withClaim] = [{ ...options, storage: kernelLocks }, {
      ...options,
      storage: claims,
    }];
    const lock = acquireLock(withClaim, "claims");
    assertEquals(getRefusal(withKernelLock)?.name, "claims");
    lock.release();
    // This process cannot be the other owner: process 1, which always runs, is.
    Deno.writeTextFileSync(`${options.directory}/s.lock`, `{"pid":1,"name":"other","since":0}`);
    Deno.utimeSync(`${options.directory}/s.lock`, 0, options.clock.time / 1000);
    assertEquals(getRefusal(withClaim)?.name, "other");
  },
);

testInDirectory(
  "acquireWriterLock() removes the guard of a process that was killed while it claimed the lock",
  (options) => {
    const test = { ...options, storage: claims };
    const guard = `${options.directory}/s.lock.guard`;
    Deno.writeTextFileSync(guard, "");
    assertEquals(acquire(test).type, "refused");
    Deno.utimeSync(guard, 0, Date.now() / 1000 - 11);
    acquireLock(test).release();
    assertEquals(listDirectory(options.directory), []);
  },
);

Deno.test("FileSessionStore: flush() rejects after the session was taken over, and the new owner's entries are kept", async () => {
  const directory = await Deno.makeTempDir();
  const clock = new Clock();
  const store = new FileSessionStore({ directory, now: clock.now, owner: "first" });
  const first = await store.create({ id: "s" });
  first.append({ type: "title", title: "one" });
  await first.flush();
  clock.time += 60_000;
  const otherStore = new FileSessionStore({ directory, now: clock.now, owner: "second" });
  const second = await otherStore.open("s");
  second.append({ type: "title", title: "two" });
  await second.flush();
  first.append({ type: "title", title: "lost" });
  const error = await assertRejects(() => first.flush(), SessionError, "taken over");
  assertEquals([error.reason, error.owner?.name], ["lock_lost", "second"]);
  await first.close();
  await second.close();
  await using session = await store.open("s", { access: "read" });
  const titles = (await session.path()).map((entry) => entry.type === "title" && entry.title);
  assertEquals(titles, ["one", "two"]);
  await Deno.remove(directory, { recursive: true });
});
