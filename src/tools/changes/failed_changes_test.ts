import { assert, assertEquals, assertRejects } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { hashContent } from "../text/content_hash.ts";
import { ChangeLog, MemoryChangeLogStore } from "./change_log.ts";
import type { ChangeLogEntry } from "./change_log_entry.ts";
import { DirectoryChangeLogStore } from "./directory_change_log_store.ts";

Deno.test("ChangeLog: reports a removed file that cannot be created again for a file that was not restored", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  workspace.writeFile("a", "changed by the user");
  workspace.writeFile("b", "content");
  const { files, root } = workspace.sandbox;
  const content = new TextEncoder().encode("content");
  await changeLog.record(`${root}/a`, content, null);
  await changeLog.record(`${root}/b`, null, content);
  const { left } = await changeLog.undoTurn(createFailing(files));
  assertEquals(left, [
    { path: "b", reason: "it was removed: the disk is full" },
    { path: "a", reason: "the file was changed after the turn" },
  ]);
});

Deno.test("ChangeLog: an undo removes no file whose content cannot be stored", async () => {
  class FullStore extends MemoryChangeLogStore {
    isFull = false;
    override saveContent(hash: string, content: Uint8Array): Promise<void> {
      return this.isFull
        ? Promise.reject(new Error("the disk is full"))
        : super.saveContent(hash, content);
    }
  }
  const store = new FullStore();
  const changeLog = new ChangeLog(store);
  await using workspace = new TestWorkspace({}, { changeLog });
  workspace.writeFile("old", "0");
  for (const path of ["new", "old"]) {
    await workspace.callTool("write_file", { path, content: "1" });
  }
  store.isFull = true;
  const { left } = await changeLog.undoTurn(workspace.sandbox.files);
  assertEquals(left, ["new", "old"].map((path) => ({ path, reason: "the disk is full" })));
  assertEquals(["new", "old"].map((path) => workspace.readFile(path)), ["1", "1"]);
});

Deno.test("ChangeLog: an undo that was interrupted continues, and a redo makes all of its changes again", async () => {
  const store = new FailingStore();
  const changeLog = new ChangeLog(store);
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  for (const path of ["changed", "other", "removed"]) workspace.writeFile(path, "0");
  for (const path of ["changed", "new", "other"]) {
    await workspace.callTool("write_file", { path, content: "1" });
  }
  await workspace.callTool("bash", { command: "rm removed" });
  store.failing = "undone";
  await assertRejects(() => changeLog.undoTurn(files), Error, "stopped");
  store.failing = undefined;
  workspace.writeFile("other", "1");
  const undone = await changeLog.undoTurn(files);
  assertEquals([undone.restored, undone.removed, undone.left], [
    ["changed", "other", "removed"],
    ["new"],
    [],
  ]);
  assertEquals((await changeLog.redoTurn(files)).left, []);
  assertEquals(workspace.exists("removed"), false);
  for (const path of ["changed", "new", "other"]) assertEquals(workspace.readFile(path), "1");
});

Deno.test("ChangeLog: a redo that was interrupted continues", async () => {
  const store = new MemoryChangeLogStore();
  const changeLog = new ChangeLog(store);
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files, root } = workspace.sandbox;
  for (const path of ["a", "b"]) {
    await workspace.callTool("write_file", { path, content: path });
  }
  await changeLog.undoTurn(files);
  const [entry] = await store.entries();
  assert(entry?.type === "change" && entry.path === `${root}/a`);
  await store.append(entry);
  workspace.writeFile("a", "a");
  assertEquals((await changeLog.redoTurn(files)).restored, ["a", "b"]);
  assertEquals((await changeLog.undoTurn(files)).removed, ["a", "b"]);
});

Deno.test("ChangeLog: a redo that cannot write a file can be repeated, and is no step of an undo", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  for (const turn of ["1", "2"]) {
    changeLog.beginTurn(turn);
    await workspace.callTool("write_file", { path: turn, content: turn });
  }
  await changeLog.undoTurn(files);
  const { left } = await changeLog.redoTurn(createFailing(files));
  assertEquals(left, [{ path: "2", reason: "the disk is full" }]);
  assertEquals(await changeLog.turns(), ["1"]);
  assertEquals((await changeLog.redoTurn(files)).restored, ["2"]);
  assertEquals(await changeLog.turns(), ["1", "2"]);
});

Deno.test("ChangeLog: an undo does not forget an earlier turn with a reason that could not be stored", async () => {
  const store = new FailingStore();
  const changeLog = new ChangeLog(store);
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  for (const turn of ["1", "2"]) {
    changeLog.beginTurn(turn);
    await workspace.callTool("write_file", { path: turn, content: turn });
    store.failing = "untracked";
    await changeLog.noteUntracked(`a reason of ${turn}`);
    store.failing = undefined;
  }
  const undone = [await changeLog.undoTurn(files), await changeLog.undoTurn(files)];
  assertEquals(undone.map(({ removed, untracked }) => [removed, untracked]), [
    [["2"], ["a reason of 2"]],
    [["1"], ["a reason of 1"]],
  ]);
});

Deno.test("ChangeLog: a redo that was interrupted continues without a write to the files that it has changed", async () => {
  const store = new FailingStore();
  const changeLog = new ChangeLog(store);
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  await workspace.callTool("write_file", { path: "a", content: "a" });
  await changeLog.undoTurn(files);
  store.failing = "redone";
  await assertRejects(() => changeLog.redoTurn(files), Error, "stopped");
  store.failing = undefined;
  assertEquals((await changeLog.redoTurn(createFailing(files))).restored, ["a"]);
  assertEquals((await changeLog.undoTurn(files)).removed, ["a"]);
});

Deno.test("ChangeLog: an undo that was interrupted continues without a write to the files that it has restored", async () => {
  const store = new FailingStore();
  const changeLog = new ChangeLog(store);
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  workspace.writeFile("a", "before");
  await workspace.callTool("write_file", { path: "a", content: "after" });
  store.failing = "undone";
  await assertRejects(() => changeLog.undoTurn(files), Error, "stopped");
  store.failing = undefined;
  assertEquals((await changeLog.undoTurn(createFailing(files))).restored, ["a"]);
  assertEquals((await changeLog.redoTurn(files)).restored, ["a"]);
  assertEquals(workspace.readFile("a"), "after");
});

Deno.test("ChangeLog: a redo keeps a content that an undo did not need from the store", async () => {
  const store = new MemoryChangeLogStore();
  const changeLog = new ChangeLog(store);
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files, root } = workspace.sandbox;
  const [before, after] = await Promise.all(["before", "after"].map(async (text) => {
    const content = new TextEncoder().encode(text);
    return { content, hash: await hashContent(content) };
  }));
  assert(before && after);
  await store.saveContent(after.hash, after.content);
  await store.append({
    ...{ type: "change", turn: "1", path: `${root}/a`, madeDirectories: [] },
    ...{ before: before.hash, after: after.hash },
  });
  await store.append({ type: "undo_start", turn: "1" });
  workspace.writeFile("a", "before");
  await changeLog.undoTurn(files);
  assertEquals((await changeLog.redoTurn(files)).restored, ["a"]);
  assertEquals((await changeLog.undoTurn(files)).restored, ["a"]);
  assertEquals(workspace.readFile("a"), "before");
});

Deno.test("ChangeLog: a redo that can write neither a file nor the log can be repeated and undone", async () => {
  const store = new FailingStore();
  const changeLog = new ChangeLog(store);
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  await workspace.callTool("write_file", { path: "a", content: "a" });
  await changeLog.undoTurn(files);
  const full = createFailing(files, {
    isFailing: () => {
      store.failing = "change";
      return true;
    },
  });
  const { left } = await changeLog.redoTurn(full);
  assertEquals(left, [{ path: "a", reason: "the disk is full" }]);
  store.failing = undefined;
  assertEquals((await changeLog.redoTurn(files)).restored, ["a"]);
  assertEquals((await changeLog.undoTurn(files)).removed, ["a"]);
});

Deno.test("ChangeLog: an undo that fails can be repeated, and one that fails again goes on to the turn before", async () => {
  const directory = await Deno.makeTempDir();
  const changeLog = () => new ChangeLog(new DirectoryChangeLogStore(directory));
  const log = changeLog();
  await using workspace = new TestWorkspace({}, { changeLog: log });
  const { files } = workspace.sandbox;
  const failing = createFailing(files);
  for (const turn of ["1", "2"]) {
    log.beginTurn(turn);
    workspace.writeFile(turn, "before");
    await workspace.callTool("write_file", { path: turn, content: "after" });
    await workspace.callTool("write_file", { path: `new${turn}`, content: "new" });
  }
  const left = (path: string) => ({ path, reason: "the disk is full" });
  const first = await changeLog().undoTurn(failing);
  assertEquals([first.turn, first.removed, first.left], ["2", ["new2"], [left("2")]]);
  assertEquals(await changeLog().turns(), ["1", "2"]);
  const again = await changeLog().undoTurn(failing);
  assertEquals([again.turn, again.removed, again.left], ["1", ["new1"], [left("2"), left("1")]]);
  for (const turn of ["2", "1"]) {
    const last = await changeLog().undoTurn(files);
    assertEquals([last.turn, last.restored, last.left], [turn, [turn], []]);
  }
  assertEquals(await changeLog().turns(), []);
  for (let redone = 0; redone < 4; redone++) await changeLog().redoTurn(files);
  for (const turn of ["1", "2"]) {
    assertEquals([turn, `new${turn}`].map((path) => workspace.readFile(path)), ["after", "new"]);
  }
  await Deno.remove(directory, { recursive: true });
});

Deno.test("ChangeLog: an undo that fails keeps the changes that earlier turns made in the same files", async () => {
  for (const turns of [["2", "1"], [undefined, undefined]]) {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    const { files } = workspace.sandbox;
    workspace.writeFile("a", "0");
    for (const turn of ["1", "2"]) {
      changeLog.beginTurn(turn);
      await workspace.callTool("write_file", { path: "a", content: turn });
    }
    for (const turn of turns) {
      assertEquals((await changeLog.undoTurn(createFailing(files), turn)).restored, []);
    }
    for (const content of ["1", "0"]) {
      assertEquals((await changeLog.undoTurn(files)).restored, ["a"]);
      assertEquals(workspace.readFile("a"), content);
    }
    assertEquals(await changeLog.turns(), []);
  }
});

Deno.test("ChangeLog: an undo that is repeated removes the directories of the turn, too", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  await workspace.callTool("write_file", { path: "new/a", content: "a" });
  const failing = createFailing(files, { method: "remove" });
  assertEquals((await changeLog.undoTurn(failing)).removed, []);
  const { removed, removedDirectories } = await changeLog.undoTurn(files);
  assertEquals([removed, removedDirectories], [["new/a"], ["new"]]);
});

Deno.test("ChangeLog: an undo takes back the change before one that the tool failed to make", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files, root } = workspace.sandbox;
  workspace.writeFile("a", "0");
  const record = async (path: string, before: string | null, after: string) => {
    const [old, content] = [before, after].map((text) =>
      text === null ? null : new TextEncoder().encode(text)
    );
    await changeLog.record(`${root}/${path}`, old ?? null, content ?? null);
  };
  await workspace.callTool("write_file", { path: "a", content: "1" });
  await record("a", "1", "2");
  await record("b", null, "1");
  const { restored, left } = await changeLog.undoTurn(files);
  assertEquals([restored, left], [
    ["a"],
    [{ path: "b", reason: "it is as it was before the turn" }],
  ]);
  assertEquals(workspace.readFile("a"), "0");
  assertEquals((await changeLog.redoTurn(files)).restored, ["a"]);
  assertEquals(workspace.readFile("a"), "1");
});

Deno.test("ChangeLog: a redo leaves a file to which a later turn made the same change", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  workspace.writeFile("a", "0");
  const change = (turn: string) => {
    changeLog.beginTurn(turn);
    return workspace.callTool("bash", { command: "printf 1 > a" });
  };
  await change("1");
  await changeLog.undoTurn(files);
  await change("2");
  const { turn, left } = await changeLog.redoTurn(files);
  assertEquals([turn, left], [
    undefined,
    [{ path: "a", reason: "the file was changed after the undo" }],
  ]);
  assertEquals(await changeLog.turns(), ["2"]);
});

Deno.test("ChangeLog: a redo brings back a removed file that an undo could not create again", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  workspace.writeFile("a", "changed by the user");
  workspace.writeFile("b", "content");
  const { files, root } = workspace.sandbox;
  const content = new TextEncoder().encode("content");
  await changeLog.record(`${root}/a`, content, null);
  await changeLog.record(`${root}/b`, null, content);
  await changeLog.undoTurn(createFailing(files));
  assertEquals((await changeLog.redoTurn(files)).restored, ["b"]);
  assertEquals(workspace.readFile("b"), "content");
});

Deno.test("ChangeLog: an undo that is repeated removes the copy of a file that it can restore now", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  workspace.writeFile("a", "content");
  await workspace.callTool("bash", { command: "mv a b" });
  const failing = createFailing(files, { isFailing: (path) => path.endsWith("/a") });
  assertEquals((await changeLog.undoTurn(failing)).left.map(({ path }) => path), ["b", "a"]);
  const { restored, removed } = await changeLog.undoTurn(files);
  assertEquals([restored, removed], [["a"], ["b"]]);
});

Deno.test("ChangeLog: a redo that fails does not change which turn is undone first", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  const { files } = workspace.sandbox;
  workspace.writeFile("a", "0");
  for (const path of ["a", "b"]) {
    await workspace.callTool("write_file", { path, content: "1" });
  }
  const failing = createFailing(files, { method: "remove" });
  assertEquals((await changeLog.undoTurn(failing)).restored, ["a"]);
  changeLog.beginTurn("2");
  await workspace.callTool("write_file", { path: "c", content: "2" });
  assertEquals((await changeLog.redoTurn(createFailing(files))).restored, []);
  assertEquals((await changeLog.undoTurn(files)).turn, "2");
});

/** A store that fails to append the entries of a type. */
class FailingStore extends MemoryChangeLogStore {
  failing: ChangeLogEntry["type"] | undefined;

  override append(entry: ChangeLogEntry): Promise<void> {
    return entry.type === this.failing ? Promise.reject(new Error("stopped")) : super.append(entry);
  }
}

/** Options for {@linkcode createFailing}. */
interface FailingOptions {
  readonly method?: "write" | "remove";
  readonly isFailing?: (path: string) => boolean;
}

/** Creates access to files that fails, by default for each write. */
function createFailing(
  files: SandboxFiles,
  { method = "write", isFailing = () => true }: FailingOptions = {},
): SandboxFiles {
  return new Proxy(files, {
    get(target, name: keyof SandboxFiles) {
      const value = target[name];
      if (typeof value !== "function") return value;
      return (path: string, ...args: unknown[]): unknown =>
        name === method && isFailing(path)
          ? Promise.reject(new Error("the disk is full"))
          : Reflect.apply(value, target, [path, ...args]);
    },
  });
}
