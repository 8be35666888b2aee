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
      if (this.room <= 0) throw createSystemError("ENOSPC", "no space left on device");
      return denoFileSystem.replace(path, text, options);
    },
    openToAppend: async (path) => {
      const file = await denoFileSystem.openToAppend(path);
      if (!path.endsWith(".jsonl")) return file;
      return {
        stat: () => file.stat(),
        close: () => file.close(),
        sync: () => {
          this.syncs++;
          if (this.failSync) throw createSystemError("EIO", "input/output error");
          return file.sync();
        },
        write: (bytes) => {
          if (this.room <= 0) throw createSystemError("ENOSPC", "no space left on device");
          const part = bytes.subarray(0, this.room);
          this.room -= part.length;
          return file.write(part);
        },
      };
    },
  };
}

function createSystemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function testOnDisk(
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

function createMessageEntry(text: string): SessionEntryBody {
  return { type: "message", message: userMessage(text, 1) };
}

async function readIdsAfterRestart(directory: string): Promise<string[]> {
  const store = new FileSessionStore({ directory });
  await using session = await store.open("s", { access: "read" });
  return session.outline.map(({ id }) => id);
}

function getIds(session: Session): string[] {
  return session.outline.map(({ id }) => id);
}

testOnDisk(
  "B 77: when the disk is full, memory and log say the same at every byte",
  async (bench) => {
    const { disk, directory } = bench;
    for (let room = 0; room < 420; room += 7) {
      disk.room = Infinity;
      const store = new FileSessionStore({ directory, files: disk.files });
      const session = await store.create({ id: "s" });
      session.append(createMessageEntry("kept"));
      await session.flush();
      disk.room = room;
      for (const text of ["one", "two", "three"]) session.append(createMessageEntry(text));
      const error = await assertRejects(() => session.flush(), SessionError, "the disk is full");
      assertEquals(error.reason, "write_failed");
      assertEquals(await readIdsAfterRestart(directory), getIds(session));
      assertEquals(session.leafId, getIds(session).at(-1) ?? null);

      disk.room = Infinity;
      session.append(createMessageEntry("goes on"));
      await session.close();
      assertEquals(await readIdsAfterRestart(directory), getIds(session));
      await store.delete("s");
    }
  },
);

testOnDisk("a failed write is told once, by the next append or flush", async ({ store, disk }) => {
  const session = await store.create({ id: "s" });
  session.append(createMessageEntry("kept"));
  await session.flush();
  disk.room = 0;
  session.append(createMessageEntry("lost"));
  await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve));
  const error = assertThrows(() => session.append(createMessageEntry("refused")), SessionError);
  assertEquals(error.message.includes("1 of its entries were not kept"), true);
  disk.room = Infinity;
  session.append(createMessageEntry("kept again"));
  await session.close();
  assertEquals(session.outline.length, 2);
});

testOnDisk("a file that cannot be made is made with the next entry", async (bench) => {
  const { store, disk, directory } = bench;
  const session = await store.create({ id: "s" });
  disk.room = 0;
  session.append(createMessageEntry("lost"));
  await assertRejects(() => session.flush(), SessionError);
  assertEquals(Array.from(Deno.readDirSync(directory), ({ name }) => name), ["s.lock"]);
  disk.room = Infinity;
  session.append(createMessageEntry("kept"));
  await session.close();
  assertEquals(await readIdsAfterRestart(directory), getIds(session));
  const again = await new FileSessionStore({ directory }).open("s", { access: "read" });
  assertEquals(again.header.created, session.header.created);
  await again.close();
});

testOnDisk("a disk that cannot sync is told of", async ({ store, disk }) => {
  const session = await store.create({ id: "s" });
  session.append(createMessageEntry("one"));
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

testOnDisk("the disk is synced when it is asked for, and at the end", async ({ store, disk }) => {
  const session = await store.create({ id: "s" });
  for (let number = 0; number < 100; number++) session.append(createMessageEntry("x"));
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(disk.syncs, 0);
  await session.flush();
  assertEquals(disk.syncs, 1);
  await session.close();
  assertEquals(disk.syncs, 2);
});

testOnDisk("a session that cannot be closed properly is closed all the same", async (bench) => {
  const { store, disk } = bench;
  const session = await store.create({ id: "s" });
  session.append(createMessageEntry("one"));
  await session.flush();
  session.append(createMessageEntry("two"));
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
