import { storeFrom } from "../../src/memory/mod.ts";
import type { EntryStorage } from "../../src/memory/mod.ts";
import { testSessionStore } from "../../src/testing/mod.ts";
import { root } from "../project.ts";

/** The guide's code, with its imports from this checkout. */
interface GuideModule {
  readonly createKeyValueStorage: (values: Map<string, string>) => EntryStorage;
}

async function importGuide(): Promise<GuideModule> {
  const guide = await Deno.readTextFile(new URL("docs/sessions.md", root));
  const block = guide.split("```ts\n").find((text) => text.includes("createKeyValueStorage("));
  const code = block?.split("```")[0] ?? "";
  const memory = new URL("src/memory/mod.ts", root).href;
  const source = code.replace("@swink/agent/memory", memory);
  return await import(`data:application/typescript,${encodeURIComponent(source)}`);
}

const { createKeyValueStorage } = await importGuide();

testSessionStore((name, run) => Deno.test(`docs/sessions.md: ${name}`, run), () => {
  const values = new Map<string, string>();
  let offset = 0;
  const open = () => storeFrom(createKeyValueStorage(values), { now: () => Date.now() + offset });
  return {
    store: open(),
    reopen: open,
    damage: (id, position) => {
      const session = JSON.parse(values.get(`session:${id}`) ?? "");
      session.entries[position].line = "";
      values.set(`session:${id}`, JSON.stringify(session));
    },
    endLease: () => void (offset += 30_001),
  };
});
