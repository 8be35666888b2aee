import { assertEquals } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { ChangeLog, MemoryChangeLogStore } from "./change_log.ts";
import type { ChangeLogStore } from "./change_log_entry.ts";
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

  Deno.test(`${name}: redoTurn() makes undone changes again, the last undo first, which can be undone again`, async () => {
    const directory = await Deno.makeTempDir();
    const log = () => new ChangeLog(store);
    const store = createStore(`${directory}/log`);
    const changeLog = log();
    await using workspace = new TestWorkspace({}, { changeLog });
    const { files } = workspace.sandbox;
    const run = (command: string) => workspace.callTool("bash", { command });
    const list = () =>
      listFiles(workspace.directory).map((path) => `${path}: ${workspace.readFile(path)}`);
    workspace.writeFile("a", "0");
    workspace.writeFile("b", "0");
    changeLog.beginTurn("1");
    await run("printf 1 > a");
    await workspace.callTool("write_file", { path: "new/c", content: "1" });
    changeLog.beginTurn("2");
    await run("printf 2 > a; rm b");
    const changed = list();
    const report = { restored: [], removed: [], left: [] };
    assertEquals(await log().redoTurn(files), { turn: undefined, ...report });
    for (let round = 0; round < 2; round++) {
      await log().undoTurn(files);
      await log().undoTurn(files);
      assertEquals(list(), ["a: 0", "b: 0"]);
      assertEquals(await log().redoTurn(files), {
        ...report,
        ...{ turn: "1", restored: ["a", "new/c"] },
      });
      assertEquals(await log().redoTurn(files), {
        ...report,
        ...{ turn: "2", restored: ["a"], removed: ["b"] },
      });
      assertEquals(list(), changed);
      assertEquals((await log().redoTurn(files)).turn, undefined);
      assertEquals(await log().turns(), ["1", "2"]);
    }
    const { removedDirectories } = await log().undoTurn(files, "1");
    assertEquals(removedDirectories, ["new"]);
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

Deno.test("DirectoryChangeLogStore: reads the entry after a line that was cut", async () => {
  const directory = await Deno.makeTempDir();
  const changeLog = new ChangeLog(new DirectoryChangeLogStore(directory));
  await using workspace = new TestWorkspace({}, { changeLog });
  workspace.writeFile("a.txt", "0");
  await Deno.writeTextFile(`${directory}/changes.jsonl`, '{"turn":"1","pa', { append: true });
  await workspace.callTool("write_file", { path: "a.txt", content: "1" });
  assertEquals((await changeLog.undoTurn(workspace.sandbox.files)).restored, ["a.txt"]);
  assertEquals(workspace.readFile("a.txt"), "0");
  await Deno.remove(directory, { recursive: true });
});

Deno.test("DirectoryChangeLogStore: does not restore a content that was damaged, and saves it again", async () => {
  const directory = await Deno.makeTempDir();
  const changeLog = new ChangeLog(new DirectoryChangeLogStore(directory));
  await using workspace = new TestWorkspace({}, { changeLog });
  const write = (content: string) => workspace.callTool("write_file", { path: "a.txt", content });
  workspace.writeFile("a.txt", "0");
  await write("1");
  const contents = listFiles(`${directory}/contents`);
  for (const name of contents) Deno.truncateSync(`${directory}/contents/${name}`, 0);
  const { files } = workspace.sandbox;
  assertEquals((await changeLog.undoTurn(files)).left, [
    { path: "a.txt", reason: "the earlier content is not in the store" },
  ]);
  assertEquals(workspace.readFile("a.txt"), "1");
  await write("0");
  changeLog.beginTurn("2");
  await write("2");
  assertEquals((await changeLog.undoTurn(files)).restored, ["a.txt"]);
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

Deno.test("ChangeLog: an undo does not report files that the turn itself has removed again", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  const write = (path: string) => workspace.callTool("write_file", { path, content: "x" });
  const remove = (path: string) => workspace.callTool("bash", { command: `rm ${path}` });
  await write("a");
  await write("temporary");
  await remove("temporary");
  changeLog.beginTurn("2");
  await write("b");
  await remove("b");
  assertEquals(await changeLog.turns(), ["1"]);
  const { turn, restored, removed, left } = await changeLog.undoTurn(files);
  assertEquals([turn, restored, removed, left], ["1", [], ["a"], []]);
  assertEquals((await changeLog.redoTurn(files)).restored, ["a"]);
});

Deno.test("ChangeLog: an undo of a turn with only temporary files removes their directories", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  await workspace.callTool("write_file", { path: "directory/file", content: "temporary" });
  await workspace.callTool("bash", { command: "rm directory/file" });
  const { turn, removedDirectories } = await changeLog.undoTurn(workspace.sandbox.files, "1");
  assertEquals([turn, removedDirectories], [undefined, ["directory"]]);
  assertEquals(workspace.exists("directory"), false);
});

Deno.test("ChangeLog: redoTurn() does not touch files that were changed after the undo, and makes their changes later", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  for (const path of ["a", "b"]) {
    await workspace.callTool("write_file", { path, content: path });
  }
  changeLog.beginTurn("2");
  await workspace.callTool("write_file", { path: "c", content: "c" });
  await changeLog.undoTurn(files);
  await changeLog.undoTurn(files);
  workspace.writeFile("a", "by hand");
  const first = await changeLog.redoTurn(files);
  assertEquals([first.turn, first.restored], ["1", ["b"]]);
  assertEquals(first.left, [{ path: "a", reason: "the file was changed after the undo" }]);
  assertEquals(workspace.readFile("a"), "by hand");
  const second = await changeLog.redoTurn(files);
  assertEquals([second.turn, second.restored], ["2", ["c"]]);
  assertEquals(second.left.map(({ path }) => path), ["a"]);
  assertEquals((await changeLog.redoTurn(files)).turn, undefined);
  Deno.removeSync(`${workspace.directory}/a`);
  assertEquals((await changeLog.redoTurn(files)).restored, ["a"]);
  assertEquals(workspace.readFile("a"), "a");
});

Deno.test("ChangeLog: redoTurn() makes each change once, also of a turn of which only some were made again before the next undo", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  for (const path of ["a", "b"]) {
    await workspace.callTool("write_file", { path, content: path });
  }
  await changeLog.undoTurn(files);
  workspace.writeFile("b", "by hand");
  assertEquals((await changeLog.redoTurn(files)).restored, ["a"]);
  await changeLog.undoTurn(files);
  Deno.removeSync(`${workspace.directory}/b`);
  assertEquals((await changeLog.redoTurn(files)).restored, ["a"]);
  assertEquals((await changeLog.redoTurn(files)).restored, ["b"]);
  assertEquals((await changeLog.redoTurn(files)).turn, undefined);
});

Deno.test("ChangeLog: redoTurn() makes a file of a directory again, and a directory of a file", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  for (const path of ["file", "directory/deep/a", "directory/b"]) workspace.writeFile(path, path);
  const command = "rm -r file directory; mkdir file; echo x > file/x; echo y > directory";
  await workspace.callTool("bash", { command });
  const { files } = workspace.sandbox;
  const { left } = await changeLog.undoTurn(files);
  assertEquals([left, listFiles(workspace.directory)], [[], [
    "directory/b",
    "directory/deep/a",
    "file",
  ]]);
  const redone = await changeLog.redoTurn(files);
  assertEquals([redone.left, listFiles(workspace.directory)], [[], ["directory", "file/x"]]);
});

Deno.test("ChangeLog: redoTurn() removes the empty directories that the undo made, and no others", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  workspace.writeFile("old/deep/a", "a");
  workspace.writeFile("kept/b", "b");
  await workspace.callTool("bash", { command: "mv old new; rm kept/b" });
  const { files } = workspace.sandbox;
  await changeLog.undoTurn(files);
  assertEquals(listFiles(workspace.directory), ["kept/b", "old/deep/a"]);
  await changeLog.redoTurn(files);
  assertEquals([...Deno.readDirSync(workspace.directory)].map(({ name }) => name).sort(), [
    "kept",
    "new",
  ]);
});

Deno.test("ChangeLog: the last turn is that of the last change, also if another one has a later reason", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  for (const turn of ["1", "2"]) {
    changeLog.beginTurn(turn);
    await workspace.callTool("write_file", { path: turn, content: turn });
  }
  changeLog.beginTurn("1");
  await changeLog.noteUntracked("a background job");
  const { turn, removed } = await changeLog.undoTurn(workspace.sandbox.files);
  assertEquals([turn, removed], ["2", ["2"]]);
});

/** Lists the paths of the files in a directory, sorted. */
function listFiles(directory: string): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) =>
    isDirectory ? listFiles(`${directory}/${name}`).map((path) => `${name}/${path}`) : name
  ).sort();
}
