import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { SessionError, type SessionOwner } from "../../core/errors/errors.ts";
import { createNodeSystem, system } from "../../platform/system.ts";
import { FileSessionStore, type FileStoreOptions } from "../file/file_store.ts";
import type { FileSystem } from "../file/file_system.ts";
import { createLocalFileSystem } from "../file/local_file_system.ts";
import {
  acquireWriterLock,
  createHeartbeats,
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

function withoutWaiting(files: FileSystem): FileSystem {
  return { ...files, wait: () => Promise.resolve() };
}

/** The file system with a lock of the operating system, and with claims, as on Node. */
const kernelLocks = withoutWaiting(createLocalFileSystem(system));
const claims = withoutWaiting(createLocalFileSystem(createNodeSystem()));
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
  test: (options: Pick<LockTest, "directory" | "clock">) => Promise<void>,
): void {
  Deno.test(name, async () => {
    const directory = Deno.makeTempDirSync();
    try {
      await test({ directory, clock: new Clock() });
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  });
}

function testStorages(name: string, test: (options: LockTest) => Promise<void>): void {
  for (const [kind, storage] of Object.entries(fileSystems)) {
    testInDirectory(`${name} (${kind})`, (options) => test({ ...options, storage }));
  }
}

function acquire(test: LockTest, name?: string): Promise<LockResult> {
  const { directory, clock: { now }, storage } = test;
  const heartbeats = createHeartbeats();
  return acquireWriterLock({ storage, directory, sessionId: "s", now, name, heartbeats });
}

async function acquireLock(test: LockTest, name?: string): Promise<WriterLock> {
  const result = await acquire(test, name);
  assert(result.type === "held");
  return result.lock;
}

async function getRefusal(test: LockTest): Promise<SessionOwner | undefined> {
  const result = await acquire(test);
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
  async (test) => {
    const { clock, directory } = test;
    const lock = await acquireLock(test, "swink chat");
    const since = clock.time;
    clock.time += 7000;
    lock.heartbeat();
    clock.time += 1000;
    const owner = { pid: Deno.pid, name: "swink chat", since, heartbeat: since + 7000 };
    assertEquals(await getRefusal(test), owner);
    assertEquals(findOwner(test), owner);
    lock.release();
    lock.release();
    assertEquals(findOwner(test), undefined);
    (await acquireLock(test)).release();
    assertEquals(listDirectory(directory), []);
  },
);

testInDirectory(
  "WriterLock: a lock is lost when another process has claimed its file",
  async (options) => {
    const lock = await acquireLock({ ...options, storage: claims });
    const path = `${options.directory}/s.lock`;
    const claim = JSON.stringify({ pid: Deno.ppid, started: 1 });
    Deno.writeTextFileSync(
      path,
      `${JSON.stringify({ pid: Deno.ppid, name: "other" })}\n${claim}\n`,
    );
    assertEquals(lock.isHeld(), false);
    const error = assertThrows(() => lock.assertHeld(), SessionError);
    assertEquals([error.reason, error.owner?.name], ["lock_lost", "other"]);
    lock.release();
    assertEquals(listDirectory(options.directory), ["s.lock"]);
  },
);

testStorages(
  "acquireWriterLock() takes over a lock that had no heartbeat for more than 30 s",
  async (test) => {
    const { clock } = test;
    const stopped = await acquireLock(test, "stopped");
    clock.time += 30_000;
    assertEquals((await getRefusal(test))?.name, "stopped");
    clock.time += 1;
    const next = await acquireLock(test, "next");
    assertEquals([stopped.isHeld(), next.isHeld()], [false, true]);
    const error = assertThrows(() => stopped.assertHeld(), SessionError, "taken over");
    assertEquals([error.reason, error.owner?.name], ["lock_lost", "next"]);
    stopped.release();
    assertEquals(next.isHeld(), true);
    assertEquals((await getRefusal(test))?.name, "next");
    next.release();
  },
);

testStorages(
  "acquireWriterLock() acquires a lock whose record is invalid immediately",
  async (test) => {
    const path = `${test.directory}/s.lock`;
    Deno.writeTextFileSync(path, "not json");
    assertEquals(findOwner(test), undefined);
    assertEquals(test.storage.stat(path), undefined);
    Deno.writeTextFileSync(path, "not json");
    (await acquireLock(test)).release();
  },
);

testInDirectory(
  "acquireWriterLock() acquires the lock of a killed process immediately (kernel lock)",
  async (options) => {
    const test = { ...options, storage: kernelLocks };
    Deno.writeTextFileSync(`${test.directory}/s.lock`, `{"pid":1,"since":${test.clock.time}}`);
    (await acquireLock(test)).release();
  },
);

testInDirectory(
  "acquireWriterLock() acquires the lock of a killed process, and of an earlier one with the same id, immediately (claim)",
  async (options) => {
    const test = { ...options, storage: claims };
    const path = `${test.directory}/s.lock`;
    const claimsOfEndedProcesses = [
      { pid: MISSING_PID, started: Date.now() },
      { pid: Deno.pid, started: 0 },
    ];
    for (const claim of claimsOfEndedProcesses) {
      Deno.writeTextFileSync(path, `{"pid":${claim.pid},"since":0}\n${JSON.stringify(claim)}`);
      (await acquireLock(test)).release();
    }
    // A process with a kernel lock leaves no claim; in a container, it may have had the id of this one.
    for (const pid of [MISSING_PID, Deno.pid]) {
      Deno.writeTextFileSync(path, `{"pid":${pid},"since":0}`);
      (await acquireLock(test)).release();
    }
  },
);
testInDirectory(
  "acquireWriterLock() respects the locks of processes that lock files in the other way",
  async (options) => {
    const [withKernelLock, withClaim] = [{ ...options, storage: kernelLocks }, {
      ...options,
      storage: claims,
    }];
    const lock = await acquireLock(withClaim, "claims");
    assertEquals((await getRefusal(withKernelLock))?.name, "claims");
    lock.release();
    // This process cannot be the other owner: process 1, which always runs, is.
    Deno.writeTextFileSync(`${options.directory}/s.lock`, `{"pid":1,"name":"other","since":0}`);
    Deno.utimeSync(`${options.directory}/s.lock`, 0, options.clock.time / 1000);
    assertEquals((await getRefusal(withClaim))?.name, "other");
  },
);

testInDirectory(
  "acquireWriterLock() refuses the lock of this process after the computer was suspended (claim)",
  async (options) => {
    const test = { ...options, storage: claims };
    const lock = await acquireLock(test, "own");
    const { now } = Date;
    // The clock continues meanwhile, and the running time of the process does not.
    Date.now = () => now() + 3_600_000;
    try {
      assertEquals((await getRefusal(test))?.name, "own");
    } finally {
      Date.now = now;
    }
    lock.release();
  },
);

testInDirectory(
  "acquireWriterLock() removes the guard of a process that was killed while it claimed the lock",
  async (options) => {
    const test = { ...options, storage: claims };
    const guard = `${options.directory}/s.lock.guard`;
    Deno.writeTextFileSync(guard, "");
    assertEquals((await acquire(test)).type, "refused");
    Deno.utimeSync(guard, 0, Date.now() / 1000 - 11);
    (await acquireLock(test)).release();
    assertEquals(listDirectory(options.directory), []);
  },
);

testStorages(
  "acquireWriterLock() does not take over the lock of a live process whose clock is 40 s behind",
  async (test) => {
    const lock = await acquireLock(test, "live");
    const wait = (milliseconds: number) => {
      assert(milliseconds > 5_000, "a live process has a heartbeat every 5 s");
      test.clock.time += 5_000;
      lock.heartbeat();
      return Promise.resolve();
    };
    const ahead = { now: () => test.clock.time + 40_000 } as Clock;
    const refused = await acquire({ ...test, clock: ahead, storage: { ...test.storage, wait } });
    assert(refused.type === "refused");
    assertEquals([refused.owner?.name, lock.isHeld()], ["live", true]);
    lock.release();
  },
);

testStorages(
  "acquireWriterLock() does not take over a lock whose heartbeat resumes at the last moment",
  async (test) => {
    const { clock, storage } = test;
    const lock = await acquireLock(test, "live");
    clock.time += 60_000;
    const openToLock: FileSystem["openToLock"] = (path) => {
      if (path.endsWith(".takeover")) lock.heartbeat();
      return storage.openToLock(path);
    };
    assertEquals((await acquire({ ...test, storage: { ...storage, openToLock } })).type, "refused");
    assertEquals(lock.isHeld(), true);
    lock.release();
    assertEquals(listDirectory(test.directory), []);
  },
);

testStorages("findLockOwner() does not remove the lock of the next owner", async (test) => {
  const { storage } = test;
  const first = await acquireLock(test);
  let next: Promise<LockResult> | undefined;
  const openToLock: FileSystem["openToLock"] = (path) => {
    const file = storage.openToLock(path);
    first.release();
    next = acquire(test);
    return file;
  };
  findOwner({ ...test, storage: { ...storage, openToLock } });
  const result = await next;
  assert(result?.type === "held");
  assertEquals(result.lock.isHeld(), true);
  result.lock.release();
});

testStorages(
  "acquireWriterLock() closes the file of a lock that it takes over and cannot lock",
  async (test) => {
    const { clock, storage } = test;
    const stopped = await acquireLock(test);
    clock.time += 60_000;
    const openToLock: FileSystem["openToLock"] = (path) => {
      const file = storage.openToLock(path);
      if (!path.endsWith(`.${storage.processId}`)) return file;
      return new Proxy(file, {
        get: (target, name) => {
          if (name === "tryLock") throw new Error("input/output error");
          const member = Reflect.get(target, name);
          return typeof member === "function" ? member.bind(target) : member;
        },
      });
    };
    await assertRejects(
      () => acquire({ ...test, storage: { ...storage, openToLock } }),
      Error,
      "input/output error",
    );
    stopped.release();
    if (storage === kernelLocks) (await acquireLock(test)).release();
  },
);

testStorages(
  "acquireWriterLock() lets only one process at a time take over a lock",
  async (test) => {
    const { clock, storage, directory } = test;
    const stopped = await acquireLock(test);
    clock.time += 60_000;
    const guardPath = `${directory}/s.lock.takeover`;
    const guard = storage.openToLock(guardPath);
    assert(guard.tryLock(""));
    for (let attempt = 0; attempt < 2; attempt++) {
      assertEquals((await acquire(test)).type, "refused");
      assert(storage.stat(guardPath));
    }
    guard.close();
    stopped.release();
  },
);

testStorages("acquireWriterLock() keeps the lock of an owner with a long name", async (test) => {
  const lock = await acquireLock(test, "x".repeat(5_000));
  assert(lock.isHeld());
  assertEquals((await getRefusal(test))?.name, "x".repeat(500));
  lock.release();
});

testStorages("acquireWriterLock() closes a file that cannot be locked", async (test) => {
  const { storage } = test;
  const calls: string[] = [];
  const openToLock: FileSystem["openToLock"] = (path) => {
    const file = storage.openToLock(path);
    const tryLock = () => {
      throw new Error("disk full");
    };
    const close = () => {
      file.close();
      calls.push("close");
    };
    return { ...file, tryLock, close };
  };
  const failing = { ...test, storage: { ...storage, openToLock } };
  await assertRejects(() => acquire(failing), Error, "disk full");
  assertEquals(calls, ["close"]);
});

Deno.test("FileSessionStore: flush() rejects after the session was taken over, and the new owner's entries are kept [A144, B76]", async () => {
  const directory = await Deno.makeTempDir();
  const clock = new Clock();
  const createStore = (owner: string) => {
    const options: FileStoreOptions = { directory, now: clock.now, owner, files: kernelLocks };
    return new FileSessionStore(options);
  };
  const store = createStore("first");
  const first = await store.create({ id: "s" });
  first.append({ type: "title", title: "one" });
  await first.flush();
  clock.time += 60_000;
  const second = await createStore("second").open("s");
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

testStorages(
  "acquireWriterLock() locks the file again that another process has removed meanwhile",
  async (test) => {
    let isRemoved = false;
    const storage: FileSystem = {
      ...test.storage,
      openToLock: (path) => {
        const file = test.storage.openToLock(path);
        if (!isRemoved) test.storage.remove(path);
        isRemoved = true;
        return file;
      },
    };
    const lock = await acquireLock({ ...test, storage });
    assert(lock.isHeld());
    lock.release();
  },
);
