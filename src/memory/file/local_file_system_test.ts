import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { SessionError } from "../../core/errors/errors.ts";
import type { SystemFile } from "../../platform/file_calls.ts";
import { type System, system } from "../../platform/system.ts";
import { FileSessionStore } from "./file_store.ts";
import { createLocalFileSystem } from "./local_file_system.ts";

/** A system that records the order of some operations on files. */
function createRecordingSystem(operations: string[]): System {
  return {
    ...system,
    open: async (path, options) => {
      const file = await system.open(path, options);
      const syncData = async () => {
        operations.push("sync");
        await file.syncData();
      };
      return new Proxy(file, {
        get: (target, name) => {
          if (name === "syncData") return syncData;
          const member = target[name as keyof SystemFile];
          return typeof member === "function" ? member.bind(target) : member;
        },
      });
    },
    rename: async (from, to) => {
      operations.push("rename");
      await system.rename(from, to);
    },
  };
}

Deno.test("replace(): syncs the new file before it takes the place of the old one, if requested", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/log`;
  for (const sync of [true, false]) {
    const operations: string[] = [];
    const files = createLocalFileSystem(createRecordingSystem(operations));
    await files.replace(path, `sync: ${sync}`, { sync });
    assertEquals(operations, sync ? ["sync", "rename"] : ["rename"]);
    assertEquals(await Deno.readTextFile(path), `sync: ${sync}`);
  }
  await Deno.remove(directory, { recursive: true });
});

Deno.test("replace(): leaves no temporary file when the new one cannot be put in place", async () => {
  const directory = await Deno.makeTempDir();
  await Deno.mkdir(`${directory}/log/nested`, { recursive: true });
  const files = createLocalFileSystem(system);
  await assertRejects(() => files.replace(`${directory}/log`, "text", { sync: false }));
  assertEquals(Array.from(Deno.readDirSync(directory), ({ name }) => name), ["log"]);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("FileSessionStore: a named pipe in the place of a file is not opened, which would block", async () => {
  const directory = await Deno.makeTempDir();
  const store = new FileSessionStore({ directory });
  const makePipe = (name: string) =>
    new Deno.Command("mkfifo", { args: [`${directory}/${name}`] }).outputSync();
  const written = await store.create({ id: "s" });
  written.append({ type: "title", title: "needle" });
  await written.close();
  for (const name of ["s.index", "other.index", "pipe.jsonl"]) {
    await Deno.remove(`${directory}/${name}`).catch(() => {});
    makePipe(name);
  }
  const listed = (await store.list()).map(({ id, problem }) => [id, problem !== undefined]);
  assertEquals(Object.fromEntries(listed), { s: false, pipe: true });
  assertEquals((await store.search("needle")).map(({ sessionId }) => sessionId), ["s"]);
  const searchPipe = () => store.search("needle", { sessionId: "pipe" });
  await assertRejects(searchPipe, SessionError, "is not a file");
  await assertRejects(() => store.open("pipe"), SessionError);
  const session = await store.open("s");
  session.append({ type: "title", title: "more" });
  await session.close();
  assertEquals((await store.list()).find(({ id }) => id === "s")?.entries, 2);
  makePipe("s.lock");
  await assertRejects(() => store.open("s"), SessionError, 's.lock" is not a file: remove it');
  await Deno.remove(directory, { recursive: true });
});

/** Makes a link to a file with a text; returns a function that reads the file. */
function makeLink(path: string, target: string, text = "precious"): () => string {
  Deno.writeTextFileSync(target, text);
  Deno.symlinkSync(target, path);
  return () => Deno.readTextFileSync(target);
}

Deno.test("FileSessionStore: a link in the place of a lock is refused, and its target is kept", async () => {
  const directory = await Deno.makeTempDir();
  const elsewhere = await Deno.makeTempDir();
  const store = new FileSessionStore({ directory });
  const written = await store.create({ id: "s" });
  written.append({ type: "title", title: "one" });
  await written.close();
  const readTarget = makeLink(`${directory}/s.lock`, `${elsewhere}/notes`);
  const message = 's.lock" is a symbolic link: remove it';
  await assertRejects(() => store.open("s"), SessionError, message);
  await assertRejects(() => store.delete("s"), SessionError, message);
  assertEquals(readTarget(), "precious");
  await Deno.remove(`${elsewhere}/notes`);
  await assertRejects(() => store.open("s"), SessionError, message);
  assertEquals(Array.from(Deno.readDirSync(elsewhere)), []);
  await Deno.remove(`${directory}/s.lock`);
  await (await store.open("s")).close();
  for (const path of [directory, elsewhere]) await Deno.remove(path, { recursive: true });
});

Deno.test("FileSessionStore: nothing is appended to a log through a link", async () => {
  const directory = await Deno.makeTempDir();
  const elsewhere = await Deno.makeTempDir();
  const stores = [directory, elsewhere].map((directory) => new FileSessionStore({ directory }));
  const [store, other] = stores as [FileSessionStore, FileSessionStore];
  const written = await other.create({ id: "s" });
  written.append({ type: "title", title: "one" });
  await written.close();
  const before = await Deno.readTextFile(`${elsewhere}/s.jsonl`);
  await Deno.symlink(`${elsewhere}/s.jsonl`, `${directory}/s.jsonl`);
  const session = await store.open("s");
  session.append({ type: "title", title: "two" });
  await assertRejects(() => session.flush(), SessionError, 's.jsonl" is a symbolic link');
  await session.close();
  assertEquals(await Deno.readTextFile(`${elsewhere}/s.jsonl`), before);
  for (const path of [directory, elsewhere]) await Deno.remove(path, { recursive: true });
});

Deno.test("FileSystem: links in the place of temporary files and copies are replaced, and their targets kept", async () => {
  const directory = await Deno.makeTempDir();
  const files = createLocalFileSystem(system);
  const readTargets = [
    makeLink(`${directory}/log.${system.pid}.tmp`, `${directory}/one`),
    makeLink(`${directory}/copy`, `${directory}/two`),
  ];
  await files.replace(`${directory}/log`, "text", { sync: true });
  await files.copy(`${directory}/log`, `${directory}/copy`);
  assertEquals(readTargets.map((read) => read()), ["precious", "precious"]);
  for (const name of ["log", "copy"]) {
    assertEquals(await Deno.readTextFile(`${directory}/${name}`), "text");
    assertEquals((await Deno.lstat(`${directory}/${name}`)).isSymlink, false);
  }
  await Deno.remove(directory, { recursive: true });
});

Deno.test("openToLock(): a link that replaces the file while it is opened is not followed", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/s.lock`;
  await Deno.writeTextFile(path, "");
  let readTarget = () => "";
  const files = createLocalFileSystem({
    ...system,
    openSync: (opened, options) => {
      if (readTarget() === "") {
        Deno.removeSync(path);
        readTarget = makeLink(path, `${directory}/notes`);
      }
      return system.openSync(opened, options);
    },
  });
  assertThrows(() => files.openToLock(path), Error, "is a symbolic link");
  assertEquals(readTarget(), "precious");
  await Deno.remove(directory, { recursive: true });
});

Deno.test("openToLock(): tries again when another process creates or removes the file meanwhile", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/s.lock`;
  let changes = 0;
  const files = createLocalFileSystem({
    ...system,
    openSync: (opened, options) => {
      if (changes++ < 4) {
        if (options?.createNew) Deno.writeTextFileSync(path, "");
        else Deno.removeSync(path);
      }
      return system.openSync(opened, options);
    },
  });
  files.openToLock(path).close();
  assertEquals(changes, 5);
  await Deno.remove(directory, { recursive: true });
});
