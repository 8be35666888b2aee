import { assertEquals, assertRejects } from "@std/assert";
import type { SystemFile } from "../../platform/file_calls.ts";
import { type System, system } from "../../platform/system.ts";
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
