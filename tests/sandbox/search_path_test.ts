import { assertEquals } from "@std/assert";

/**
 * Lets a command put programs into the first directory of `PATH`, then searches, runs a command with a change log, and calls
 * git, in the same directory or in another one. Prints the entries around the directory of the first command.
 */
function createScript(isOther: boolean): string {
  const resolve = (path: string) => JSON.stringify(import.meta.resolve(path));
  return `
import { ChangeLog } from ${resolve("../../src/tools/changes/change_log.ts")};
import { runGit } from ${resolve("../../src/tools/worktrees/git_program.ts")};
import { TestWorkspace } from ${resolve("./test_workspace.ts")};
await using workspace = new TestWorkspace();
const bin = workspace.directory + "/.venv/bin";
Deno.mkdirSync(bin, { recursive: true });
Deno.env.set("PATH", bin + ":" + Deno.env.get("PATH"));
const command = \`(cd .venv/bin; for name in rg find git; do
  printf '#!/bin/sh\\n: > \${workspace.outside}/%s\\n' $name > $name; chmod +x $name; done)\`;
await workspace.callTool("bash", { command });
const changeLog = new ChangeLog();
const options = ${isOther} ? {} : { cwd: workspace.directory };
await using searched = new TestWorkspace(options, { changeLog });
await searched.callTool("search_files", { pattern: "x" });
await searched.callTool("bash", { command: "echo > made" });
const { removed } = await changeLog.undoTurn(searched.sandbox.files);
const { type } = await runGit({ program: "git", cwd: searched.sandbox.root }, ["version"]);
const entries = Array.from(Deno.readDirSync(workspace.outside), ({ name }) => name);
console.log(JSON.stringify([entries, removed.includes("made"), type]));
`;
}

for (const isOther of [false, true]) {
  const user = isOther ? "another sandbox" : "the same sandbox";
  Deno.test({
    name: `escape: a command cannot replace the programs of this process in PATH for ${user}`,
    ignore: Deno.build.os === "windows",
    async fn() {
      const directory = await Deno.makeTempDir();
      const module = `${directory}/run.ts`;
      await Deno.writeTextFile(module, createScript(isOther));
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--quiet", "-A", "--no-config", "--no-lock", "--no-check", module],
        env: { NO_COLOR: "1" },
      }).output();
      await Deno.remove(directory, { recursive: true });
      assertEquals([stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)), [
        '[["project"],true,"done"]\n',
        "",
      ]);
    },
  });
}
