import { assertEquals, assertRejects } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { nodeFiles } from "./cassette_files.ts";

async function listNames(path: string): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(path), ({ name }) => name);
  return names.toSorted();
}

Deno.test("a file is made with its folder, read, replaced and added to; nothing else is left", async () => {
  await using folder = await createTemporaryDirectory();
  const path = `${folder.path}/deep/er/a.jsonl`;
  assertEquals(await nodeFiles.read(path), undefined);
  await nodeFiles.replace(path, "one\n");
  await nodeFiles.append(path, "two\n");
  assertEquals(await nodeFiles.read(path), "one\ntwo\n");
  await nodeFiles.replace(path, "three\n");
  assertEquals(await nodeFiles.read(path), "three\n");
  assertEquals(await listNames(`${folder.path}/deep/er`), ["a.jsonl"]);
});

Deno.test("a file can be named by its address", async () => {
  await using folder = await createTemporaryDirectory();
  const address = new URL(`file://${encodeURI(folder.path)}/with%20space.jsonl`);
  await nodeFiles.replace(address, "one\n");
  await nodeFiles.append(address, "two\n");
  assertEquals(await nodeFiles.read(address), "one\ntwo\n");
  assertEquals(await listNames(folder.path), ["with space.jsonl"]);
});

Deno.test({
  name: "a file is for its owner alone",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await createTemporaryDirectory();
    const path = `${folder.path}/a.jsonl`;
    await nodeFiles.replace(path, "one\n");
    assertEquals((await Deno.stat(path)).mode, 0o100600);
  },
});

Deno.test("what is not a file is left alone, and a file that cannot be replaced leaves nothing behind", async () => {
  await using folder = await createTemporaryDirectory({ "a/b": "" });
  await assertRejects(() => nodeFiles.read(`${folder.path}/a`), Error, "is not a file");
  await assertRejects(() => nodeFiles.replace(`${folder.path}/a`, "one\n"));
  assertEquals(await listNames(folder.path), ["a"]);
});
