import { assert, assertEquals, assertRejects } from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { withDeadline } from "../../../tests/deadline.ts";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { startProcess } from "../process/running_process.ts";
import { ChangeLog } from "./change_log.ts";
import { WorkTreeSnapshots } from "./work_tree_snapshots.ts";

/** Starts snapshots whose programs report their starts. */
function openSnapshots(root: string, parent: string, onProgram: () => void): WorkTreeSnapshots {
  return new WorkTreeSnapshots(root, parent, {
    listHidden: () => [],
    startReader: (launch) => Promise.resolve(startProcess(launch)),
    getProgramPath() {
      onProgram();
      return Deno.env.get("PATH") ?? "";
    },
  });
}

Deno.test({
  name: "take(): a cancelled snapshot ends its programs, and the next one succeeds",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using project = await createTemporaryDirectory({ "a.txt": "one" });
    await using parent = await createTemporaryDirectory();
    let programs = 0;
    await using counted = openSnapshots(project.path, parent.path, () => programs++);
    const complete = await counted.take(new AbortController().signal);
    assert(complete.type === "taken" && programs > 4);
    const directories = [...Deno.readDirSync(parent.path)];
    for (let cancelledAt = 1; cancelledAt <= programs; cancelledAt++) {
      const controller = new AbortController();
      let started = 0;
      {
        await using snapshots = openSnapshots(project.path, parent.path, () => {
          if (++started === cancelledAt) controller.abort();
        });
        await assertRejects(() => snapshots.take(controller.signal));
        const next = await snapshots.take(new AbortController().signal);
        assert(next.type === "taken");
        assertEquals(next.id, complete.id);
      }
      assertEquals([...Deno.readDirSync(parent.path)], directories);
    }
  },
});

Deno.test({
  name: "take(): stores the files again when git fails, as it does when one of them disappears",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using project = await createTemporaryDirectory({ "a.txt": "one" });
    await using parent = await createTemporaryDirectory();
    let failures = 1;
    let starts = 0;
    await using snapshots = new WorkTreeSnapshots(project.path, parent.path, {
      listHidden: () => [],
      startReader(launch) {
        starts++;
        const failing = { ...launch, program: "sh", args: ["-c", "exit 128"] };
        return Promise.resolve(startProcess(failures-- > 0 ? failing : launch));
      },
      getProgramPath: () => Deno.env.get("PATH") ?? "",
    });
    const take = () => snapshots.take(new AbortController().signal);
    const complete = await take();
    assert(complete.type === "taken");
    // Git fails each time: the next snapshot makes one attempt, and a later one can succeed.
    failures = Infinity;
    project.write("a.txt", "two");
    for (const attempts of [5, 1]) {
      starts = 0;
      assertEquals((await take()).type, "refused");
      assertEquals(starts, attempts);
    }
    failures = 0;
    project.write("a.txt", "one");
    const next = await take();
    assert(next.type === "taken");
    assertEquals(next.id, complete.id);
  },
});

Deno.test({
  name:
    "undoTurn(): names nested repositories, whose files git reads and a command can make pipes of",
  ignore: Deno.build.os === "windows",
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    for (const name of ["sub", "a [b]"]) {
      workspace.writeFile(`${name}/.git/config`, "[core]");
      Deno.mkdirSync(`${workspace.directory}/${name}/.git/objects`);
      Deno.mkdirSync(`${workspace.directory}/${name}/.git/refs`);
      const head = `${workspace.directory}/${name}/.git/HEAD`;
      new Deno.Command("mkfifo", { args: [head] }).outputSync();
    }
    const call = workspace.callTool("bash", { command: "echo x > a.txt; echo x > sub/b.txt" });
    await withDeadline(call, 10_000);
    const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(removed, ["a.txt"]);
    const [note = ""] = untracked;
    assertEquals(note.split(/[:,] /).toSorted(), [
      "a [b]",
      "files in nested repositories are not undone",
      "sub",
    ]);
  },
});
