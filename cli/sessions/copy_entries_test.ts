import { assertEquals } from "@std/assert";
import { ChangeLog, MemoryChangeLogStore } from "../../src/tools/changes/change_log.ts";
import { TestWorkspace } from "../../tests/sandbox/test_workspace.ts";
import { copyEntries } from "./copy_entries.ts";

Deno.test("copyEntries(): copies the contents that an undo restores and those that it keeps", async () => {
  const [source, target] = [new MemoryChangeLogStore(), new MemoryChangeLogStore()];
  await using workspace = new TestWorkspace();
  const { files, root } = workspace.sandbox;
  const [before, after] = ["before", "after"].map((text) => new TextEncoder().encode(text));
  await new ChangeLog(source).record(`${root}/a`, before ?? null, after ?? null, {
    keepsAfter: true,
  });
  workspace.writeFile("a", "after");
  await copyEntries(source, target);
  const { restored, left } = await new ChangeLog(target).undoTurn(files);
  assertEquals([restored, left.map(({ path }) => path)], [["a"], ["a.replaced"]]);
  assertEquals(["a", "a.replaced"].map((path) => workspace.readFile(path)), ["before", "after"]);
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
