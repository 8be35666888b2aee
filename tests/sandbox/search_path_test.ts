import { assertEquals } from "@std/assert";

/**
 * Lets a command put programs into the first directory of `PATH`, then searches, and runs a command with a change log. Prints
 * the entries of the directory of the project.
 */
const SCRIPT = `
import { ChangeLog } from ${
  JSON.stringify(import.meta.resolve("../../src/tools/changes/change_log.ts"))
};
import { TestWorkspace } from ${JSON.stringify(import.meta.resolve("./test_workspace.ts"))};
const changeLog = new ChangeLog();
await using workspace = new TestWorkspace({}, { changeLog });
const bin = workspace.directory + "/.venv/bin";
Deno.mkdirSync(bin, { recursive: true });
Deno.env.set("PATH", bin + ":" + Deno.env.get("PATH"));
const command = \`(cd .venv/bin; for name in rg find git; do
  printf '#!/bin/sh\\n: > \${workspace.outside}/%s\\n' $name > $name; chmod +x $name; done)\`;
await workspace.callTool("bash", { command });
await workspace.callTool("search_files", { pattern: "x" });
await workspace.callTool("bash", { command: "echo > made" });
const { removed } = await changeLog.undoTurn(workspace.sandbox.files);
const entries = Array.from(Deno.readDirSync(workspace.outside), ({ name }) => name);
console.log(JSON.stringify([entries, removed.includes("made")]));
`;

Deno.test({
  name: "escape: a command cannot replace the programs of this process in a directory of PATH",
  ignore: Deno.build.os === "windows",
  async fn() {
    const directory = await Deno.makeTempDir();
    const module = `${directory}/run.ts`;
    await Deno.writeTextFile(module, SCRIPT);
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "-A", "--no-config", "--no-lock", "--no-check", module],
      env: { NO_COLOR: "1" },
    }).output();
    await Deno.remove(directory, { recursive: true });
    assertEquals([stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)), [
      '[["project"],true]\n',
      "",
    ]);
  },
});
