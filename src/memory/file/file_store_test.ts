import { testSessionStore } from "../../testing/session_conformance.ts";
import { assertEquals } from "@std/assert";
import { FileSessionStore } from "./file_store.ts";

testSessionStore((name, run) => Deno.test(`FileSessionStore: ${name}`, run), async () => {
  const directory = await Deno.makeTempDir();
  return {
    store: new FileSessionStore({ directory }),
    reopen: () => new FileSessionStore({ directory }),
    dispose: () => Deno.remove(directory, { recursive: true }),
  };
});

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
