import { assertEquals, assertRejects } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { localFiles } from "./cassette_files.ts";

async function listNames(path: string): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(path), ({ name }) => name);
  return names.toSorted();
}

Deno.test("localFiles: creates directories, reads, replaces and appends, and leaves no temporary file", async () => {
  await using directory = await createTemporaryDirectory();
  const path = `${directory.path}/deep/er/a.jsonl`;
  assertEquals(await localFiles.read(path), undefined);
  await localFiles.replace(path, "one\n");
  await localFiles.append(path, "two\n");
  assertEquals(await localFiles.read(path), "one\ntwo\n");
  await localFiles.replace(path, "three\n");
  assertEquals(await localFiles.read(path), "three\n");
  assertEquals(await listNames(`${directory.path}/deep/er`), ["a.jsonl"]);
});

Deno.test("localFiles: accepts file URLs", async () => {
  await using directory = await createTemporaryDirectory();
  const url = new URL(`file://${encodeURI(directory.path)}/with%20space.jsonl`);
  await localFiles.replace(url, "one\n");
  await localFiles.append(url, "two\n");
  assertEquals(await localFiles.read(url), "one\ntwo\n");
  assertEquals(await listNames(directory.path), ["with space.jsonl"]);
});

Deno.test({
  name: "localFiles.replace() creates a file that only its owner can read",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using directory = await createTemporaryDirectory();
    const path = `${directory.path}/a.jsonl`;
    await localFiles.replace(path, "one\n");
    assertEquals((await Deno.stat(path)).mode, 0o100600);
  },
});

Deno.test("localFiles: rejects a directory, and leaves no temporary file when it cannot be replaced", async () => {
  await using directory = await createTemporaryDirectory({ "a/b": "" });
  await assertRejects(() => localFiles.read(`${directory.path}/a`), Error, "is not a file");
  await assertRejects(() => localFiles.replace(`${directory.path}/a`, "one\n"));
  assertEquals(await listNames(directory.path), ["a"]);
});
