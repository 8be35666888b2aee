import { assertEquals, assertRejects } from "@std/assert";
import { AbortedError } from "../../mod.ts";
import { createSandbox } from "../../src/tools/mod.ts";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { ClientFiles } from "./client_files.ts";

Deno.test("ClientFiles: a write that is cancelled while the editor does not answer changes nothing on disk", async () => {
  await using home = await createTemporaryDirectory({ "a.txt": "one\n" });
  await using sandbox = createSandbox({ cwd: home.path });
  const asked = Promise.withResolvers<void>();
  const files = new ClientFiles(sandbox.files, {
    writeTextFile() {
      asked.resolve();
      return new Promise(() => {});
    },
  });
  const abort = new AbortController();
  const { signal } = abort;
  const written = files.write("a.txt", new TextEncoder().encode("two\n"), { signal });
  await asked.promise;
  abort.abort();
  await assertRejects(() => written, AbortedError);
  assertEquals(await Deno.readTextFile(`${home.path}/a.txt`), "one\n");
});
