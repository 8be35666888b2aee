import { assert, assertEquals, assertThrows } from "@std/assert";
import { fillDisk } from "../../tests/full_disk.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { claimLock } from "./lock_claim.ts";

/** The id of no process: more than the largest one of Linux. */
const ENDED_PID = 4_194_305;

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

Deno.test("claimLock(): leaves no lock whose owner cannot be written", async () => {
  await withLock((path) => {
    {
      using _disk = fillDisk(`${path}.other`);
      assertThrows(() => claimLock(path), BadRequestError, `Cannot write ${path}: disk full`);
    }
    const lock = claimLock(path);
    assert(lock);
    lock[Symbol.dispose]();
  });
});

Deno.test("claimLock(): one of several processes replaces the lock of a process that has ended", async () => {
  // Each read is one after which another process can claim the lock.
  for (const count of [1, 2]) {
    await withLock((path) => {
      Deno.writeTextFileSync(path, JSON.stringify({ pid: ENDED_PID, started: 0 }));
      const readFile = Deno.readTextFileSync;
      const claims: (Disposable | undefined)[] = [];
      let reads = 0;
      Deno.readTextFileSync = (file) => {
        const text = readFile(file);
        if (++reads === count) claims.push(claimLock(path));
        return text;
      };
      try {
        claims.push(claimLock(path));
      } finally {
        Deno.readTextFileSync = readFile;
      }
      assertEquals(claims.filter((claim) => claim !== undefined).length, 1, `${count}`);
      for (const claim of claims) claim?.[Symbol.dispose]();
      assertEquals([...Deno.readDirSync(path.slice(0, path.lastIndexOf("/")))], []);
    });
  }
});

Deno.test("claimLock(): replaces a lock whose removal was interrupted", async () => {
  await withLock((path) => {
    const owner = JSON.stringify({ pid: ENDED_PID, started: 0 });
    Deno.writeTextFileSync(path, owner);
    Deno.writeTextFileSync(`${path}.old`, owner);
    assert(claimLock(path));
  });
});

Deno.test({
  name: "claimLock(): replaces the lock of a process whose id another one has",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await withLock((path) => {
      const lock = claimLock(path);
      const owner = JSON.parse(Deno.readTextFileSync(path));
      lock?.[Symbol.dispose]();
      const write = (changes: unknown) =>
        Deno.writeTextFileSync(path, JSON.stringify(Object.assign({ ...owner }, changes)));
      // A parent may have started at the same tick.
      write({ pid: Deno.ppid, ticks: "-1" });
      const next = claimLock(path);
      assert(next);
      next[Symbol.dispose]();
      // A change of the clock is no other process.
      write({ started: owner.started - 1e9 });
      assertEquals(claimLock(path), undefined);
    });
  },
});

Deno.test("claimLock(): a second release is not that of the next owner", async () => {
  await withLock((path) => {
    const lock = claimLock(path);
    lock?.[Symbol.dispose]();
    using next = claimLock(path);
    assert(next);
    lock?.[Symbol.dispose]();
    assertEquals(claimLock(path), undefined);
  });
});

Deno.test("claimLock(): an owner that is no process has ended", async () => {
  await withLock((path) => {
    for (const pid of [0, -1]) {
      Deno.writeTextFileSync(path, JSON.stringify({ pid, started: 0 }));
      Deno.utimeSync(path, new Date(0), new Date(Date.now() - 11_000));
      using lock = claimLock(path);
      assert(lock);
    }
  });
});
