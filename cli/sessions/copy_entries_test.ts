import { assertEquals, assertRejects } from "@std/assert";
import { ChangeLog, MemoryChangeLogStore } from "../../src/tools/changes/change_log.ts";
import { TestWorkspace } from "../../tests/sandbox/test_workspace.ts";
import { copyEntries } from "./copy_entries.ts";

Deno.test("copyEntries(): copies the contents that an undo restores", async () => {
  const [source, target] = [new MemoryChangeLogStore(), new MemoryChangeLogStore()];
  await using workspace = new TestWorkspace({}, { changeLog: new ChangeLog(source) });
  workspace.writeFile("a", "before");
  await workspace.callTool("write_file", { path: "a", content: "after" });
  await copyEntries(source, target);
  const { restored } = await new ChangeLog(target).undoTurn(workspace.sandbox.files);
  assertEquals([restored, workspace.readFile("a")], [["a"], "before"]);
});

Deno.test("copyEntries(): copies the contents that a redo restores", async () => {
  const [source, target] = [new MemoryChangeLogStore(), new MemoryChangeLogStore()];
  const changeLog = new ChangeLog(source);
  await using workspace = new TestWorkspace({}, { changeLog });
  await workspace.callTool("write_file", { path: "a", content: "after" });
  const { files } = workspace.sandbox;
  await changeLog.undoTurn(files);
  await copyEntries(source, target);
  assertEquals((await new ChangeLog(target).redoTurn(files)).restored, ["a"]);
  assertEquals(workspace.readFile("a"), "after");
});

Deno.test("copyEntries(): copies the contents that a redo restores after an undo that was interrupted", async () => {
  const [source, target] = [new MemoryChangeLogStore(), new MemoryChangeLogStore()];
  const changeLog = new ChangeLog(source);
  await using workspace = new TestWorkspace({}, { changeLog });
  await workspace.callTool("write_file", { path: "a", content: "after" });
  const { files } = workspace.sandbox;
  source.append = (entry) =>
    entry.type === "undone"
      ? Promise.reject(new Error("stopped"))
      : MemoryChangeLogStore.prototype.append.call(source, entry);
  await assertRejects(() => changeLog.undoTurn(files), Error, "stopped");
  await copyEntries(source, target);
  const copy = new ChangeLog(target);
  assertEquals((await copy.undoTurn(files)).removed, ["a"]);
  assertEquals((await copy.redoTurn(files)).restored, ["a"]);
  assertEquals(workspace.readFile("a"), "after");
});
