/**
 * Names that are not UTF-8: no tool crashes or uses another file, and each result names what it left out.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/core/json/json.ts";
import { DirectorySnapshot } from "../../src/patch/mod.ts";
import { testToolContext } from "../../src/testing/test_tool_context.ts";
import { ChangeLog } from "../../src/tools/changes/change_log.ts";
import { codingTools } from "../../src/tools/coding_tools.ts";
import { TestWorkspace } from "./test_workspace.ts";
import { withoutPrograms } from "./without_programs.ts";

/** Other systems refuse such names. */
const ignore = Deno.build.os !== "linux";

/** Creates files whose names differ only in bytes that are not UTF-8, and a file that is named like their decoded names. */
const CREATE_FILES =
  "echo needle 1 > $'a\\xe9'; echo needle 2 > $'a\\xff'; echo needle 3 > 'a\ufffd'; " +
  "mkdir $'d\\xff'; echo needle 4 > $'d\\xff/in'; echo needle 5 > b";

async function createWorkspace(changeLog?: ChangeLog): Promise<TestWorkspace> {
  const workspace = new TestWorkspace({}, { ...(changeLog && { changeLog }) });
  await runBash(workspace, CREATE_FILES);
  return workspace;
}

/** Runs a command without the tools. */
async function runBash(workspace: TestWorkspace, command: string): Promise<string> {
  const { stdout } = await new Deno.Command("bash", {
    args: ["-c", command],
    cwd: workspace.directory,
  }).output();
  return new TextDecoder().decode(stdout);
}

/** Returns the content of all files with their directories. */
const readAll = (workspace: TestWorkspace): Promise<string> =>
  runBash(workspace, "find . -type f | LC_ALL=C sort | tr '\\n' '\\0' | xargs -0 cat");

Deno.test({
  name: "list_directory: marks names that are not UTF-8",
  ignore,
  async fn() {
    await using workspace = await createWorkspace();
    const { text } = await workspace.callTool("list_directory", {});
    assertEquals(text.split("\n").sort(), [
      ...Array<string>(3).fill("a\ufffd (not UTF-8: use a command)"),
      "b",
      "d\ufffd/ (not UTF-8: use a command)",
    ]);
  },
});

for (const program of ["rg", "no program"] as const) {
  Deno.test({
    name:
      `search_files: with ${program}, shows no hits of files whose names are not UTF-8, and names these`,
    ignore,
    async fn() {
      await using workspace = await createWorkspace();
      const sandbox = program === "rg" ? workspace.sandbox : withoutPrograms(workspace.sandbox);
      const tool = codingTools({ sandbox }).find(({ name }) => name === "search_files");
      const search = async (args: JsonObject) =>
        JSON.stringify(await tool?.execute(args, testToolContext()));
      for (const output of [{}, { output: "files" }, { output: "count" }]) {
        const text = await search({ pattern: "needle", ...output });
        for (const digit of [1, 2, 3, 4]) assert(!text.includes(`needle ${digit}`), text);
        assertStringIncludes(text, "b");
        assert(!/not readable|changed/.test(text), text);
        const skipped = /\[not searched or not shown: ([^\]]*)\]/.exec(text)?.[1];
        const names = skipped?.match(/[ad]\ufffd\S*(?= \(not UTF-8: use a command\))/g);
        assertEquals(names?.slice(0, 3), ["a\ufffd", "a\ufffd", "a\ufffd"], text);
        assert(names?.[3]?.startsWith("d\ufffd"), text);
      }
      const names = await search({ glob: "*" });
      assertStringIncludes(names, "a\ufffd (not UTF-8: use a command)");
      assertStringIncludes(names, "d\ufffd (not UTF-8: use a command)");
    },
  });
}

const CALLS: readonly (readonly [tool: string, args: JsonObject])[] = [
  ["read_file", {}],
  ["write_file", { content: "new" }],
  ["edit_file", { edits: [{ old_string: "needle", new_string: "x" }] }],
  ["list_directory", {}],
];

for (const [tool, args] of CALLS) {
  Deno.test({
    name: `${tool}: refuses a path with U+FFFD, which may be another file`,
    ignore,
    async fn() {
      await using workspace = await createWorkspace();
      const before = await readAll(workspace);
      for (
        const path of ["a\ufffd", "d\ufffd/in", "d\ufffd", "d\ufffd/new", "new\ufffd", "a\ud800"]
      ) {
        const { text, isError } = await workspace.callTool(tool, { ...args, path });
        assert(isError, text);
        assertStringIncludes(text, "use a command for files with such names");
      }
      assertEquals(await readAll(workspace), before);
      assertEquals([...Deno.readDirSync(workspace.directory)].length, 5);
    },
  });
}

Deno.test({
  name:
    "undoTurn(): changes no file when a command changed one whose name is not UTF-8, and names it",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = await createWorkspace(changeLog);
    const command =
      "echo changed > $'a\\xe9'; echo changed > 'a\ufffd'; echo changed > $'d\\xff/in'; echo changed > b";
    await workspace.callTool("bash", { command });
    const { restored, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(restored, ["b"]);
    assertEquals(untracked, [
      "files whose names are not UTF-8 are not undone: a\ufffd, a\ufffd, d\ufffd/in",
    ]);
    assertEquals(workspace.readFile("b"), "needle 5\n");
    assertEquals(workspace.readFile("a\ufffd"), "changed\n");
  },
});

Deno.test({
  name: "DirectorySnapshot: a patch leaves out files whose names are not UTF-8, and names them",
  ignore,
  async fn() {
    await using workspace = await createWorkspace();
    using snapshot = await DirectorySnapshot.take(workspace.directory);
    await runBash(
      workspace,
      "echo changed > $'a\\xe9'; echo changed > 'a\ufffd'; echo changed > b",
    );
    const { bytes, omittedFiles } = await snapshot.createPatch();
    assertEquals(omittedFiles, ["a\ufffd", "a\ufffd", "a\ufffd", "d\ufffd"]);
    assertEquals(new TextDecoder().decode(bytes).match(/^diff .*$/gm), ["diff --git a/b b/b"]);
  },
});

Deno.test({
  name:
    "search_files and bash: a pipe in place of an ignore file blocks neither in a directory whose name is not UTF-8",
  ignore,
  async fn() {
    await using workspace = await createWorkspace(new ChangeLog());
    await runBash(workspace, "mkfifo $'d\\xff/.gitignore'");
    const startedAt = performance.now();
    assertStringIncludes(
      (await workspace.callTool("search_files", { pattern: "needle" })).text,
      "needle 5",
    );
    assertStringIncludes((await workspace.callTool("bash", { command: "echo done" })).text, "done");
    assert(performance.now() - startedAt < 10_000);
  },
});
