import { assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../core/errors.ts";
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
