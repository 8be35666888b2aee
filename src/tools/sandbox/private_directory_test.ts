// Needs its own isolate: the directories for temporary files become those that commands can write.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { dirname } from "../../platform/paths.ts";
import { ChangeLog } from "../changes/change_log.ts";

const ignore = Deno.build.os === "windows";

Deno.test({
  name: "PrivateDirectory: is in TMPDIR when no other directory can be written",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const directory = Deno.realPathSync(Deno.makeTempDirSync());
    const others = ["/tmp", "/var/tmp"].map((path) => Deno.realPathSync(path));
    const module = JSON.stringify(new URL("./private_directory.ts", import.meta.url));
    const code = `import { PrivateDirectory } from ${module};` +
      `console.log(new PrivateDirectory(${JSON.stringify([directory, ...others])}).path);`;
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", "--no-config", "--no-lock", code],
      env: { TMPDIR: directory, XDG_RUNTIME_DIR: "/proc" },
    }).output();
    assertEquals(dirname(new TextDecoder().decode(stdout).trim()), directory);
    Deno.removeSync(directory, { recursive: true });
  },
});

Deno.test({
  name: "bash: takes no snapshots in a directory that commands of another agent can write",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    const temporary = dirname(dirname(dirname(await workspace.sandbox.getOutputPath("x"))));
    await using _other = new TestWorkspace({ writeRoots: [temporary], homeAccess: "allow" });
    await using later = new TestWorkspace();
    assert(!(await later.sandbox.getOutputPath("x")).startsWith(`${temporary}/`));
    await workspace.callTool("bash", { command: "echo > a.txt" });
    const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(removed, []);
    assertStringIncludes(untracked[0] ?? "", "commands can write the directory");
  },
});

Deno.test({
  name: "bash: keeps snapshots out of directories that commands can write, or takes none",
  ignore,
  async fn() {
    const directory = Deno.realPathSync(Deno.makeTempDirSync());
    Deno.removeSync(directory);
    const temporary = dirname(directory);
    const roots = [temporary, "/tmp", "/var/tmp", Deno.env.get("XDG_RUNTIME_DIR") ?? "/tmp"]
      .map((path) => Deno.realPathSync(path));
    for (const writeRoots of [[temporary], roots]) {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace(
        { writeRoots, homeAccess: "allow" },
        { changeLog },
      );
      const output = await workspace.sandbox.getOutputPath("x");
      const isWritable = writeRoots.some((root) => output.startsWith(`${root}/`));
      assertEquals(isWritable, writeRoots === roots);
      await workspace.callTool("bash", { command: "echo > a.txt" });
      const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
      assertEquals(removed, isWritable ? [] : ["a.txt"]);
      assertEquals(untracked.length, isWritable ? 1 : 0);
      if (isWritable) assertStringIncludes(untracked[0] ?? "", "commands can write the directory");
    }
  },
});
