import { assert, assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../core/errors.ts";
import { denoFileSystem } from "./deno_file_system.ts";
import { FileSessionStore } from "./file_store.ts";
import { acquireWriterLock, findLockOwner, type WriterLock } from "./writer_lock.ts";

class Clock {
  time = 1_700_000_000_000;
  readonly now = () => this.time;
}

function testInDirectory(name: string, test: (path: string, clock: Clock) => void): void {
  Deno.test(name, () => {
    const directory = Deno.makeTempDirSync();
    try {
      test(`${directory}/s.lock`, new Clock());
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  });
}

function acquireLock(path: string, { now }: Clock, name?: string): WriterLock {
  const answer = acquireWriterLock({ files: denoFileSystem, path, now, name });
  assert(answer.type === "held");
  return answer.lock;
}

function getRefusal(path: string, { now }: Clock) {
  const answer = acquireWriterLock({ files: denoFileSystem, path, now });
  assert(answer.type === "refused");
  return answer.owner;
}

testInDirectory(
  "the second one is told who writes, since when, and when it last lived",
  (path, clock) => {
    const lock = acquireLock(path, clock, "swink chat");
    const since = clock.time;
    clock.time += 7000;
    lock.heartbeat();
    clock.time += 1000;
    const owner = { pid: Deno.pid, name: "swink chat", since, heartbeat: since + 7000 };
    assertEquals(getRefusal(path, clock), owner);
    assertEquals(findLockOwner(denoFileSystem, path), owner);
    lock.release();
    lock.release();
    assertEquals(findLockOwner(denoFileSystem, path), undefined);
    acquireLock(path, clock).release();
  },
);

testInDirectory("a writer that shows no life is taken over, and finds out", (path, clock) => {
  const silent = acquireLock(path, clock, "stopped");
  clock.time += 30_000;
  assertEquals(getRefusal(path, clock)?.name, "stopped");
  clock.time += 1;
  const successor = acquireLock(path, clock, "next");
  assertEquals([silent.isHeld(), successor.isHeld()], [false, true]);
  assertEquals(silent.currentOwner()?.name, "next");
  silent.release();
  assertEquals(successor.isHeld(), true);
  assertEquals(getRefusal(path, clock)?.name, "next");
  successor.release();
});

testInDirectory(
  "a lock left behind by a process that was killed is free at once",
  (path, clock) => {
    Deno.writeTextFileSync(path, `{"pid":1,"since":${clock.time}}`);
    acquireLock(path, clock).release();
    Deno.writeTextFileSync(path, `not json`);
    assertEquals(findLockOwner(denoFileSystem, path), undefined);
    assertEquals(denoFileSystem.stat(path), undefined);
  },
);

Deno.test("a session that was taken over refuses to write, and loses nothing that the other wrote", async () => {
  const directory = await Deno.makeTempDir();
  const clock = new Clock();
  const store = new FileSessionStore({ directory, now: clock.now, owner: "first" });
  const first = await store.create({ id: "s" });
  first.append({ type: "title", title: "one" });
  await first.flush();
  clock.time += 60_000;
  const second = await new FileSessionStore({ directory, now: clock.now, owner: "second" }).open(
    "s",
  );
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
