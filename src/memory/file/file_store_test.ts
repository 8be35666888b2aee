import { assert, assertEquals, assertRejects } from "@std/assert";
import { THINKING_LEVELS } from "../../core/models/model.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { createNodeSystem } from "../../platform/system.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { testSessionStore } from "../../testing/session_conformance.ts";
import { FileSessionStore, type FileStoreOptions } from "./file_store.ts";
import type { FileSystem } from "./file_system.ts";
import { createLocalFileSystem, localFileSystem } from "./local_file_system.ts";

const fileSystems: Readonly<Record<string, FileSystem>> = {
  FileSessionStore: localFileSystem,
  "FileSessionStore on Node": createLocalFileSystem(createNodeSystem()),
};

for (const [kind, files] of Object.entries(fileSystems)) {
  testSessionStore((name, run) => Deno.test(`${kind}: ${name}`, run), async () => {
    const directory = await Deno.makeTempDir();
    const wait = () => Promise.resolve();
    const options: FileStoreOptions = { directory, files: { ...files, wait } };
    return {
      store: new FileSessionStore(options),
      reopen: () => new FileSessionStore(options),
      damage: async (id, position) => {
        const path = `${directory}/${id}.jsonl`;
        const lines = (await Deno.readTextFile(path)).split("\n");
        lines[position + 1] = (lines[position + 1] ?? "").slice(5);
        await Deno.writeTextFile(path, lines.join("\n"));
      },
      endLease: (id) => Deno.utimeSync(`${directory}/${id}.lock`, 0, Date.now() / 1000 - 31),
      dispose: () => Deno.remove(options.directory, { recursive: true }),
    };
  });
}

Deno.test({
  name: "FileSessionStore: creates files that only their owner can read",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    const parent = await Deno.makeTempDir();
    const directory = `${parent}/sessions`;
    const session = await new FileSessionStore({ directory }).create({ id: "s" });
    session.append({ type: "title", title: "private" });
    await session.flush();
    const getMode = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;
    assertEquals(getMode(directory), 0o700);
    assertEquals([getMode(`${directory}/s.jsonl`), getMode(`${directory}/s.lock`)], [0o600, 0o600]);
    await session.close();
    assertEquals(getMode(`${directory}/s.index`), 0o600);
    await Deno.remove(parent, { recursive: true });
  },
});

Deno.test("FileSessionStore: keeps every stop reason and thinking level [1.6]", async () => {
  const directory = await Deno.makeTempDir();
  const stopReasons = ["stop", "length", "tool_use", "aborted", "error"] as const;
  const bodies: SessionEntryBody[] = [
    ...stopReasons.map((stopReason): SessionEntryBody => ({
      type: "message",
      message: assistantMessage("Hi", { stopReason }),
    })),
    ...THINKING_LEVELS.map((thinkingLevel): SessionEntryBody => ({
      type: "model_changed",
      model: { provider: "p", modelId: "m", thinkingLevel },
    })),
  ];
  await using session = await new FileSessionStore({ directory }).create({ id: "s" });
  for (const body of bodies) session.append(body);
  await session.close();
  await using reopened = await new FileSessionStore({ directory }).open("s", { access: "read" });
  assertEquals(reopened.damage, []);
  const path = await reopened.path();
  assertEquals(
    path.map(({ id: _id, parentId: _parent, timestamp: _time, ...body }) => body),
    bodies,
  );
  await Deno.remove(directory, { recursive: true });
});

Deno.test("FileSessionStore: a session with a long id stays usable when its header is damaged", async () => {
  const directory = await Deno.makeTempDir();
  const id = "会".repeat(30);
  const createStore = () => new FileSessionStore({ directory });
  const writeTitle = async (session: Session, title: string) => {
    session.append({ type: "title", title });
    await session.close();
  };
  await writeTitle(await createStore().create({ id }), "one");
  const listed = Array.from(Deno.readDirSync(directory), ({ name }) => `${directory}/${name}`);
  const [log = ""] = listed.filter((name) => name.endsWith(".jsonl"));
  await Deno.writeTextFile(log, (await Deno.readTextFile(log)).slice(5));

  // The index has the id.
  assertEquals((await createStore().list()).map(({ id }) => id), [id]);
  await writeTitle(await createStore().open(id), "two");
  for (const path of listed) if (path.endsWith(".index")) await Deno.remove(path);
  // The header was written again, after the first entry.
  assertEquals((await createStore().list()).map(({ id, title }) => [id, title]), [[id, "two"]]);
  const others = ["b", "c"].map((text) => text.repeat(201).slice(0, 200));
  for (const other of others) await assertRejects(() => createStore().open(other));
  await createStore().delete(id);
  assertEquals(Array.from(Deno.readDirSync(directory)), []);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("FileSessionStore: deleteAll() does not list the other sessions for each one", async () => {
  const directory = await Deno.makeTempDir();
  const listed = new Map<string, number>();
  const files: FileSystem = {
    ...localFileSystem,
    stat: (path) => {
      listed.set(path, (listed.get(path) ?? 0) + 1);
      return localFileSystem.stat(path);
    },
  };
  const options: FileStoreOptions = { directory, files };
  const store = new FileSessionStore(options);
  const create = async (id: string, tenant: string, metadata = {}) => {
    await using session = await store.create({ id, tenant, metadata });
    session.append({ type: "title", title: id });
  };
  for (let index = 0; index < 20; index++) await create(`s${index}`, "acme");
  await create("other", "zoo");
  const link = { subAgentParentId: "s3", subAgentCallId: "c", subAgentPath: ["c"] };
  await create("sub_agent", "zoo", link);
  listed.clear();
  assertEquals((await store.deleteAll({ tenant: "acme" })).length, 20);
  const count = listed.get(`${directory}/other.jsonl`) ?? 0;
  assert(count > 0 && count < 5, `listed ${count} times`);
  assertEquals((await store.list()).map(({ id }) => id), ["other"]);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("FileSessionStore: deleteAll() keeps an old session that is written after it was listed", async () => {
  const directory = await Deno.makeTempDir();
  const line = (id: string, timestamp: number) =>
    JSON.stringify({ type: "title", title: id, id, parentId: null, timestamp }) + "\n";
  const files: FileSystem = {
    ...localFileSystem,
    remove: (path) => {
      localFileSystem.remove(path);
      if (path !== `${directory}/b.jsonl`) return;
      Deno.writeTextFileSync(`${directory}/a.jsonl`, line("new", Date.now()), { append: true });
    },
  };
  const options: FileStoreOptions = { directory, files };
  const store = new FileSessionStore(options);
  for (const id of ["a", "b"]) {
    const entries = [JSON.parse(line("old", 1))];
    await (await store.create({ id, created: 1, entries })).close();
  }
  assertEquals(await store.deleteAll({ updatedBefore: Date.now() - 60_000 }), ["b"]);
  assertEquals((await store.list()).map(({ id, entries }) => [id, entries]), [["a", 2]]);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("FileSessionStore: deleteAll() keeps the files of other programs and of later versions", async () => {
  const directory = await Deno.makeTempDir();
  const others = {
    "dataset.jsonl": `{"prompt":"one","completion":"two"}\n`,
    "empty.jsonl": "",
    "later.jsonl": `{"type":"session","version":99,"id":"later","created":1}\n`,
  };
  for (const [name, text] of Object.entries(others)) {
    await Deno.writeTextFile(`${directory}/${name}`, text);
  }
  // It can be neither opened nor deleted.
  await Deno.mkdir(`${directory}/nested.jsonl/file`, { recursive: true });
  const store = new FileSessionStore({ directory });
  const session = await store.create({ id: "old" });
  session.append({ type: "title", title: "Old" });
  await session.close();
  assertEquals(await store.deleteAll({ updatedBefore: Date.now() + 60_000 }), ["old"]);
  const names = Array.from(Deno.readDirSync(directory), ({ name }) => name);
  assertEquals(names.toSorted(), [...Object.keys(others), "nested.jsonl"]);
  await Deno.remove(directory, { recursive: true });
});
