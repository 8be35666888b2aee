import { assert, assertEquals, assertThrows } from "@std/assert";
import { fillDisk } from "../../tests/full_disk.ts";
import { lockFile } from "./file_lock.ts";
import { claimLock } from "./lock_claim.ts";

async function withPath(use: (path: string) => void | Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await use(`${directory}/a.lock`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("lockFile(): a lock has one owner until it is released", async () => {
  await withPath((path) => {
    const lock = lockFile(path);
    assert(lock);
    assertEquals(lockFile(path), undefined);
    lock[Symbol.dispose]();
    const next = lockFile(path);
    assert(next);
    // A second release is not that of the next owner.
    lock[Symbol.dispose]();
    assertEquals(lockFile(path), undefined);
    next[Symbol.dispose]();
    assertEquals([...Deno.readDirSync(path.slice(0, path.lastIndexOf("/")))], []);
  });
});

Deno.test("lockFile(): ends with a process that is killed, also if another one has its id (kernel lock)", async () => {
  await withPath(async (path) => {
    const script = `
      import { lockFile } from ${JSON.stringify(import.meta.resolve("./file_lock.ts"))};
      lockFile(Deno.args[0]);
      console.log("locked");
      setInterval(() => {}, 1_000);`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", "-", path],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const input = child.stdin.getWriter();
    await input.write(new TextEncoder().encode(script));
    await input.close();
    const output = child.stdout.getReader();
    await output.read();
    assertEquals(lockFile(path), undefined);
    child.kill("SIGKILL");
    await child.status;
    await output.cancel();
    const owner = JSON.parse(await Deno.readTextFile(path));
    assertEquals(owner.pid, child.pid);
    await Deno.writeTextFile(path, JSON.stringify({ ...owner, pid: Deno.ppid }));
    const lock = lockFile(path);
    assert(lock);
    lock[Symbol.dispose]();
  });
});

Deno.test("lockFile(): respects the claim of a process that cannot lock files, and is respected by one", async () => {
  await withPath((path) => {
    const claim = claimLock(path);
    assertEquals(lockFile(path), undefined);
    claim?.[Symbol.dispose]();
    const lock = lockFile(path);
    assert(lock);
    assertEquals(claimLock(path), undefined);
    lock[Symbol.dispose]();
  });
});

Deno.test("lockFile(): reports a file that cannot be created", () => {
  assertThrows(() => lockFile("/nowhere/a.lock"), Error, "o such file or directory");
});

Deno.test("lockFile(): releases a lock whose owner cannot be written", async () => {
  await withPath((path) => {
    {
      using _disk = fillDisk(`${path}.other`);
      assertThrows(() => lockFile(path), Error, "disk full");
    }
    const lock = lockFile(path);
    assert(lock);
    lock[Symbol.dispose]();
  });
});
