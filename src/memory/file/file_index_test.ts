import { assert, assertEquals } from "@std/assert";
import { userMessage } from "../../core/messages/message.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { SessionStore } from "../../core/sessions/session.ts";
import type { SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { collectPages } from "../../testing/session_subject.ts";
import { FileSessionStore, type FileStoreOptions } from "./file_store.ts";
import type { FileSystem } from "./file_system.ts";
import { localFileSystem } from "./local_file_system.ts";

/** A file system that counts the bytes read from logs, and a clock. */
class CountingDisk {
  logBytes = 0;
  longestRead = 0;
  #time = 0;

  /** A clock that advances, so that sessions are listed in the order of their last entries. */
  readonly now = () => ++this.#time;

  readonly files: FileSystem = {
    ...localFileSystem,
    openToRead: async (path) => {
      const file = await localFileSystem.openToRead(path);
      return {
        stat: () => file.stat(),
        close: () => file.close(),
        read: async (offset, length) => {
          const bytes = await file.read(offset, length);
          if (path.endsWith(".jsonl")) {
            this.logBytes += bytes.length;
            this.longestRead = Math.max(this.longestRead, bytes.length);
          }
          return bytes;
        },
      };
    },
  };
}

function createStore(directory: string, { files, now }: CountingDisk): FileSessionStore {
  const options: FileStoreOptions = { directory, files, now };
  return new FileSessionStore(options);
}

function testInDirectory(name: string, test: (directory: string) => Promise<void>): void {
  Deno.test(name, async () => {
    const directory = await Deno.makeTempDir();
    try {
      await test(directory);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  });
}

function createMessageEntry(text: string): SessionEntryBody {
  return { type: "message", message: userMessage(text, 1) };
}

async function writeSession(store: SessionStore, id: string, count: number): Promise<void> {
  await using session = await store.create({ id });
  for (let number = 0; number < count; number++) {
    session.append(createMessageEntry(`${number} ${"x".repeat(1000)}`));
  }
}

testInDirectory(
  "FileSessionStore: list() reads no log, whatever its size [B78]",
  async (directory) => {
    const disk = new CountingDisk();
    const store = createStore(directory, disk);
    await writeSession(store, "small", 1);
    await writeSession(store, "large", 200);
    assertEquals((await store.list()).map(({ id, entries }) => [id, entries]), [
      ["large", 200],
      ["small", 1],
    ]);
    const summaries = await createStore(directory, disk).list();
    assertEquals(summaries.map(({ id }) => id), ["large", "small"]);
    assertEquals(disk.logBytes, 0);
  },
);

testInDirectory(
  "FileSessionStore: open() with an index reads only the bytes of the path",
  async (directory) => {
    const disk = new CountingDisk();
    const store = createStore(directory, disk);
    const session = await store.create({ id: "tree" });
    const root = session.append(createMessageEntry("root"));
    for (let number = 0; number < 300; number++) {
      session.append(createMessageEntry("x".repeat(1000)));
    }
    session.moveLeaf(root.id);
    session.append(createMessageEntry("leaf"));
    await session.close();
    disk.logBytes = 0;
    await using reopened = await store.open("tree", { access: "read" });
    assertEquals(reopened.outline.length, 303);
    assertEquals((await reopened.path()).length, 3);
    assert(disk.logBytes < 2000, `read ${disk.logBytes} bytes`);
  },
);

testInDirectory(
  "FileSessionStore: flush() writes a valid index when it is called twice at the same time",
  async (directory) => {
    const disk = new CountingDisk();
    const store = createStore(directory, disk);
    const session = await store.create({ id: "s" });
    for (const flushes of [1, 2]) {
      for (let number = 0; number < 300; number++) {
        session.append(createMessageEntry("x".repeat(4_000)));
      }
      await Promise.all(Array.from({ length: flushes }, () => session.flush()));
    }
    await session.close();
    disk.logBytes = 0;
    await using reopened = await store.open("s", { access: "read" });
    assertEquals(reopened.outline.length, 600);
    assert(disk.logBytes < 10_000, `read ${disk.logBytes} bytes`);
  },
);

testInDirectory(
  "FileSessionStore: close() waits for the index that a flush writes, which delete() removes",
  async (directory) => {
    const isWriting = createDeferred();
    const mayWrite = createDeferred();
    const files: FileSystem = {
      ...localFileSystem,
      replace: async (path, ...rest) => {
        if (path.endsWith(".index")) {
          isWriting.resolve();
          await mayWrite.promise;
        }
        await localFileSystem.replace(path, ...rest);
      },
    };
    const store = new FileSessionStore({ directory, files } as FileStoreOptions);
    const session = await store.create({ id: "s" });
    for (let number = 0; number < 300; number++) {
      session.append(createMessageEntry("x".repeat(4_000)));
    }
    const flushing = session.flush();
    await isWriting.promise;
    const deletion = session.close().then(() => store.delete("s"));
    for (let task = 0; task < 5; task++) await new Promise((resolve) => setTimeout(resolve, 0));
    mayWrite.resolve();
    await Promise.all([flushing, deletion]);
    assertEquals(Array.from(Deno.readDirSync(directory), ({ name }) => name), []);
  },
);

testInDirectory(
  "FileSessionStore: list() rebuilds an index that is missing or torn",
  async (directory) => {
    const disk = new CountingDisk();
    const store = () => createStore(directory, disk);
    await writeSession(store(), "s", 20);
    const before = await store().list();
    const complete = await Deno.readFile(`${directory}/s.index`);
    const torn = [complete.slice(0, -5), complete.slice(0, 100), new Uint8Array(9)];
    for (const broken of [undefined, ...torn]) {
      if (broken) await Deno.writeFile(`${directory}/s.index`, broken);
      else await Deno.remove(`${directory}/s.index`);
      disk.logBytes = 0;
      assertEquals(await store().list(), before);
      assert(disk.logBytes > 20_000);
      assertEquals(await Deno.readFile(`${directory}/s.index`), complete);
      disk.logBytes = 0;
      assertEquals(await store().list(), before);
      assertEquals(disk.logBytes, 0);
    }
  },
);

testInDirectory(
  "FileSessionStore: open() reads the rest of the log when the index is outdated",
  async (directory) => {
    const disk = new CountingDisk();
    const store = createStore(directory, disk);
    await writeSession(store, "s", 100);
    const old = await Deno.readFile(`${directory}/s.index`);
    const session = await store.open("s");
    const last = session.append(createMessageEntry("last"));
    await session.close();
    await Deno.writeFile(`${directory}/s.index`, old);
    disk.logBytes = 0;
    await using reopened = await store.open("s");
    assertEquals(reopened.leafId, last.id);
    assertEquals(reopened.outline.length, 101);
    assert(disk.logBytes < 2000, `read ${disk.logBytes} bytes`);
    assertEquals((await reopened.path()).at(-1), last);
  },
);

testInDirectory("FileSessionStore: open() ignores the index of another log", async (directory) => {
  const store = new FileSessionStore({ directory });
  await writeSession(store, "a", 3);
  await writeSession(store, "b", 40);
  await Deno.copyFile(`${directory}/a.index`, `${directory}/b.index`);
  await using session = await new FileSessionStore({ directory }).open("b");
  assertEquals((await session.path()).length, 40);
  const summaries = await new FileSessionStore({ directory }).list();
  assertEquals(summaries.find(({ id }) => id === "b")?.entries, 40);
});

testInDirectory(
  "FileSessionStore: list() ignores the index of a log that was modified",
  async (directory) => {
    const store = new FileSessionStore({ directory });
    await writeSession(store, "s", 3);
    const path = `${directory}/s.jsonl`;
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, text.replace(`"0 x`, `"9 x`));
    await Deno.utime(path, 5, 5);
    assertEquals(
      (await new FileSessionStore({ directory }).list())[0]?.firstPrompt?.slice(0, 3),
      "9 x",
    );
  },
);

testInDirectory(
  "FileSessionStore: list() shows the current state of an open session",
  async (directory) => {
    const store = new FileSessionStore({ directory });
    await using session = await store.create({ id: "s" });
    for (const count of [1, 2, 3]) {
      session.append(createMessageEntry("again"));
      await session.flush();
      assertEquals((await store.list())[0]?.entries, count);
      assertEquals((await new FileSessionStore({ directory }).list())[0]?.entries, count);
    }
  },
);

testInDirectory("FileSessionStore: stores the content of a tool result once", async (directory) => {
  const store = new FileSessionStore({ directory });
  const content = [{ type: "text", text: "output ".repeat(100) }] as const;
  const call = { messageId: null, toolCallId: "c", name: "bash" };
  const session = await store.create({ id: "s" });
  session.append({ type: "tool_finished", ...call, result: { content }, isError: false });
  const message = session.append({
    type: "message",
    message: {
      role: "tool_result",
      toolCallId: "c",
      toolName: "bash",
      content,
      isError: false,
      timestamp: 9,
    },
  });
  await session.close();
  const log = await Deno.readTextFile(`${directory}/s.jsonl`);
  assert(log.length < 1500, `the log has ${log.length} bytes`);
  // Reads from lines, from the index, and a single entry.
  for (const prepare of [() => Deno.remove(`${directory}/s.index`), () => store.list()]) {
    await prepare();
    await using reopened = await store.open("s", { access: "read" });
    assertEquals(await reopened.entry(message.id), message);
    assertEquals((await reopened.path()).at(-1), message);
  }
});

testInDirectory(
  "FileSessionStore: list() with a limit reads only the summaries of recently modified logs",
  async (directory) => {
    const end = Date.now();
    for (let number = 0; number < 60; number++) {
      const now = end - 10_000 * number;
      await writeSession(new FileSessionStore({ directory, now: () => now }), `s${number}`, 1);
      await Deno.utime(`${directory}/s${number}.jsonl`, now / 1000, now / 1000);
    }
    await new FileSessionStore({ directory }).list(); // Updates the indexes.
    let indexes = 0;
    const readEnd: FileSystem["readEnd"] = (path, length) => {
      if (path.endsWith(".index")) indexes++;
      return localFileSystem.readEnd(path, length);
    };
    const options: FileStoreOptions = { directory, files: { ...localFileSystem, readEnd } };
    const store = new FileSessionStore(options);
    const first = await store.list({ limit: 5 });
    assertEquals(first.map(({ id }) => id), ["s0", "s1", "s2", "s3", "s4"]);
    assertEquals(indexes, 16);
    const second = await store.list({ limit: 5, ...(first.cursor && { cursor: first.cursor }) });
    assertEquals(second.map(({ id }) => id), ["s5", "s6", "s7", "s8", "s9"]);
    assertEquals(indexes, 16);
    assertEquals((await store.list()).length, 60);
  },
);

testInDirectory(
  "FileSessionStore: lists a log that was renamed or copied with its index under its own id",
  async (directory) => {
    const disk = new CountingDisk();
    await writeSession(createStore(directory, disk), "a", 3);
    await writeSession(createStore(directory, disk), "b", 3);
    for (const extension of ["jsonl", "index"]) {
      await Deno.rename(`${directory}/a.${extension}`, `${directory}/c.${extension}`);
      await Deno.copyFile(`${directory}/b.${extension}`, `${directory}/d.${extension}`);
    }
    const { mtime } = await Deno.stat(`${directory}/b.jsonl`);
    if (mtime) await Deno.utime(`${directory}/d.jsonl`, mtime, mtime);
    const store = createStore(directory, disk);
    const session = await store.open("d", { access: "read" });
    assertEquals(session.id, "d");
    await session.close();
    const ids = (await store.list()).map(({ id }) => id);
    assertEquals(ids.toSorted(), ["b", "c", "d"]);
  },
);

testInDirectory(
  "FileSessionStore: pages are complete when clocks were wrong and other programs set the times of files",
  async (directory) => {
    const disk = new CountingDisk();
    const ids = Array.from({ length: 60 }, (_, number) => `s${number}`);
    const future = Date.now() + 1e9;
    for (const [number, id] of ids.entries()) {
      const now = () => number % 3 === 0 ? future - number : 1_000 + number;
      const store = createStore(directory, { ...disk, now } as CountingDisk);
      await writeSession(store, id, 1);
      const time = new Date(2_000_000 + (number * 7 % 60) * 10_000);
      if (number % 2 === 0) await Deno.utime(`${directory}/${id}.jsonl`, time, time);
    }
    const store = createStore(directory, disk);
    await store.list();
    const pages = await collectPages((cursor) => store.list({ limit: 4, ...cursor }));
    const listed = pages.flat();
    assertEquals(listed, [...await store.list()]);
    assertEquals(listed.map(({ id }) => id).toSorted(), ids.toSorted());
  },
);

testInDirectory(
  "FileSessionStore: rebuilds an index whose rows, damage or summary are invalid",
  async (directory) => {
    const store = new FileSessionStore({ directory });
    const options = { id: "s", tenant: "acme", metadata: { plan: "pro" } };
    const session = await store.create(options);
    const entries = [0, 1, 2].map((number) => session.append(createMessageEntry(`m${number}`)));
    await session.close();
    const [rows, last] = (await Deno.readTextFile(`${directory}/s.index`)).trim().split("\n")
      .map((line) => JSON.parse(line));
    const forgeRow = (index: number, value: unknown) =>
      [{ ...rows, rows: rows.rows.with(index, value) }, last] as const;
    const forged: (readonly [unknown, unknown])[] = [
      ...[-1, 0.5, 0, 1e300, null, "5"].map((offset) => forgeRow(8, offset)),
      ...[-1, 0.5, 1e300, 2 ** 40, "5"].map((length) => forgeRow(9, length)),
      ...["", 5].map((id) => forgeRow(6, id)),
      ...[[null], [5], [{}], [{ type: "torn_tail", offset: 0.5, length: 1 }], {}].map((damage) =>
        [{ ...rows, damage }, last] as const
      ),
      ...[{ title: [] }, { tenant: 5 }, { metadata: "x" }, { usage: { input: "NaN" } }].map((
        part,
      ) => [rows, { ...last, summary: { ...last.summary, ...part } }] as const),
    ];
    for (const lines of forged) {
      const text = lines.map((line) => JSON.stringify(line)).join("\n") + "\n";
      await Deno.writeTextFile(`${directory}/s.index`, text);
      const opened = await new FileSessionStore({ directory }).open("s", { access: "read" });
      assertEquals([await opened.path(), opened.damage], [entries, []], text);
      await opened.close();
      const [summary] = await new FileSessionStore({ directory }).list({
        metadata: { plan: "pro" },
      });
      assertEquals([summary?.entries, summary?.tenant, summary?.title], [3, "acme", undefined]);
    }
  },
);

testInDirectory(
  "FileSessionStore: omits invalid members of the header in an index",
  async (directory) => {
    const store = new FileSessionStore({ directory });
    await writeSession(store, "s", 1);
    const path = `${directory}/s.index`;
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, text.replace('"header":{', '"header":{"tenant":5,'));
    await using session = await store.open("s", { access: "read" });
    assertEquals(session.header.tenant, undefined);
  },
);

testInDirectory(
  "FileSessionStore: path() reads at most 1 MB of short lines at a time",
  async (directory) => {
    const disk = new CountingDisk();
    const store = createStore(directory, disk);
    await writeSession(store, "s", 3_000);
    await using session = await store.open("s", { access: "read" });
    disk.longestRead = 0;
    assertEquals((await session.path()).length, 3_000);
    assert(disk.longestRead > 0 && disk.longestRead <= 1024 * 1024, `${disk.longestRead} bytes`);
  },
);

testInDirectory(
  "FileSessionStore: path() restores content that is in the part of the log that an outdated index has",
  async (directory) => {
    const store = new FileSessionStore({ directory });
    const data = "x".repeat(5_000);
    const source = { type: "base64", mediaType: "image/png", data } as const;
    const message = { role: "user", content: [{ type: "image", source }], timestamp: 1 } as const;
    const first = await store.create({ id: "s" });
    first.append({ type: "message", message });
    await first.close();
    const index = await Deno.readTextFile(`${directory}/s.index`);
    const second = await store.open("s");
    await second.path(); // Loads the entry, to which the next one then refers.
    second.append({ type: "message", message });
    await second.close();
    assert((await Deno.readTextFile(`${directory}/s.jsonl`)).includes("dataFrom"));
    await Deno.writeTextFile(`${directory}/s.index`, index);

    await using session = await new FileSessionStore({ directory }).open("s", { access: "read" });
    const path = await session.path();
    assertEquals(path.map((entry) => entry.type === "message" && entry.message), [
      message,
      message,
    ]);
  },
);

testInDirectory(
  "FileSessionStore: a header that is damaged is reported although the index has it, and written again",
  async (directory) => {
    const [path, index] = [`${directory}/s.jsonl`, `${directory}/s.index`];
    const about = { tenant: "acme", user: "amy", metadata: { note: "é".repeat(20_000) } };
    {
      await using session = await new FileSessionStore({ directory }).create({ id: "s", ...about });
      session.append(createMessageEntry("one"));
    }
    const { mtime } = await Deno.stat(path);
    using file = await Deno.open(path, { write: true });
    await file.write(new TextEncoder().encode("garbled"));
    await Deno.utime(path, mtime ?? 0, mtime ?? 0);
    for (let attempt = 0; attempt < 2; attempt++) {
      await using session = await new FileSessionStore({ directory }).open("s");
      assertEquals(session.damage.map(({ type, offset }) => [type, offset]), [[
        "broken_header",
        0,
      ]]);
      assertEquals(session.header.tenant, "acme");
      session.append(createMessageEntry("more"));
    }
    assertEquals((await Deno.readTextFile(path)).split('"type":"session"').length, 2);
    await Deno.remove(index);
    const [summary] = await new FileSessionStore({ directory }).list({ tenant: "acme" });
    assertEquals([summary?.entries, summary?.metadata], [3, about.metadata]);
  },
);

testInDirectory(
  "FileSessionStore: list() writes no index of a session that is open for writing, whose writer does",
  async (directory) => {
    const session = await new FileSessionStore({ directory }).create({ id: "s" });
    session.append(createMessageEntry("one"));
    await session.flush();
    const index = `${directory}/s.index`;
    const hasIndex = () => localFileSystem.stat(index) !== undefined;
    assertEquals((await new FileSessionStore({ directory }).list())[0]?.entries, 1);
    assertEquals(hasIndex(), false);
    await session.close();
    await Deno.remove(index);
    await new FileSessionStore({ directory }).list();
    assertEquals(hasIndex(), true);
  },
);
