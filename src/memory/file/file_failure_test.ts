import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { waitUntil } from "../../../tests/wait_until.ts";
import { Agent } from "../../agent/agent.ts";
import { SessionError } from "../../core/errors/errors.ts";
import { userMessage } from "../../core/messages/message.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { defineTool } from "../../core/tools/tool.ts";
import { toolCall } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { recordSession } from "../recording/record_session.ts";
import { FileSessionStore, type FileStoreOptions } from "./file_store.ts";
import type { FileSystem } from "./file_system.ts";
import { localFileSystem } from "./local_file_system.ts";

/** A file system with a limited number of free bytes for logs. */
class LimitedDisk {
  free = Infinity;
  syncs = 0;
  readonly syncedDirectories: string[] = [];
  failSync = false;

  readonly files: FileSystem = {
    ...localFileSystem,
    syncDirectory: (path) => {
      this.syncedDirectories.push(path);
      return localFileSystem.syncDirectory(path);
    },
    replace: (path, text, options) => {
      if (this.free <= 0) throw createSystemError("ENOSPC", "no space left on device");
      return localFileSystem.replace(path, text, options);
    },
    openToAppend: async (path) => {
      const file = await localFileSystem.openToAppend(path);
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
          if (this.free <= 0) throw createSystemError("ENOSPC", "no space left on device");
          const part = bytes.subarray(0, this.free);
          this.free -= part.length;
          return file.write(part);
        },
      };
    },
  };
}

function createSystemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

interface Fixture {
  readonly store: FileSessionStore;
  readonly disk: LimitedDisk;
  readonly directory: string;
}

function testOnDisk(name: string, test: (fixture: Fixture) => Promise<void>): void {
  Deno.test(name, async () => {
    const directory = await Deno.makeTempDir();
    const disk = new LimitedDisk();
    try {
      await test({ store: createStore(directory, disk), disk, directory });
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  });
}

function createStore(directory: string, { files }: LimitedDisk): FileSessionStore {
  const options: FileStoreOptions = { directory, files };
  return new FileSessionStore(options);
}

function createMessageEntry(text: string): SessionEntryBody {
  return { type: "message", message: userMessage(text, 1) };
}

function countLines(file: string): number {
  try {
    return Deno.readTextFileSync(file).split("\n").length - 1;
  } catch {
    return 0;
  }
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
  "FileSessionStore: memory and log agree when the disk is full, at any byte [B77]",
  async ({ disk, directory }) => {
    for (let free = 0; free < 420; free += 7) {
      disk.free = Infinity;
      const store = createStore(directory, disk);
      const session = await store.create({ id: "s" });
      session.append(createMessageEntry("kept"));
      await session.flush();
      disk.free = free;
      for (const text of ["one", "two", "three"]) session.append(createMessageEntry(text));
      const error = await assertRejects(() => session.flush(), SessionError, "the disk is full");
      assertEquals(error.reason, "write_failed");
      assertEquals(await readIdsAfterRestart(directory), getIds(session));
      assertEquals(session.leafId, getIds(session).at(-1) ?? null);

      disk.free = Infinity;
      session.append(createMessageEntry("continued"));
      await session.close();
      assertEquals(await readIdsAfterRestart(directory), getIds(session));
      await store.delete("s");
    }
  },
);

testOnDisk("FileSessionStore: append() reports a failed write once", async ({ store, disk }) => {
  const session = await store.create({ id: "s" });
  session.append(createMessageEntry("kept"));
  await session.flush();
  disk.free = 0;
  session.append(createMessageEntry("lost"));
  await waitUntil(() => session.outline.length === 1);
  const error = assertThrows(() => session.append(createMessageEntry("refused")), SessionError);
  assertEquals(error.message.includes("1 of its entries was not stored"), true);
  disk.free = Infinity;
  session.append(createMessageEntry("kept again"));
  await session.close();
  assertEquals(session.outline.length, 2);
});

testOnDisk(
  "FileSessionStore: append() creates the file after an earlier attempt failed",
  async (fixture) => {
    const { store, disk, directory } = fixture;
    const session = await store.create({ id: "s" });
    disk.free = 0;
    session.append(createMessageEntry("lost"));
    await assertRejects(() => session.flush(), SessionError);
    assertEquals(Array.from(Deno.readDirSync(directory), ({ name }) => name), ["s.lock"]);
    disk.free = Infinity;
    session.append(createMessageEntry("kept"));
    await session.close();
    assertEquals(await readIdsAfterRestart(directory), getIds(session));
    const reopened = await new FileSessionStore({ directory }).open("s", { access: "read" });
    assertEquals(reopened.header.created, session.header.created);
    await reopened.close();
  },
);

testOnDisk(
  "FileSessionStore: flush() rejects when the file cannot be synced",
  async ({ store, disk }) => {
    const session = await store.create({ id: "s" });
    session.append(createMessageEntry("one"));
    disk.failSync = true;
    const error = await assertRejects(
      () => session.flush(),
      SessionError,
      "input/output error of the disk",
    );
    assertEquals(error.reason, "write_failed");
    disk.failSync = false;
    await session.close();
  },
);

testOnDisk(
  "FileSessionStore: flush() and close() sync the file, append() does not",
  async ({ store, disk, directory }) => {
    const session = await store.create({ id: "s" });
    for (let number = 0; number < 100; number++) session.append(createMessageEntry("x"));
    await waitUntil(() => countLines(`${directory}/s.jsonl`) > 100);
    assertEquals(disk.syncs, 0);
    await session.flush();
    assertEquals(disk.syncs, 1);
    // Only the name of a new file could be lost.
    assertEquals(disk.syncedDirectories, [directory]);
    session.append(createMessageEntry("x"));
    await session.close();
    assertEquals(disk.syncs, 2);
    assertEquals(disk.syncedDirectories, [directory]);
  },
);

testOnDisk(
  "FileSessionStore: append() stores data again whose first write failed",
  async ({ store, disk, directory }) => {
    const data = "A".repeat(2_000);
    const image = {
      type: "image",
      source: { type: "base64", mediaType: "image/png", data },
    } as const;
    const message = { role: "user", content: [image], timestamp: 1 } as const;
    const session = await store.create({ id: "s" });
    session.append(createMessageEntry("one"));
    await session.flush();
    disk.free = 0;
    session.append({ type: "message", message });
    await assertRejects(() => session.flush(), SessionError);
    disk.free = Infinity;
    const { id } = session.append({ type: "message", message });
    await session.close();
    await using reopened = await new FileSessionStore({ directory }).open("s", { access: "read" });
    const entry = await reopened.entry(id);
    assertEquals(entry?.type === "message" && entry.message, message);
  },
);

testOnDisk(
  "FileSessionStore: close() releases the session when the last write fails",
  async ({ store, disk }) => {
    const session = await store.create({ id: "s" });
    session.append(createMessageEntry("one"));
    await session.flush();
    session.append(createMessageEntry("two"));
    disk.free = 0;
    await assertRejects(() => session.close(), SessionError);
    disk.free = Infinity;
    await using again = await store.open("s");
    assertEquals(again.outline.length, 1);
  },
);

testOnDisk(
  "FileSessionStore: delete() keeps a session whose lock was taken over meanwhile",
  async ({ store, directory }) => {
    const session = await store.create({ id: "s" });
    session.append(createMessageEntry("kept"));
    await session.close();
    const deleting = new FileSessionStore({ directory });
    deleting.list = async () => {
      await Deno.remove(`${directory}/s.lock`);
      return [];
    };
    const error = await assertRejects(() => deleting.delete("s"), SessionError);
    assertEquals([error.reason, (await store.list()).length], ["lock_lost", 1]);
  },
);

testOnDisk(
  "FileSessionStore: create() leaves no session without some of its entries when the disk is full",
  async ({ store, disk, directory }) => {
    await using source = await store.create({ id: "source" });
    for (const text of ["one", "two", "three"]) source.append(createMessageEntry(text));
    await source.flush();
    const entries = await source.path();
    for (let free = 0; free < 420; free += 7) {
      disk.free = free;
      await assertRejects(() => store.create({ id: "s", entries }), SessionError, "disk is full");
      disk.free = Infinity;
      assertEquals((await store.list()).map(({ id }) => id), ["source"]);
    }
    disk.failSync = true;
    await assertRejects(() => store.create({ id: "s", entries }), SessionError, "input/output");
    disk.failSync = false;
    await (await store.create({ id: "s", entries })).close();
    const ids = entries.map(({ id }) => id);
    assertEquals(await readIdsAfterRestart(directory), ids);
  },
);

testOnDisk(
  "FileSessionStore: create() keeps the file of its session when the next owner of the lock has opened it meanwhile",
  async ({ store, disk, directory }) => {
    let next: Session | undefined;
    const files: FileSystem = {
      ...disk.files,
      openToAppend: async () => {
        await Deno.remove(`${directory}/s.lock`);
        next = await store.open("s");
        throw createSystemError("EIO", "input/output error");
      },
    };
    const options: FileStoreOptions = { directory, files };
    const late = new FileSessionStore(options);
    await using source = await store.create({ id: "source" });
    source.append(createMessageEntry("one"));
    const entries = await source.path();
    await assertRejects(() => late.create({ id: "s", entries }), SessionError, "input/output");
    next?.append(createMessageEntry("kept"));
    await next?.close();
    await using again = await store.open("s");
    assertEquals(again.outline.length, 1);
  },
);

Deno.test("FileSessionStore: create() rejects with write_failed when the directory cannot be created", async () => {
  const file = await Deno.makeTempFile();
  const store = new FileSessionStore({ directory: `${file}/sessions` });
  const error = await assertRejects(() => store.create(), SessionError);
  assertEquals(error.reason, "write_failed");
  assertEquals(await new FileSessionStore({ directory: `${file}x` }).list(), []);
  await Deno.remove(file);
});

/** Changes to an open log that other programs make. */
const CHANGES: Readonly<Record<string, (path: string) => Promise<void>>> = {
  deleted: (path) => Deno.remove(path),
  replaced: async (path) => {
    await Deno.copyFile(path, `${path}.new`);
    await Deno.rename(`${path}.new`, path);
  },
  changed: (path) => Deno.truncate(path, 10),
};

for (const [change, apply] of Object.entries(CHANGES)) {
  testOnDisk(
    `FileSessionStore: flush() rejects when another program has ${change} the log`,
    async ({ store, directory }) => {
      const path = `${directory}/s.jsonl`;
      const session = await store.create({ id: "s" });
      session.append(createMessageEntry("kept"));
      await session.flush();
      await apply(path);
      for (let attempt = 0; attempt < 2; attempt++) {
        session.append(createMessageEntry("lost"));
        const message = `another program has ${change} its file "${path}" while it was open`;
        const error = await assertRejects(() => session.flush(), SessionError, message);
        assertEquals(error.reason, "write_failed");
        assertEquals(session.outline.length, 1);
      }
      await session.close();
    },
  );

  testOnDisk(
    `FileSessionStore: flush() rejects when another program has ${change} the log since the last append`,
    async ({ store, directory }) => {
      const path = `${directory}/s.jsonl`;
      const session = await store.create({ id: "s" });
      session.append(createMessageEntry("written"));
      await waitUntil(() => countLines(path) > 1);
      await apply(path);
      const message = `another program has ${change} its file`;
      await assertRejects(() => session.flush(), SessionError, message);
      await assertRejects(() => session.close(), SessionError, message);
    },
  );
}

testOnDisk(
  "FileSessionStore: append() rejects with the right cause when the directory was deleted",
  async ({ store, directory }) => {
    const session = await store.create({ id: "s" });
    session.append(createMessageEntry("kept"));
    await session.flush();
    await Deno.remove(directory, { recursive: true });
    session.append(createMessageEntry("lost"));
    await assertRejects(
      () => session.flush(),
      SessionError,
      "another program has deleted its file",
    );
    await session.close();
    await Deno.mkdir(directory);
  },
);

testOnDisk(
  "recordSession() aborts the run before a tool runs when another program has replaced the log",
  async ({ store, directory }) => {
    let runs = 0;
    const write = defineTool({
      name: "write",
      description: "Writes.",
      parameters: { type: "object", properties: {} },
      execute: () => `${++runs}`,
    });
    const replace = defineTool({
      name: "replace",
      description: "Replaces the log, as an editor does.",
      parameters: { type: "object", properties: {} },
      readOnly: true,
      execute: async () => {
        await CHANGES["replaced"]?.(`${directory}/s.jsonl`);
        return "replaced";
      },
    });
    const streamFn = scriptedStream([
      reply([toolCall("replace", {})]),
      reply([toolCall("write", {})]),
      reply("done"),
    ]);
    const agent = new Agent({ model: "p/m", streamFn, tools: [write, replace] });
    const errors: SessionError[] = [];
    const onError = (error: SessionError) => void errors.push(error);
    const recording = await recordSession(agent, store, { id: "s", onError });
    const { stopReason, abortReason } = await agent.prompt("go");
    assertEquals([stopReason, runs, errors.length], ["aborted", 0, 1]);
    assertEquals(abortReason, errors[0]);
    await assertRejects(() => recording.stop(), SessionError, "replaced");
  },
);

testOnDisk(
  "FileSessionStore: flush() does not close the file while a later append is written",
  async ({ disk, directory }) => {
    const [synced, written] = [createDeferred(), createDeferred()];
    let [writes, isSyncing] = [0, false];
    const files: FileSystem = {
      ...disk.files,
      openToAppend: async (path) => {
        const file = await disk.files.openToAppend(path);
        if (!path.endsWith(".jsonl")) return file;
        return {
          ...file,
          sync: async () => {
            isSyncing = true;
            await synced.promise;
            await file.sync();
          },
          write: async (bytes) => {
            if (++writes === 2) await written.promise;
            return await file.write(bytes);
          },
        };
      },
    };
    const options: FileStoreOptions = { directory, files };
    const session = await new FileSessionStore(options).create({ id: "s" });
    session.append(createMessageEntry("one"));
    const first = session.flush();
    await waitUntil(() => isSyncing);
    session.append(createMessageEntry("two"));
    await waitUntil(() => writes === 2);
    synced.resolve();
    await first;
    written.resolve();
    await session.close();
    assertEquals(await readIdsAfterRestart(directory), getIds(session));
    assertEquals(session.outline.length, 2);
  },
);

testOnDisk(
  "FileSessionStore: a session that another process deletes meanwhile is not listed, and does not exist",
  async ({ disk, directory }) => {
    const session = await createStore(directory, disk).create({ id: "s" });
    session.append(createMessageEntry("Hello"));
    await session.close();
    await Deno.remove(`${directory}/s.index`);
    const log = await Deno.readFile(`${directory}/s.jsonl`);
    const files: FileSystem = {
      ...localFileSystem,
      openToRead: async (path) => {
        await Deno.remove(path);
        return localFileSystem.openToRead(path);
      },
    };
    const store = new FileSessionStore({ directory, files } as FileStoreOptions);
    assertEquals(await store.list(), []);
    await Deno.writeFile(`${directory}/s.jsonl`, log);
    const open = () => store.open("s", { access: "read" });
    assertEquals((await assertRejects(open, SessionError)).reason, "not_found");
  },
);
