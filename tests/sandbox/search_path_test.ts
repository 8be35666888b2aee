import { assertEquals } from "@std/assert";

/**
 * Lets a command put programs into the first directory of `PATH`, then searches, runs a command with a change log, and calls
 * git, in the same directory or in another one. Prints the entries around the directory of the first command.
 */
function createScript(isOther: boolean): string {
  const resolve = (path: string) => JSON.stringify(import.meta.resolve(path));
  return `
import { ChangeLog } from ${resolve("../../src/tools/changes/change_log.ts")};
import { runGit as runGitOfTask } from ${resolve("../../src/eval/patch_tasks/run_git.ts")};
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
await runGitOfTask(["version"], { cwd: searched.sandbox.root });
const entries = Array.from(Deno.readDirSync(workspace.outside), ({ name }) => name);
console.log(JSON.stringify([entries, removed.includes("made"), type]));
`;
}

/** Runs a script and returns its output. The environment of this process belongs to other tests, too. */
async function runScript(script: string, env: Record<string, string> = {}): Promise<string> {
  const directory = await Deno.makeTempDir();
  const module = `${directory}/run.ts`;
  await Deno.writeTextFile(module, script);
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", "--no-config", "--no-lock", "--no-check", module],
    env: { NO_COLOR: "1", ...env },
  }).output();
  await Deno.remove(directory, { recursive: true });
  assertEquals(new TextDecoder().decode(stderr), "");
  return new TextDecoder().decode(stdout).trim();
}

const ignore = Deno.build.os === "windows";

for (const isOther of [false, true]) {
  const user = isOther ? "another sandbox" : "the same sandbox";
  Deno.test({
    name: `escape: a command cannot replace the programs of this process in PATH for ${user}`,
    ignore,
    async fn() {
      assertEquals(await runScript(createScript(isOther)), '[["project"],true,"done"]');
    },
  });
}

/** Runs a command with a change log, and prints what git could copy of a hidden file. */
const SNAPSHOT_SCRIPT = `
import { ChangeLog } from ${
  JSON.stringify(import.meta.resolve("../../src/tools/changes/change_log.ts"))
};
import { TestWorkspace } from ${JSON.stringify(import.meta.resolve("./test_workspace.ts"))};
const changeLog = new ChangeLog();
await using workspace = new TestWorkspace({ hide: [Deno.env.get("SECRET")] }, { changeLog });
const { confined } = await workspace.sandbox.describe();
await workspace.callTool("bash", { command: "echo > a.txt" });
const output = (await workspace.sandbox.getOutputPath("x")).slice(0, -"/x".length);
const [snapshots] = Array.from(Deno.readDirSync(output), ({ name }) => name);
const copy = Deno.readTextFileSync(output + "/" + snapshots + "/copy");
const { removed } = await changeLog.undoTurn(workspace.sandbox.files);
console.log(JSON.stringify([confined, copy, removed]));
`;

Deno.test({
  name: "escape: git can read no hidden files when it stores a snapshot for undo",
  ignore,
  async fn() {
    const parent = Deno.realPathSync(Deno.makeTempDirSync());
    const secret = `${parent}/secret.txt`;
    const path = Deno.env.get("PATH") ?? "";
    // Instead of a command that replaces a directory by a link while git reads it.
    const script = `#!/bin/sh\nPATH='${path}'\n` +
      `case "$1" in add) cat '${secret}' > "$GIT_DIR/copy" ;; esac\nexec git "$@"\n`;
    Deno.writeTextFileSync(secret, "hidden content");
    Deno.writeTextFileSync(`${parent}/git`, script, { mode: 0o755 });
    const env = { SECRET: secret, PATH: `${parent}:${path}` };
    const [confined, copy, removed] = JSON.parse(await runScript(SNAPSHOT_SCRIPT, env));
    assertEquals([copy, removed], [confined ? "" : "hidden content", ["a.txt"]]);
    Deno.removeSync(parent, { recursive: true });
  },
});
