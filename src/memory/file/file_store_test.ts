import { testSessionStore } from "../../testing/session_conformance.ts";
import { FileSessionStore } from "./file_store.ts";

testSessionStore((name, run) => Deno.test(`in files, ${name}`, run), async () => {
  const directory = await Deno.makeTempDir();
  return {
    store: new FileSessionStore({ directory }),
    reopened: () => new FileSessionStore({ directory }),
    dispose: () => Deno.remove(directory, { recursive: true }),
  };
});
