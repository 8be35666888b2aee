/**
 * Files that a command makes in a place where trusted code reads: pipes, devices and links to keys.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { extractText } from "../../src/core/messages/content.ts";
import { DirectorySnapshot } from "../../src/patch/mod.ts";
import { testToolContext } from "../../src/testing/test_tool_context.ts";
import { ChangeLog } from "../../src/tools/changes/change_log.ts";
import { DirectoryChangeLogStore } from "../../src/tools/changes/directory_change_log_store.ts";
import { findSkills, skillTool } from "../../src/tools/skills.ts";
import { withDeadline } from "../deadline.ts";
import { TestWorkspace } from "./test_workspace.ts";

const MAX_CALL_MS = 10_000;
const ignore = Deno.build.os === "windows";

for (
  const [name, replacement] of [
    ["a named pipe", 'mkfifo "$file"'],
    ["a link to an endless device", 'ln -s /dev/zero "$file"'],
    ["a directory", 'mkdir -p "$file/x"'],
  ] as const
) {
  Deno.test({
    name: `bash: returns when the command makes ${name} of the file with its working directory`,
    ignore,
    async fn() {
      await using workspace = new TestWorkspace({ confinement: "off" });
      // The shell writes the file in a trap, so that the command has to replace the trap.
      const command =
        `file=$(trap -p EXIT | grep -o '/[^"]*cwd-[0-9a-f-]*'); trap - EXIT; ${replacement}; echo "$file"`;
      const call = workspace.callTool("bash", { command });
      const { text } = await withDeadline(call, MAX_CALL_MS);
      assertStringIncludes(text, ".cwd-");
      assertStringIncludes((await workspace.callTool("bash", { command: "pwd" })).text, "project");
    },
  });
}

for (
  const [name, setup] of [
    ["a named pipe", (path: string) => `mkfifo ${path}`],
    ["a link to an endless device", (path: string) => `ln -s /dev/zero ${path}`],
  ] as const
) {
  for (
    const path of [
      ...[".gitignore", ".git/info/exclude", "sub/.gitignore", "sub/deep/.gitignore"],
      ...["sub/.git/info/exclude", "sub/.gitattributes", ".gitattributes", ".git/info/attributes"],
    ]
  ) {
    Deno.test({
      name: `search_files and DirectorySnapshot: ignore ${name} at ${path}`,
      ignore,
      async fn() {
        await using workspace = new TestWorkspace();
        workspace.writeFile("sub/a.txt", "needle");
        const script = `mkdir -p .git/info sub/.git/info sub/deep && ${setup(path)}`;
        const { success } = new Deno.Command("bash", {
          args: ["-c", script],
          cwd: workspace.directory,
        }).outputSync();
        assertEquals(success, true);
        const search = workspace.callTool("search_files", { pattern: "needle" });
        assertEquals((await withDeadline(search, MAX_CALL_MS)).text, "sub/a.txt\n1: needle");
        const inside = workspace.callTool("search_files", { pattern: "needle", path: "sub" });
        assertEquals((await withDeadline(inside, MAX_CALL_MS)).text, "sub/a.txt\n1: needle");
        const taken = DirectorySnapshot.take(`${workspace.directory}/sub`);
        using snapshot = await withDeadline(taken, MAX_CALL_MS);
        workspace.writeFile("sub/a.txt", "changed");
        const { bytes } = await withDeadline(snapshot.createPatch(), MAX_CALL_MS);
        assertStringIncludes(new TextDecoder().decode(bytes), "+changed");
      },
    });
  }
}

Deno.test({
  name: "search_files: does not follow a .git file to a named pipe",
  ignore,
  async fn() {
    await using workspace = new TestWorkspace();
    workspace.writeFile("a.txt", "needle");
    workspace.writeFile(".git", `gitdir: ${workspace.directory}/other\n`);
    Deno.mkdirSync(`${workspace.directory}/other`);
    new Deno.Command("mkfifo", { args: [`${workspace.directory}/other/commondir`] }).outputSync();
    const search = workspace.callTool("search_files", { pattern: "needle" });
    assertEquals((await withDeadline(search, MAX_CALL_MS)).text, "a.txt\n1: needle");
  },
});

for (const name of [".gitignore", ".gitattributes"]) {
  Deno.test({
    name: `bash: with a change log, runs although ${name} is a named pipe`,
    ignore,
    async fn() {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      workspace.writeFile("a.txt", "before");
      new Deno.Command("mkfifo", { args: [`${workspace.directory}/${name}`] }).outputSync();
      const call = workspace.callTool("bash", { command: "echo after > a.txt" });
      assertEquals((await withDeadline(call, MAX_CALL_MS)).text, "Exit code: 0");
      const { untracked } = await changeLog.undoTurn(workspace.sandbox.files);
      const reason = `${name} is not a regular file, or is too large`;
      assertEquals(untracked, [`changes by a command are not recorded: ${reason}`]);
      // The next command without it is recorded.
      Deno.removeSync(`${workspace.directory}/${name}`);
      changeLog.beginTurn("2");
      await workspace.callTool("bash", { command: "echo later > a.txt" });
      assertEquals((await changeLog.undoTurn(workspace.sandbox.files)).restored, ["a.txt"]);
    },
  });
}

Deno.test({
  name: "skill: does not return a file outside of the skill's directory",
  ignore,
  async fn() {
    await using workspace = new TestWorkspace();
    Deno.writeTextFileSync(
      `${workspace.outside}/id_rsa`,
      "---\nname: leak\ndescription: x\n---\nKEY",
    );
    workspace.writeFile("skills/good/SKILL.md", "---\nname: good\ndescription: x\n---\nBody");
    Deno.mkdirSync(`${workspace.directory}/skills/leak`);
    Deno.symlinkSync("../../../id_rsa", `${workspace.directory}/skills/leak/SKILL.md`);
    const { skills, problems } = await findSkills([`${workspace.directory}/skills`]);
    assertEquals(skills.map(({ name }) => name), ["good"]);
    assertEquals(problems.map(({ problem }) => problem), [
      "SKILL.md is a link to a file outside of its directory",
    ]);
    // The file is replaced after the list was made.
    Deno.removeSync(`${workspace.directory}/skills/good/SKILL.md`);
    Deno.symlinkSync("../../../id_rsa", `${workspace.directory}/skills/good/SKILL.md`);
    const result = await skillTool(skills).execute({ name: "good" }, testToolContext());
    const text = typeof result === "object" ? extractText(result.content) : result;
    assertEquals(text, 'SKILL.md of "good" is a link to a file outside of its directory');
  },
});

Deno.test({
  name: "DirectoryChangeLogStore: does not restore a content that was replaced by a link",
  ignore,
  async fn() {
    const directory = await Deno.makeTempDir();
    const changeLog = new ChangeLog(new DirectoryChangeLogStore(directory));
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile("a.txt", "0");
    await workspace.callTool("read_file", { path: "a.txt" });
    await workspace.callTool("write_file", { path: "a.txt", content: "1" });
    Deno.writeTextFileSync(`${workspace.outside}/key`, "KEY");
    for (const { name } of Deno.readDirSync(`${directory}/contents`)) {
      for (const { name: hash } of Deno.readDirSync(`${directory}/contents/${name}`)) {
        Deno.removeSync(`${directory}/contents/${name}/${hash}`);
        Deno.symlinkSync(`${workspace.outside}/key`, `${directory}/contents/${name}/${hash}`);
      }
    }
    const { left } = await changeLog.undoTurn(workspace.sandbox.files);
    assertStringIncludes(left[0]?.reason ?? "", "is a link to a file outside of its directory");
    assertEquals(workspace.readFile("a.txt"), "1");
    await Deno.remove(directory, { recursive: true });
  },
});
