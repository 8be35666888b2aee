// Needs its own isolate: noted directories stay noted as long as they exist.
import { assert, assertEquals } from "@std/assert";
import { createSandbox } from "../tools/sandbox/local_sandbox.ts";
import { isInWritableDirectory, noteWritableDirectory } from "./writable_directories.ts";

Deno.test("isInWritableDirectory(): is true for a noted directory and for what is in it", async () => {
  const directory = await Deno.realPath(await Deno.makeTempDir());
  await Deno.mkdir(`${directory}/a/b`, { recursive: true });
  noteWritableDirectory(`${directory}/a`);
  const results = ["/a", "/a/b", "/a/b/c", "", "/ab", "/b/a"].map((name) =>
    isInWritableDirectory(directory + name)
  );
  assertEquals(results, [true, true, true, false, false, false]);
  assertEquals(isInWritableDirectory("/"), false);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("noteWritableDirectory(): forgets directories that are gone when there are many", async () => {
  const parent = await Deno.realPath(await Deno.makeTempDir());
  noteWritableDirectory(`${parent}/kept`);
  await Deno.mkdir(`${parent}/kept`);
  const gone = Array.from({ length: 20_000 }, (_, index) => `${parent}/gone-${index}`);
  gone.forEach(noteWritableDirectory);
  assert(gone.filter(isInWritableDirectory).length < 1_000);
  assert(isInWritableDirectory(`${parent}/kept/bin`));
  await Deno.remove(parent, { recursive: true });
});

Deno.test("Sandbox: notes a root again that was gone when directories were forgotten", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  await using sandbox = createSandbox({ cwd: root, confinement: "off" });
  await Deno.remove(root);
  for (let index = 0; index < 1_000; index++) noteWritableDirectory(`${root}-${index}`);
  assert(!isInWritableDirectory(root));
  await Deno.mkdir(root);
  const command = await sandbox.startCommand("true");
  assert(isInWritableDirectory(root));
  await command.output.cancel();
  await command.exited;
  await command.finish();
  await Deno.remove(root);
});
