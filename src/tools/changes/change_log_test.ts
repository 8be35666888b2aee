import { assertEquals } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { ChangeLog, type ChangeLogStore, MemoryChangeLogStore, undoTurn } from "./change_log.ts";
import { DirectoryChangeLogStore } from "./directory_change_log_store.ts";

const stores: readonly (readonly [string, (folder: string) => ChangeLogStore])[] = [
  ["in memory", () => new MemoryChangeLogStore()],
  ["in a folder", (folder) => new DirectoryChangeLogStore(folder)],
];

for (const [where, makeStore] of stores) {
  Deno.test(`${where}: a turn's changes are undone, later ones first, earlier ones stay`, async () => {
    const folder = await Deno.makeTempDir();
    const journal = new ChangeLog(makeStore(`${folder}/journal`));
    await using bench = new TestWorkspace({}, { changeLog: journal });
    const write = (path: string, content: string) =>
      bench.callTool("write_file", { path, content });
    bench.writeFile("old.txt", "0");
    journal.beginTurn("a");
    await write("old.txt", "1");
    journal.beginTurn("b");
    await write("old.txt", "2");
    await bench.callTool("edit_file", {
      path: "old.txt",
      edits: [{ old_string: "2", new_string: "3" }],
    });
    await write("new/file.txt", "x");
    assertEquals(await journal.turns(), ["a", "b"]);
    assertEquals(await undoTurn(journal, { files: bench.sandbox.files }), {
      turn: "b",
      restored: ["old.txt"],
      removed: ["new/file.txt"],
      left: [],
    });
    assertEquals(bench.readFile("old.txt"), "1");
    assertEquals((await undoTurn(journal, { files: bench.sandbox.files })).turn, "a");
    assertEquals(bench.readFile("old.txt"), "0");
    assertEquals((await undoTurn(journal, { files: bench.sandbox.files })).turn, undefined);
    await Deno.remove(folder, { recursive: true });
  });

  Deno.test(`${where}: what something else changed since is left alone`, async () => {
    const folder = await Deno.makeTempDir();
    const journal = new ChangeLog(makeStore(`${folder}/journal`));
    await using bench = new TestWorkspace({}, { changeLog: journal });
    bench.writeFile("a.txt", "0");
    await bench.callTool("write_file", { path: "a.txt", content: "1" });
    bench.writeFile("a.txt", "by hand");
    const { left, restored } = await undoTurn(journal, { files: bench.sandbox.files });
    assertEquals([restored, left.map(({ path }) => path)], [[], ["a.txt"]]);
    assertEquals(bench.readFile("a.txt"), "by hand");
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("a journal in a folder survives a restart and a line that a crash cut off", async () => {
  const folder = await Deno.makeTempDir();
  const first = new ChangeLog(new DirectoryChangeLogStore(folder));
  await using bench = new TestWorkspace({}, { changeLog: first });
  bench.writeFile("a.txt", "0");
  await bench.callTool("write_file", { path: "a.txt", content: "1" });
  await Deno.writeTextFile(`${folder}/changes.jsonl`, '{"turn":"1","pa', { append: true });
  const second = new ChangeLog(new DirectoryChangeLogStore(folder));
  assertEquals((await undoTurn(second, { files: bench.sandbox.files })).restored, ["a.txt"]);
  assertEquals(bench.readFile("a.txt"), "0");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a turn that goes on after it was undone can be undone again", async () => {
  const journal = new ChangeLog();
  await using bench = new TestWorkspace({}, { changeLog: journal });
  for (let round = 0; round < 2; round++) {
    await bench.callTool("write_file", { path: "a.txt", content: "x" });
    const { removed } = await undoTurn(journal, { files: bench.sandbox.files });
    assertEquals(removed, ["a.txt"]);
  }
});
