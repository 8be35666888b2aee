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
