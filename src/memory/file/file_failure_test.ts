import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { SessionError } from "../../core/errors.ts";
import { userMessage } from "../../core/message.ts";
import type { Session } from "../../core/session.ts";
import type { SessionEntryBody } from "../../core/session_entry.ts";
import { denoFileSystem } from "./deno_file_system.ts";
import { FileSessionStore } from "./file_store.ts";
import type { FileSystem } from "./file_system.ts";

/** A disk with room for so many more bytes of logs. */
class FullDisk {
  room = Infinity;
  syncs = 0;
  failSync = false;

  readonly files: FileSystem = {
    ...denoFileSystem,
    replace: (path, text, options) => {
      if (this.room <= 0) throw systemError("ENOSPC", "no space left on device");
      return denoFileSystem.replace(path, text, options);
    },
    openToAppend: async (path) => {
      const file = await denoFileSystem.openToAppend(path);
      if (!path.endsWith(".jsonl")) return file;
      return {
        facts: () => file.facts(),
        close: () => file.close(),
        sync: () => {
          this.syncs++;
          if (this.failSync) throw systemError("EIO", "input/output error");
          return file.sync();
        },
        write: (bytes) => {
          if (this.room <= 0) throw systemError("ENOSPC", "no space left on device");
          const part = bytes.subarray(0, this.room);
          this.room -= part.length;
          return file.write(part);
        },
      };
    },
  };
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function onDisk(
  name: string,
  test: (bench: { store: FileSessionStore; disk: FullDisk; directory: string }) => Promise<void>,
): void {
  Deno.test(name, async () => {
    const directory = await Deno.makeTempDir();
    const disk = new FullDisk();
    try {
      await test({
        store: new FileSessionStore({ directory, files: disk.files }),
        disk,
        directory,
      });
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  });
}

function said(text: string): SessionEntryBody {
  return { type: "message", message: userMessage(text, 1) };
}

async function idsAfterRestart(directory: string): Promise<string[]> {
  const store = new FileSessionStore({ directory });
  await using session = await store.open("s", { access: "read" });
  return session.outline.map(({ id }) => id);
}

function idsIn(session: Session): string[] {
  return session.outline.map(({ id }) => id);
}

onDisk("B 77: when the disk is full, memory and log say the same at every byte", async (bench) => {
  const { disk, directory } = bench;
  for (let room = 0; room < 420; room += 7) {
    disk.room = Infinity;
    const store = new FileSessionStore({ directory, files: disk.files });
    const session = await store.create({ id: "s" });
    session.append(said("kept"));
    await session.flush();
    disk.room = room;
    for (const text of ["one", "two", "three"]) session.append(said(text));
    const error = await assertRejects(() => session.flush(), SessionError, "the disk is full");
    assertEquals(error.reason, "write_failed");
    assertEquals(await idsAfterRestart(directory), idsIn(session));
    assertEquals(session.leafId, idsIn(session).at(-1) ?? null);

    disk.room = Infinity;
    session.append(said("goes on"));
    await session.close();
    assertEquals(await idsAfterRestart(directory), idsIn(session));
    await store.delete("s");
  }
});

onDisk("a failed write is told once, by the next append or flush", async ({ store, disk }) => {
  const session = await store.create({ id: "s" });
  session.append(said("kept"));
  await session.flush();
  disk.room = 0;
  session.append(said("lost"));
  await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve));
  const error = assertThrows(() => session.append(said("refused")), SessionError);
  assertEquals(error.message.includes("1 of its entries were not kept"), true);
  disk.room = Infinity;
  session.append(said("kept again"));
  await session.close();
  assertEquals(session.outline.length, 2);
});

onDisk("a file that cannot be made is made with the next entry", async (bench) => {
  const { store, disk, directory } = bench;
  const session = await store.create({ id: "s" });
  disk.room = 0;
  session.append(said("lost"));
  await assertRejects(() => session.flush(), SessionError);
  assertEquals(Array.from(Deno.readDirSync(directory), ({ name }) => name), ["s.lock"]);
  disk.room = Infinity;
  session.append(said("kept"));
  await session.close();
  assertEquals(await idsAfterRestart(directory), idsIn(session));
  const again = await new FileSessionStore({ directory }).open("s", { access: "read" });
  assertEquals(again.header.created, session.header.created);
  await again.close();
});

onDisk("a disk that cannot sync is told of", async ({ store, disk }) => {
  const session = await store.create({ id: "s" });
  session.append(said("one"));
  disk.failSync = true;
  const error = await assertRejects(
    () => session.flush(),
    SessionError,
    "the disk reports an error",
  );
  assertEquals(error.reason, "write_failed");
  disk.failSync = false;
  await session.close();
});

onDisk("the disk is synced when it is asked for, and at the end", async ({ store, disk }) => {
  const session = await store.create({ id: "s" });
  for (let number = 0; number < 100; number++) session.append(said("x"));
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(disk.syncs, 0);
  await session.flush();
  assertEquals(disk.syncs, 1);
  await session.close();
  assertEquals(disk.syncs, 2);
});

onDisk("a session that cannot be closed properly is closed all the same", async (bench) => {
  const { store, disk } = bench;
  const session = await store.create({ id: "s" });
  session.append(said("one"));
  await session.flush();
  session.append(said("two"));
  disk.room = 0;
  await assertRejects(() => session.close(), SessionError);
  disk.room = Infinity;
  await using again = await store.open("s");
  assertEquals(again.outline.length, 1);
});

Deno.test("a folder that cannot be made is a write that failed", async () => {
  const file = await Deno.makeTempFile();
  const store = new FileSessionStore({ directory: `${file}/sessions` });
  const error = await assertRejects(() => store.create(), SessionError);
  assertEquals(error.reason, "write_failed");
  assertEquals(await new FileSessionStore({ directory: `${file}x` }).list(), []);
  await Deno.remove(file);
});
