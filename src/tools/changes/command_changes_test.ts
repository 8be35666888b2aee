import { assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { waitUntil } from "../../../tests/wait_until.ts";
import { dirname } from "../../platform/paths.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { ChangeLog } from "./change_log.ts";

const ignore = Deno.build.os === "windows";

function runGit(workspace: TestWorkspace, script: string): string {
  const { success, stdout, stderr } = new Deno.Command("bash", {
    args: ["-ec", script],
    cwd: workspace.directory,
    env: {
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@example.com",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@example.com",
    },
  }).outputSync();
  assertEquals(success, true, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

const CHANGES =
  "printf 'changed' > a.txt; rm sub/b.txt; mkdir -p made/deep; echo x > made/deep/c; " +
  "printf '\\x00\\xff\\r\\n' > bin; chmod 600 a.txt";

for (const isRepository of [true, false]) {
  const place = isRepository ? "in a repository" : "outside of a repository";
  Deno.test({
    name: `undoTurn(): undoes the changes of a command ${place}, with the directories it made`,
    ignore,
    async fn() {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      workspace.writeFile("a.txt", "one\r\ntwo\n");
      workspace.writeFile("sub/b.txt", "b");
      workspace.writeFile("bin", new Uint8Array([0, 1, 2, 13, 10]));
      workspace.writeFile(".gitattributes", "* text=auto eol=lf\n");
      if (isRepository) runGit(workspace, "git init -q && git add . && git commit -qm x");
      workspace.writeFile("sub/b.txt", "not committed");
      await workspace.callTool("bash", { command: CHANGES });
      assertEquals(workspace.readFile("a.txt"), "changed");
      assertEquals(await changeLog.undoTurn(workspace.sandbox.files), {
        turn: "1",
        restored: ["a.txt", "bin", "sub/b.txt"],
        removed: ["made/deep/c"],
        left: [],
        removedDirectories: ["made/deep", "made"],
        untracked: [],
      });
      assertEquals(workspace.readFile("a.txt"), "one\r\ntwo\n");
      assertEquals(workspace.readFile("sub/b.txt"), "not committed");
      assertEquals([...Deno.readFileSync(`${workspace.directory}/bin`)], [0, 1, 2, 13, 10]);
      assertEquals(workspace.exists("made"), false);
    },
  });
}

Deno.test({
  name: "bash: does not change the user's repository, or run its filters, hooks and monitors",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile("a.txt", "one\n");
    const trap = `touch ${workspace.outside}/ran; cat`;
    runGit(
      workspace,
      `git init -q && git add . && git commit -qm x
      git config core.fsmonitor "sh -c '${trap}'"
      git config filter.evil.clean "sh -c '${trap}'"
      git config filter.evil.process "sh -c '${trap}'"
      echo '* filter=evil' > .gitattributes
      for hook in post-index-change pre-commit reference-transaction; do
        printf '#!/bin/sh\\n${trap}\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook
      done
      cp -r .git ../git-before`,
    );
    await workspace.callTool("bash", { command: "echo two > a.txt; echo x > new" });
    assertEquals(runGit(workspace, "diff -r .git ../git-before"), "");
    const { restored, removed } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals([restored, removed], [["a.txt"], ["new"]]);
    assertEquals(
      [...Deno.readDirSync(workspace.outside)].some(({ name }) => name === "ran"),
      false,
    );
  },
});

Deno.test({
  name: "undoTurn(): names what commands changed and it cannot undo, and leaves ignored files",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile(".gitignore", "ignored\n");
    workspace.writeFile("ignored", "one");
    workspace.writeFile("run.sh", "x");
    const command = "echo two > ignored; ln -s run.sh link; chmod +x run.sh; mkfifo pipe; " +
      "truncate -s 30M large; echo x > a.txt";
    await workspace.callTool("bash", { command });
    const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(removed, ["a.txt"]);
    assertEquals(untracked, [
      "links, modes and large changes are not undone: link, run.sh",
      "ignored files and secrets are not undone: ignored",
      "files over 20 MB are not undone: large",
    ]);
    assertEquals(workspace.readFile("ignored"), "two\n");
  },
});

Deno.test({
  name: "undoTurn(): names the ignored files and the secrets that a command changed, and no others",
  ignore,
  async fn() {
    for (
      const [command, untracked] of [
        ["rm -r build", ["ignored files and secrets are not undone: build/"]],
        ["rm build/deep/a", ["ignored files and secrets are not undone: build/"]],
        ["echo 2 >> build/deep/a; echo 2 >> a.log", [
          "ignored files and secrets are not undone: a.log, build/",
        ]],
        ["echo 2 >> .env", ["ignored files and secrets are not undone: .env"]],
        ["mv build old", ["ignored files and secrets are not undone: build/, old/"]],
        ["mkdir made; echo '*' > made/.gitignore; echo 1 > made/a", [
          "ignored files and secrets are not undone: made/",
        ]],
        ["for i in $(seq 12); do echo > $i.log; done", [
          "ignored files and secrets are not undone: 1.log, 10.log, 11.log, 12.log, 2.log, 3.log, 4.log, 5.log, 6.log, 7.log and 2 more",
        ]],
        ["mkdir __pycache__ lib/__pycache__; echo > lib/__pycache__/a.pyc", []],
        ["git init -q made; echo 2 >> build/deep/a; echo 2 >> lib/a; echo > made/a", [
          "ignored files and secrets are not undone: build/",
          "files in nested repositories are not undone: made",
        ]],
        ["cat build/deep/a .env; echo 2 >> lib/a; git init -q; rm -r .git", []],
      ] as const
    ) {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      workspace.writeFile(".gitignore", "build/\nold/\n*.log\n");
      for (const path of ["build/deep/a", "build/b", "a.log", ".env", "lib/a"]) {
        workspace.writeFile(path, "1");
      }
      await workspace.callTool("bash", { command });
      const report = await changeLog.undoTurn(workspace.sandbox.files);
      assertEquals(report.untracked, untracked, command);
    }
  },
});

Deno.test({
  name: "undoTurn(): names what later turns changed and it cannot undo, once",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    const { files } = workspace.sandbox;
    workspace.writeFile(".gitignore", "build/\n");
    workspace.writeFile("build/a", "1");
    const run = async (turn: string, command: string) => {
      changeLog.beginTurn(turn);
      await workspace.callTool("bash", { command });
    };
    await run("first", "echo 1 > a");
    await run("second", "rm -r build");
    await run("third", "true");
    const { turn, untracked } = await changeLog.undoTurn(files);
    assertEquals(turn, "first");
    assertEquals(untracked, ["ignored files and secrets are not undone: build/"]);
    await run("fourth", "mkdir build; echo > build/b");
    const reason = ["ignored files and secrets are not undone: build/"];
    assertEquals((await changeLog.undoTurn(files, "fourth")).untracked, reason);
    assertEquals((await changeLog.undoTurn(files)).untracked, reason);
    assertEquals((await changeLog.undoTurn(files)).untracked, []);
  },
});

Deno.test({
  name: "undoTurn(): names restored files whose mode is another one than before",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    for (const path of ["a", "b", "c", "d"]) {
      workspace.writeFile(path, "1");
      Deno.chmodSync(`${workspace.directory}/${path}`, path < "c" ? 0o755 : 0o644);
    }
    const command =
      "rm a d; chmod -x b; echo 2 > b; chmod +x c; echo 2 > c; echo 2 > e; chmod +x e";
    await workspace.callTool("bash", { command });
    const { restored, removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals([restored, removed], [["a", "b", "c", "d"], ["e"]]);
    assertEquals(untracked, ["links, modes and large changes are not undone: a, b, c"]);
  },
});

const NESTED_REPOSITORY = `git init -q sub
  git -C sub -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m x
  git -C sub config core.fsmonitor "$PWD/monitor"
  printf '#!/bin/sh\\n: > "%s/../ran"\\n' "$PWD" > monitor; chmod +x monitor`;

/** Ways in which a nested repository could be one of the files of a snapshot. */
const NESTED_REPOSITORIES: readonly (readonly [string, readonly string[]])[] = [
  ["an ignore file includes it", [
    `${NESTED_REPOSITORY}; printf '!/sub\\n!/sub/\\n' > .gitignore; echo > a.txt`,
  ]],
  ["an ignore file includes it under a name that is not UTF-8", [
    `${NESTED_REPOSITORY}; mv sub $'\\xff'; printf '!*\\n' > .gitignore; echo > a.txt`,
  ]],
  ["it takes the place of a file", [
    "echo > sub",
    `rm sub; ${NESTED_REPOSITORY}; printf '!*\\n' > .gitignore; echo > a.txt`,
  ]],
];

for (const [name, commands] of NESTED_REPOSITORIES) {
  Deno.test({
    name: `bash: runs no program of a nested repository when ${name}`,
    ignore,
    async fn() {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      for (const command of [...commands, "echo > b.txt", "echo > c.txt"]) {
        const { text } = await workspace.callTool("bash", { command });
        assertEquals(text, "Exit code: 0");
      }
      assertEquals([...Deno.readDirSync(workspace.outside)].map(({ name }) => name), ["project"]);
      const { untracked } = await changeLog.undoTurn(workspace.sandbox.files);
      assertStringIncludes(untracked.join("; "), "nested repositor");
    },
  });
}

Deno.test({
  name: "undoTurn(): undoes changes of commands also when a nested repository is not ignored",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile(".gitignore", "/*\n!/sub\n!*.txt\n");
    runGit(workspace, "git init -q sub && git -C sub commit -q --allow-empty -m x");
    await workspace.callTool("bash", { command: "echo > a.txt; echo > sub/b.txt" });
    await workspace.callTool("bash", { command: "echo > c.txt" });
    const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(removed, ["a.txt", "c.txt"]);
    assertEquals(untracked, ["files in nested repositories are not undone: sub"]);
  },
});

Deno.test({
  name: "bash: stores no copy of hidden files, which later commands could read",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    const hide = ["hidden.txt", "a [b]", "missing"];
    await using workspace = new TestWorkspace({ hide }, { changeLog });
    workspace.writeFile(".gitignore", "!*\n");
    workspace.writeFile("a.txt", "shown content");
    workspace.writeFile("hidden.txt", "hidden content");
    workspace.writeFile("a [b]/c/d.txt", "hidden content");
    await workspace.callTool("bash", { command: "echo > new.txt" });
    const output = dirname(await workspace.sandbox.getOutputPath("x"));
    const list = 'for d in "$0"/snapshots-*; do git --git-dir="$d" cat-file --batch ' +
      "--batch-all-objects; done";
    const { stdout } = new Deno.Command("bash", { args: ["-c", list, output] }).outputSync();
    const objects = new TextDecoder().decode(stdout);
    assertStringIncludes(objects, "shown content");
    assertEquals(objects.includes("hidden content"), false);
    const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals([removed, untracked], [["new.txt"], []]);
  },
});

Deno.test({
  name: "undoTurn(): undoes commands that ran at the same time, as those of sub-agents do",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    const numbers = Array.from({ length: 6 }, (_, index) => index);
    await Promise.all(
      numbers.map((index) => workspace.callTool("bash", { command: `echo > ${index}` })),
    );
    const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals([removed.toSorted(), untracked], [numbers.map(String), []]);
  },
});

Deno.test({
  name: "undoTurn(): restores files that a command changed before and while another one ran",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile("a.txt", "original");
    const waitFor = (path: string) => `while [ ! -e ${path} ]; do sleep 0.01; done`;
    const commands = [
      `echo 1 | tee a.txt > new; touch changed; ${waitFor("second")}`,
      `echo 2 | tee a.txt > new; touch again; ${waitFor("third")}; echo 3 | tee a.txt > new`,
    ];
    const long = workspace.callTool("bash", { command: commands.join("; ") });
    await waitUntil(() => workspace.exists("changed"));
    await workspace.callTool("bash", { command: `touch second; ${waitFor("again")}` });
    workspace.writeFile("third", "");
    await long;
    const { restored, removed } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(restored, ["a.txt"]);
    assertEquals(removed.toSorted(), ["again", "changed", "new", "second", "third"]);
    assertEquals(workspace.readFile("a.txt"), "original");
  },
});

Deno.test({
  name: "undoTurn(): restores files that a tool changed while a command ran that had changed them",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    for (const path of ["changed", "removed"]) workspace.writeFile(path, "original");
    const command =
      "echo 1 > changed; rm removed; touch go; while [ ! -e go2 ]; do sleep 0.01; done";
    const running = workspace.callTool("bash", { command });
    await waitUntil(() => workspace.exists("go"));
    await workspace.callTool("read_file", { path: "changed" });
    for (const path of ["changed", "removed"]) {
      await workspace.callTool("write_file", { path, content: "2" });
    }
    workspace.writeFile("go2", "");
    await running;
    const { restored } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(restored.toSorted(), ["changed", "removed"]);
    for (const path of restored) assertEquals(workspace.readFile(path), "original", path);
  },
});

Deno.test({
  name: "undoTurn(): undoes a command that was cancelled",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    const controller = new AbortController();
    const tool = workspace.getTool("bash");
    const call = tool.execute(
      { command: "echo x > a.txt; echo done; sleep 60" },
      testToolContext({ signal: controller.signal, onUpdate: () => controller.abort() }),
    );
    assertStringIncludes(JSON.stringify(await call), "cancelled");
    assertEquals((await changeLog.undoTurn(workspace.sandbox.files)).removed, ["a.txt"]);
  },
});

Deno.test("undoTurn(): removes the directories that write_file made, unless they have other files", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  await workspace.callTool("write_file", { path: "a/b/c.txt", content: "x" });
  await workspace.callTool("write_file", { path: "d/e/f.txt", content: "x" });
  workspace.writeFile("d/other.txt", "x");
  const { removedDirectories } = await changeLog.undoTurn(workspace.sandbox.files);
  assertEquals(removedDirectories.toSorted(), ["a", "a/b", "d/e"]);
  assertEquals([workspace.exists("a"), workspace.exists("d")], [false, true]);
});

Deno.test({
  name: "undoTurn(): a file and a directory that took each other's place are undone",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile("a", "file");
    workspace.writeFile("b/c", "in directory");
    const command = "rm -r a b; mkdir a; echo x > a/d; echo x > b";
    await workspace.callTool("bash", { command });
    const { left } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(left, []);
    assertEquals([workspace.readFile("a"), workspace.readFile("b/c")], ["file", "in directory"]);
  },
});

Deno.test({
  name: "undoTurn(): keeps the content of a file that was moved, with a link in its place",
  ignore,
  async fn() {
    const moves = [
      "mv a.txt b.txt",
      "cp a.txt b.txt; rm a.txt",
      "sed s/a/b/ a.txt > b.txt; rm a.txt",
    ];
    for (const move of moves) {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      workspace.writeFile("a.txt", "a");
      await workspace.callTool("bash", { command: `${move}; ln -s b.txt a.txt` });
      const { restored, left, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
      assertEquals([restored, left], [["a.txt"], []], move);
      assertEquals(untracked, ["links, modes and large changes are not undone: a.txt"]);
      assertEquals(workspace.readFile("a.txt"), "a");
    }
  },
});

Deno.test({
  name: "undoTurn(): keeps a moved file if the one in its earlier place cannot be restored",
  ignore,
  async fn() {
    for (const place of ["echo mine > a.txt", "ln -s c.txt a.txt; echo c > c.txt"]) {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      workspace.writeFile("a.txt", "a");
      await workspace.callTool("bash", {
        command: "mkdir -p d/e f; mv a.txt d/e/b.txt; echo > f/x",
      });
      new Deno.Command("sh", { args: ["-c", place], cwd: workspace.directory }).outputSync();
      const report = await changeLog.undoTurn(workspace.sandbox.files);
      assertEquals([report.restored, report.removed, report.removedDirectories], [[], ["f/x"], [
        "f",
      ]]);
      assertEquals(report.left, [
        { path: "d/e/b.txt", reason: "it has the content of a file that was not restored" },
        { path: "a.txt", reason: "the file was changed after the turn" },
      ]);
      assertEquals(workspace.readFile("d/e/b.txt"), "a");
    }
  },
});

Deno.test({
  name: "undoTurn(): removes and changes no other file through a link in the place of one",
  ignore,
  async fn() {
    for (const command of ["cp a.txt b.txt", "echo a > b.txt"]) {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      workspace.writeFile("a.txt", "a\n");
      if (command.startsWith("echo")) workspace.writeFile("b.txt", "b");
      await workspace.callTool("bash", { command });
      Deno.removeSync(`${workspace.directory}/b.txt`);
      Deno.symlinkSync("a.txt", `${workspace.directory}/b.txt`);
      const { left } = await changeLog.undoTurn(workspace.sandbox.files);
      assertEquals(left, [{ path: "b.txt", reason: "a link has taken its place" }]);
      assertEquals(workspace.readFile("a.txt"), "a\n");
    }
  },
});

Deno.test({
  name: "undoTurn(): restores no content through a link to the place of another one",
  ignore,
  async fn() {
    for (const target of ["a.txt", "missing.txt"]) {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      const names = ["a.txt", "b.txt", "c.txt"];
      for (const name of names) workspace.writeFile(name, name);
      const command = `rm *.txt; ln -s ${target} b.txt; ln -s ${target} c.txt`;
      await workspace.callTool("bash", { command });
      const { restored, left } = await changeLog.undoTurn(workspace.sandbox.files);
      assertEquals([...restored, ...left.map(({ path }) => path)].toSorted(), names);
      for (const name of restored) assertEquals(workspace.readFile(name), name);
      assertEquals(restored.includes("a.txt"), true);
    }
  },
});

Deno.test("undoTurn(): removes a file that the turn created and then changed", async () => {
  const changeLog = new ChangeLog();
  await using workspace = new TestWorkspace({}, { changeLog });
  await workspace.callTool("write_file", { path: "a", content: "one" });
  const edits = [{ old_string: "one", new_string: "two" }];
  await workspace.callTool("edit_file", { path: "a", edits });
  assertEquals((await changeLog.undoTurn(workspace.sandbox.files)).removed, ["a"]);
  assertEquals(workspace.exists("a"), false);
});
