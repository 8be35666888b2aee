import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { SessionError, type SessionOwner } from "../../core/errors.ts";
import { denoFileSystem } from "../file/deno_file_system.ts";
import { FileSessionStore } from "../file/file_store.ts";
import {
  acquireWriterLock,
  findLockOwner,
  type LockResult,
  type WriterLock,
} from "./writer_lock.ts";

class Clock {
  time = 1_700_000_000_000;
  readonly now = () => this.time;
}

function testInDirectory(name: string, test: (directory: string, clock: Clock) => void): void {
  Deno.test(name, () => {
    const directory = Deno.makeTempDirSync();
    try {
      test(directory, new Clock());
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  });
}

function acquire(directory: string, { now }: Clock, name?: string): LockResult {
  return acquireWriterLock({ storage: denoFileSystem, directory, sessionId: "s", now, name });
}

function acquireLock(directory: string, clock: Clock, name?: string): WriterLock {
  const result = acquire(directory, clock, name);
  assert(result.type === "held");
  return result.lock;
}

function getRefusal(directory: string, clock: Clock): SessionOwner | undefined {
  const result = acquire(directory, clock);
  assert(result.type === "refused");
  return result.owner;
}

function findOwner(directory: string): SessionOwner | undefined {
  return findLockOwner(denoFileSystem, `${directory}/s.lock`);
}

testInDirectory(
  "acquireWriterLock() returns the owner with its last heartbeat if the lock is held",
  (directory, clock) => {
    const lock = acquireLock(directory, clock, "swink chat");
    const since = clock.time;
    clock.time += 7000;
    lock.heartbeat();
    clock.time += 1000;
    const owner = { pid: Deno.pid, name: "swink chat", since, heartbeat: since + 7000 };
    assertEquals(getRefusal(directory, clock), owner);
    assertEquals(findOwner(directory), owner);
    lock.release();
    lock.release();
    assertEquals(findOwner(directory), undefined);
    acquireLock(directory, clock).release();
  },
);

testInDirectory(
  "acquireWriterLock() takes over a lock that had no heartbeat for more than 30 s",
  (directory, clock) => {
    const stopped = acquireLock(directory, clock, "stopped");
    clock.time += 30_000;
    assertEquals(getRefusal(directory, clock)?.name, "stopped");
    clock.time += 1;
    const next = acquireLock(directory, clock, "next");
    assertEquals([stopped.isHeld(), next.isHeld()], [false, true]);
    const error = assertThrows(() => stopped.assertHeld(), SessionError, "taken over");
    assertEquals([error.reason, error.owner?.name], ["lock_lost", "next"]);
    stopped.release();
    assertEquals(next.isHeld(), true);
    assertEquals(getRefusal(directory, clock)?.name, "next");
    next.release();
  },
);

testInDirectory(
  "acquireWriterLock() acquires the lock of a killed process immediately",
  (directory, clock) => {
    const path = `${directory}/s.lock`;
    Deno.writeTextFileSync(path, `{"pid":1,"since":${clock.time}}`);
    acquireLock(directory, clock).release();
    Deno.writeTextFileSync(path, `not json`);
    assertEquals(findOwner(directory), undefined);
    assertEquals(denoFileSystem.stat(path), undefined);
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
