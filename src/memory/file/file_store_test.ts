import { testSessionStore } from "../../testing/session_conformance.ts";
import { assertEquals } from "@std/assert";
import { FileSessionStore } from "./file_store.ts";

testSessionStore((name, run) => Deno.test(`in files, ${name}`, run), async () => {
  const directory = await Deno.makeTempDir();
  return {
    store: new FileSessionStore({ directory }),
    reopen: () => new FileSessionStore({ directory }),
    dispose: () => Deno.remove(directory, { recursive: true }),
  };
});

Deno.test({
  name: "files are for their owner's eyes only",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    const directory = `${await Deno.makeTempDir()}/sessions`;
    const session = await new FileSessionStore({ directory }).create({ id: "s" });
    session.append({ type: "title", title: "private" });
    await session.flush();
    const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;
    assertEquals(modeOf(directory), 0o700);
    assertEquals([modeOf(`${directory}/s.jsonl`), modeOf(`${directory}/s.lock`)], [0o600, 0o600]);
    await session.close();
    assertEquals(modeOf(`${directory}/s.index`), 0o600);
    await Deno.remove(directory, { recursive: true });
  },
});
