import { assert, assertEquals } from "@std/assert";
import { userMessage } from "../../src/core/messages/message.ts";
import type { Session } from "../../src/core/sessions/session.ts";
import { FileSessionStore, type FileStoreOptions } from "../../src/memory/file/file_store.ts";
import type { FileSystem } from "../../src/memory/file/file_system.ts";
import { localFileSystem } from "../../src/memory/file/local_file_system.ts";

const SESSIONS = 10_000;
const LARGE_BYTES = 100_000_000;
const LINE = "x".repeat(14_000);

interface CountingDisk {
  readonly files: FileSystem;
  readonly getBytesRead: () => number;
}

/** Creates a file system that counts the bytes read from logs. */
function createCountingDisk(): CountingDisk {
  let bytesRead = 0;
  const openToRead: FileSystem["openToRead"] = async (path) => {
    const file = await localFileSystem.openToRead(path);
    return {
      stat: () => file.stat(),
      close: () => file.close(),
      read: async (offset, length) => {
        const bytes = await file.read(offset, length);
        if (path.endsWith(".jsonl")) bytesRead += bytes.length;
        return bytes;
      },
    };
  };
  return { files: { ...localFileSystem, openToRead }, getBytesRead: () => bytesRead };
}

function createStore(directory: string, { files }: CountingDisk): FileSessionStore {
  const options: FileStoreOptions = { directory, files };
  return new FileSessionStore(options);
}

async function withTemporaryDirectory(test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

function appendMessage(session: Session, text: string): void {
  session.append({ type: "message", message: userMessage(text, 1) });
}

Deno.test(`list() lists ${SESSIONS} sessions, without reading a log the second time`, async () => {
  await withTemporaryDirectory(async (directory) => {
    const disk = createCountingDisk();
    const store = () => createStore(directory, disk);
    const first = await store().create({ id: "s0" });
    for (let number = 0; number < 10; number++) appendMessage(first, `prompt ${number}`);
    await first.close();
    for (let number = 1; number < SESSIONS; number++) {
      await Deno.link(`${directory}/s0.jsonl`, `${directory}/s${number}.jsonl`);
    }
    assertEquals((await store().list()).length, SESSIONS);
    const before = disk.getBytesRead();
    const summaries = await store().list();
    assertEquals([summaries.length, disk.getBytesRead() - before], [SESSIONS, 0]);
    assertEquals(new Set(summaries.map(({ id }) => id)).size, SESSIONS);
    assert(
      summaries.every(({ entries, firstPrompt }) => entries === 10 && firstPrompt === "prompt 0"),
    );
  });
});

Deno.test("FileSessionStore writes, opens and continues a session of 100 MB, with and without its index", async () => {
  await withTemporaryDirectory(async (directory) => {
    const disk = createCountingDisk();
    const store = () => createStore(directory, disk);
    const session = await store().create({ id: "large" });
    const count = Math.ceil(LARGE_BYTES / LINE.length);
    for (let number = 0; number < count; number++) {
      appendMessage(session, `${number} ${LINE}`);
      if (number % 500 === 0) await session.flush();
    }
    await session.close();
    assert((await Deno.stat(`${directory}/large.jsonl`)).size >= LARGE_BYTES);

    const byIndex = await store().open("large");
    assert(disk.getBytesRead() < 100_000, "open() with an index read the log");
    const last = byIndex.append({ type: "title", title: "last" });
    await byIndex.flush();
    assertEquals((await byIndex.path({ last: 2 })).length, 2);
    assert(disk.getBytesRead() < 200_000, "reading the end of a path read its beginning");
    await byIndex.close();

    await Deno.remove(`${directory}/large.index`);
    await using byLines = await store().open("large", { access: "read" });
    assertEquals([byLines.outline.length, byLines.leafId], [count + 1, last.id]);
    assertEquals(byLines.damage, []);
    const path = await byLines.path();
    assertEquals(path.length, count + 1);
    let entries = 0;
    for await (const entry of byLines.entries()) entries += entry.id === "" ? 0 : 1;
    assertEquals(entries, count + 1);
  });
});
