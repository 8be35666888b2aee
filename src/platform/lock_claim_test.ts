import { assert, assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../core/errors.ts";
import { claimLock } from "./lock_claim.ts";

async function withLock(use: (path: string) => void | Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await use(`${directory}/a.lock`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("claimLock(): a lock has one owner until it is released", async () => {
  await withLock((path) => {
    const lock = claimLock(path);
    assert(lock);
    assertEquals(claimLock(path), undefined);
    lock[Symbol.dispose]();
    const next = claimLock(path);
    assert(next);
    next[Symbol.dispose]();
    assertEquals([...Deno.readDirSync(path.slice(0, path.lastIndexOf("/")))], []);
  });
});

Deno.test("claimLock(): replaces the lock of a process that has ended, and no other", async () => {
  await withLock(async (path) => {
    const child = new Deno.Command(Deno.execPath(), { args: ["eval", "0"] }).spawn();
    const { pid } = child;
    await child.status;
    const write = (content: unknown) => Deno.writeTextFileSync(path, JSON.stringify(content));
    write({ pid, started: 0 });
    claimLock(path)?.[Symbol.dispose]();
    assertEquals(claimLock(path) === undefined, false);
    // A process with the id of this one that has ended before it.
    write({ pid: Deno.pid, started: Date.now() - 1e9 });
    assert(claimLock(path));
    write({ pid: Deno.ppid, started: 0 });
    assertEquals(claimLock(path), undefined);
  });
});

Deno.test("claimLock(): waits for a new lock without an owner, and replaces an old one", async () => {
  await withLock((path) => {
    for (const content of ["", "null", "{}", '{"pid": "1"}']) {
      Deno.writeTextFileSync(path, content);
      assertEquals(claimLock(path), undefined);
      Deno.utimeSync(path, new Date(0), new Date(Date.now() - 11_000));
      const lock = claimLock(path);
      assert(lock, content);
      lock[Symbol.dispose]();
    }
  });
});

Deno.test("claimLock(): reports a lock that cannot be created", () => {
  const error = assertThrows(() => claimLock("/nowhere/a.lock"), BadRequestError);
  assert(error.message.startsWith("Cannot write /nowhere/a.lock: "));
});
