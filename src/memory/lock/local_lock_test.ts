import { assert, assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import type { SystemFile } from "../../platform/file_calls.ts";
import { createNodeSystem, system as kernelSystem } from "../../platform/system.ts";
import { createLocalLock } from "./local_lock.ts";
import type { LockableFile } from "./lock_storage.ts";

/** The system of runtimes that cannot lock files. */
const system = createNodeSystem();

const OPTIONS = { read: true, write: true, create: true };

/** Calls a function after each call of a method of a file, by default those that change it. */
function observe(
  file: SystemFile,
  onCall: () => void,
  methods: readonly string[] = ["writeSync", "truncateSync"],
): SystemFile {
  return new Proxy(file, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        const result: unknown = member.apply(target, args);
        if (methods.includes(String(name))) onCall();
        return result;
      };
    },
  });
}

Deno.test("createLocalLock(): no process claims a file while another one claims it", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/s.lock`;
  const open = (): LockableFile =>
    createLocalLock(system, { path, file: system.openSync(path, OPTIONS) });
  const attempts: boolean[] = [];
  const file = observe(system.openSync(path, OPTIONS), () => {
    const other = open();
    attempts.push(other.tryLock("other"));
    other.close();
  });
  const lock = createLocalLock(system, { path, file });
  assert(lock.tryLock("own"));
  assertEquals([attempts, lock.read(), lock.isLocked()], [[false, false], "own", true]);
  lock.close();
  await Deno.remove(directory, { recursive: true });
});

for (const winner of ["kernel lock", "claim"] as const) {
  Deno.test(`createLocalLock(): a ${winner} that is written last counts, also for a process that locks files in the other way`, async () => {
    const directory = await Deno.makeTempDir();
    const path = `${directory}/s.lock`;
    const claim = createLocalLock(system, { path, file: system.openSync(path, OPTIONS) });
    let isClaimed = false;
    const claimOnce = () => isClaimed ||= claim.tryLock("claim");
    const methods = winner === "claim" ? ["truncateSync"] : ["readSync"];
    const file = observe(kernelSystem.openSync(path, OPTIONS), claimOnce, methods);
    const lock = createLocalLock(kernelSystem, { path, file });
    assert(lock.tryLock("kernel lock"));
    const isKernel = winner === "kernel lock";
    assertEquals([isClaimed, lock.isLocked(), claim.isLocked()], [true, isKernel, !isKernel]);
    lock.close();
    claim.close();
    await Deno.remove(directory, { recursive: true });
  });
}

Deno.test("createLocalLock(): a process that was suspended before it claims a file does not claim that of another one", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/s.lock`;
  const open = (): SystemFile => system.openSync(path, OPTIONS);
  const { now } = Date;
  const other = createLocalLock(system, { path, file: open() });
  let isOtherLocked = false;
  const file = observe(open(), () => {
    Date.now = () => now() + 20_000;
    for (let attempt = 0; attempt < 2; attempt++) isOtherLocked ||= other.tryLock("other");
    Deno.writeTextFileSync(`${path}.guard`, "");
  }, ["readSync"]);
  const lock = createLocalLock(system, { path, file });
  try {
    assertEquals([lock.tryLock("own"), isOtherLocked, other.isLocked()], [false, true, true]);
  } finally {
    Date.now = now;
  }
  // It may be that of another process.
  assert(existsSync(`${path}.guard`));
  lock.close();
  other.close();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("createLocalLock(): close() ends the claim of its own lock only, also where the file is not removed", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/s.lock`;
  const open = (): LockableFile =>
    createLocalLock(system, { path, file: system.openSync(path, OPTIONS) });
  const lock = open();
  assert(lock.tryLock("own"));
  const refused = open();
  assertEquals(refused.tryLock("refused"), false);
  refused.close();
  assert(lock.isLocked());
  lock.close();
  const next = open();
  assert(next.tryLock("next"));
  next.close();
  await Deno.remove(directory, { recursive: true });
});
