import { assert, assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import type { SystemFile } from "../../platform/file_calls.ts";
import { createNodeSystem } from "../../platform/system.ts";
import { createLocalLock } from "./local_lock.ts";
import type { LockableFile } from "./lock_storage.ts";

/** The system of runtimes that cannot lock files. */
const system = createNodeSystem();

const OPTIONS = { read: true, write: true, create: true };

/** Calls a function after each change of a file. */
function observe(file: SystemFile, onChange: () => void): SystemFile {
  return new Proxy(file, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        const result: unknown = member.apply(target, args);
        if (name === "writeSync" || name === "truncateSync") onChange();
        return result;
      };
    },
  });
}

Deno.test("createLocalLock(): a claim stays while its process writes its record", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/s.lock`;
  const open = (): LockableFile =>
    createLocalLock(system, { path, file: system.openSync(path, OPTIONS) });
  const attempts: boolean[] = [];
  let content = "";
  const file = observe(system.openSync(path, OPTIONS), () => {
    // A process that was suspended for long before it wrote has lost its guard.
    if (attempts.length > 1 && existsSync(`${path}.guard`)) Deno.removeSync(`${path}.guard`);
    const other = open();
    attempts.push(other.tryLock());
    content = other.read();
    other.close();
  });
  const lock = createLocalLock(system, { path, file });
  assert(lock.tryLock());
  for (const record of ['{"pid":1,"name":"a long name"}', '{"pid":1}']) {
    lock.write(record);
    assertEquals(content, record);
  }
  assertEquals(attempts, Array.from({ length: 6 }, () => false));
  lock.close();
  await Deno.remove(directory, { recursive: true });
});
