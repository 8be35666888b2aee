import { assertEquals } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { ChangeLog, type ChangeLogStore, MemoryChangeLogStore } from "./change_log.ts";
import { DirectoryChangeLogStore } from "./directory_change_log_store.ts";

const stores: readonly (readonly [string, (directory: string) => ChangeLogStore])[] = [
  ["MemoryChangeLogStore", () => new MemoryChangeLogStore()],
  ["DirectoryChangeLogStore", (directory) => new DirectoryChangeLogStore(directory)],
];

for (const [name, createStore] of stores) {
  Deno.test(`${name}: undoTurn() undoes the last turn first and leaves earlier turns`, async () => {
    const directory = await Deno.makeTempDir();
    const changeLog = new ChangeLog(createStore(`${directory}/log`));
    await using workspace = new TestWorkspace({}, { changeLog });
    const write = (path: string, content: string) =>
      workspace.callTool("write_file", { path, content });
    workspace.writeFile("old.txt", "0");
    changeLog.beginTurn("a");
    await write("old.txt", "1");
    changeLog.beginTurn("b");
    await write("old.txt", "2");
    await workspace.callTool("edit_file", {
      path: "old.txt",
      edits: [{ old_string: "2", new_string: "3" }],
    });
    await write("new/file.txt", "x");
    assertEquals(await changeLog.turns(), ["a", "b"]);
    assertEquals(await changeLog.undoTurn(workspace.sandbox.files), {
      turn: "b",
      restored: ["old.txt"],
      removed: ["new/file.txt"],
      left: [],
      removedDirectories: ["new"],
      untracked: [],
    });
    assertEquals(workspace.readFile("old.txt"), "1");
    assertEquals((await changeLog.undoTurn(workspace.sandbox.files)).turn, "a");
    assertEquals(workspace.readFile("old.txt"), "0");
    assertEquals((await changeLog.undoTurn(workspace.sandbox.files)).turn, undefined);
    await Deno.remove(directory, { recursive: true });
  });

  Deno.test(`${name}: undoTurn() does not touch files that were changed after the turn`, async () => {
    const directory = await Deno.makeTempDir();
    const changeLog = new ChangeLog(createStore(`${directory}/log`));
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile("a.txt", "0");
    await workspace.callTool("write_file", { path: "a.txt", content: "1" });
    workspace.writeFile("a.txt", "by hand");
    const { left, restored } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals([restored, left.map(({ path }) => path)], [[], ["a.txt"]]);
    assertEquals(workspace.readFile("a.txt"), "by hand");
    changeLog.beginTurn("2");
    await workspace.callTool("write_file", { path: "b.txt", content: "1" });
    Deno.removeSync(`${workspace.directory}/b.txt`);
    const { left: deleted } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(deleted.map(({ path }) => path), ["b.txt"]);
    await Deno.remove(directory, { recursive: true });
  });
}

Deno.test("DirectoryChangeLogStore: reads its entries after a restart, without a line truncated by a crash", async () => {
  const directory = await Deno.makeTempDir();
  const first = new ChangeLog(new DirectoryChangeLogStore(directory));
  await using workspace = new TestWorkspace({}, { changeLog: first });
  workspace.writeFile("a.txt", "0");
  await workspace.callTool("write_file", { path: "a.txt", content: "1" });
  await Deno.writeTextFile(`${directory}/changes.jsonl`, '{"turn":"1","pa', { append: true });
  const second = new ChangeLog(new DirectoryChangeLogStore(directory));
  assertEquals((await second.undoTurn(workspace.sandbox.files)).restored, ["a.txt"]);
  assertEquals(workspace.readFile("a.txt"), "0");
  await Deno.remove(directory, { recursive: true });
});

Deno.test("DirectoryChangeLogStore: after a restart, an undo gives the reasons why changes may remain, once", async () => {
  const directory = await Deno.makeTempDir();
  const first = new ChangeLog(new DirectoryChangeLogStore(directory));
  await using workspace = new TestWorkspace({}, { changeLog: first });
  await first.noteUntracked("earlier");
  first.beginTurn("2");
  await first.noteUntracked("a");
  await workspace.callTool("write_file", { path: "a.txt", content: "1" });
  await first.noteUntracked("b");
  first.beginTurn("3");
  await first.noteUntracked("c");
  const { files } = workspace.sandbox;
  const undo = async () => {
    const log = new ChangeLog(new DirectoryChangeLogStore(directory));
    const { removed, untracked } = await log.undoTurn(files);
    return [removed, untracked];
  };
  assertEquals(await undo(), [["a.txt"], ["a", "b", "c"]]);
  assertEquals(await undo(), [[], ["earlier"]]);
  assertEquals(await undo(), [[], []]);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("ChangeLog: a turn that changes files after it was undone can be undone again", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  for (let round = 0; round < 2; round++) {
    await workspace.callTool("write_file", { path: "a.txt", content: "x" });
    const { removed } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(removed, ["a.txt"]);
  }
});

Deno.test("ChangeLog: reports a removed file that cannot be created again for a file that was not restored", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  workspace.writeFile("a", "changed by the user");
  workspace.writeFile("b", "content");
  const { files, root } = workspace.sandbox;
  const content = new TextEncoder().encode("content");
  await changeLog.record(`${root}/a`, content, null);
  await changeLog.record(`${root}/b`, null, content);
  const failing: typeof files = new Proxy(files, {
    get(target, name: keyof typeof files) {
      if (name === "write") return () => Promise.reject(new Error("the disk is full"));
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const { left } = await changeLog.undoTurn(failing);
  assertEquals(left, [
    { path: "b", reason: "it was removed: the disk is full" },
    { path: "a", reason: "the file was changed after the turn" },
  ]);
});
