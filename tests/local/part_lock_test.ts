/**
 * Files of models that several processes write, on Deno and on other runtimes.
 */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { AgentError } from "../../mod.ts";
import { createDownload, exists, NAME } from "./download_fixture.ts";
import { createTinyModel } from "./tiny_model.ts";

/** Locks a part as a process on Deno does. */
function lock(part: string): Deno.FsFile {
  const file = Deno.openSync(`${part}.lock`, { create: true, write: true });
  assert(file.tryLockSync(true));
  return file;
}

/** Locks a part as a process on Node does, which is still running. */
function claim(part: string): void {
  const owner = { pid: Deno.ppid, started: Date.now() };
  Deno.writeTextFileSync(`${part}.lock`, JSON.stringify(owner));
}

Deno.test("ModelStore: does not write to a part that another process writes, on any runtime", async () => {
  await using download = await createDownload();
  const { part, store } = download;
  using file = lock(part);
  assertStringIncludes((await download.fail()).message, "Another process is downloading");
  assertEquals(await exists(part), false);
  file.unlockSync();
  claim(part);
  assertStringIncludes((await download.fail()).message, "Another process is downloading");
  await Deno.writeTextFile(part, "a part");
  const error = await assertRejects(() => store.remove(NAME), AgentError);
  assertStringIncludes(error.message, "is being downloaded");
  // A process that was killed leaves its lock.
  const ended = { pid: 2 ** 30, started: 0 };
  await Deno.writeTextFile(`${part}.lock`, JSON.stringify(ended));
  await download.run();
  assertEquals([await exists(part), await exists(`${part}.lock`)], [false, false]);
});

Deno.test("ModelStore: imports no model that another process imports with the same name", async () => {
  await using download = await createDownload();
  const { store } = download;
  const file = `${store.directory}/../mine.gguf`;
  await Deno.writeFile(file, createTinyModel());
  const part = `${store.directory}/mine.gguf.import`;
  claim(part);
  const busy = await assertRejects(() => store.importFile(file), AgentError);
  assertStringIncludes(busy.message, "Another process is importing mine");
  await Deno.writeTextFile(part, "half a model");
  const inUse = await assertRejects(() => store.remove("mine"), AgentError);
  assertStringIncludes(inUse.message, "is being imported");
  await Deno.remove(`${part}.lock`);
  const results = await Promise.allSettled([store.importFile(file), store.importFile(file)]);
  assertEquals(results.filter(({ status }) => status === "fulfilled").length, 1);
  assertEquals((await store.list()).map(({ name }) => name), ["mine"]);
  assertEquals(await store.listIncomplete(), []);
  await Deno.remove(file);
});
