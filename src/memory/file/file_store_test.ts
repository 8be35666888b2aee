import { testSessionStore } from "../../testing/session_conformance.ts";
import { assertEquals } from "@std/assert";
import { createNodeSystem } from "../../platform/system.ts";
import { FileSessionStore, type FileStoreOptions } from "./file_store.ts";
import type { FileSystem } from "./file_system.ts";
import { createLocalFileSystem, localFileSystem } from "./local_file_system.ts";

const fileSystems: Readonly<Record<string, FileSystem>> = {
  FileSessionStore: localFileSystem,
  "FileSessionStore on Node": createLocalFileSystem(createNodeSystem()),
};

for (const [kind, files] of Object.entries(fileSystems)) {
  testSessionStore((name, run) => Deno.test(`${kind}: ${name}`, run), async () => {
    const options: FileStoreOptions = { directory: await Deno.makeTempDir(), files };
    return {
      store: new FileSessionStore(options),
      reopen: () => new FileSessionStore(options),
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
