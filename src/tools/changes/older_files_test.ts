import { assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { ChangeLog } from "./change_log.ts";
import { DirectoryChangeLogStore } from "./directory_change_log_store.ts";

const ignore = Deno.build.os === "windows";

function runShell(workspace: TestWorkspace, command: string): void {
  const { success } = new Deno.Command("bash", {
    args: ["-ec", command],
    cwd: workspace.directory,
    env: { GIT_CONFIG_GLOBAL: "/dev/null" },
  }).outputSync();
  assertEquals(success, true);
}

/** Commands after which files are new for git that existed before, and the files that an undo must keep. */
const OLDER_FILES: readonly {
  readonly name: string;
  readonly command: string;
  readonly kept: readonly string[];
}[] = [
  { name: "moved from an ignored place", command: "mv ignored moved", kept: ["made", "moved"] },
  { name: "moved from a secret place", command: "mv .env moved", kept: ["made", "moved"] },
  {
    name: "no longer in a nested repository",
    command: "rm -rf sub/.git; cp sub/a new; mv new sub/a",
    kept: ["sub/a"],
  },
  { name: "no longer large", command: "echo x > new; mv new large", kept: ["large"] },
];

for (const { name, command, kept } of OLDER_FILES) {
  Deno.test({
    name: `undoTurn(): keeps and names a file that existed before the command, and was ${name}`,
    ignore,
    async fn() {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      workspace.writeFile(".gitignore", "ignored\n");
      for (const path of ["ignored", ".env", "a.txt", "sub/a"]) workspace.writeFile(path, path);
      runShell(workspace, "git init -q sub; truncate -s 30M large");
      await workspace.callTool("bash", { command: `${command}; mv a.txt b.txt; echo x > made` });
      const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
      assertEquals(removed, ["b.txt", "made"].filter((path) => !kept.includes(path)));
      for (const path of kept) assertEquals(workspace.exists(path), true, path);
      assertStringIncludes(untracked.join("; "), `not recorded before: ${kept.join(", ")}`);
      assertStringIncludes(untracked.join("; "), "files over 20 MB are not undone: large");
      assertEquals(workspace.readFile("a.txt"), "a.txt");
    },
  });
}

Deno.test({
  name:
    "undoTurn(): keeps and names files that were ignored and no longer are, also if they were written again",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile(".gitignore", "*ignored\nbuild/\n");
    for (const path of ["ignored", "not_ignored", "build/a", "a.txt"]) {
      workspace.writeFile(path, path);
    }
    const command =
      "echo x > .gitignore; sed -i s/a/b/ ignored build/a; mv a.txt b.txt; echo x > made";
    await workspace.callTool("bash", { command });
    const { removed, restored, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals([removed, restored], [["b.txt", "made"], [".gitignore", "a.txt"]]);
    assertEquals(workspace.readFile("build/a"), "build/b");
    assertEquals(workspace.exists("ignored"), true);
    assertEquals(workspace.exists("not_ignored"), true);
    assertStringIncludes(
      untracked.join("; "),
      "not recorded before: build/a, ignored, not_ignored",
    );
  },
});

/** Commands that replace files of which no snapshot has the content, with the new file that an undo must keep. */
const REPLACED_FILES: readonly {
  readonly name: string;
  readonly command: string;
  readonly kept: string;
}[] = [
  { name: "compressed an ignored file", command: "gzip a.log", kept: "a.log.gz" },
  { name: "compressed a large file", command: "gzip large", kept: "large.gz" },
  { name: "copied and removed a secret", command: "cp .env copy; rm .env", kept: "copy" },
  {
    name: "archived an ignored directory",
    command: "tar cf build.tar build; rm -r build",
    kept: "build.tar",
  },
  {
    name: "archived and removed one file of an ignored directory",
    command: "tar czf one.tgz build/one; rm build/one",
    kept: "one.tgz",
  },
  {
    name: "moved and edited an ignored directory",
    command: "mv build out; sed -i s/b/B/ out/b",
    kept: "out/b",
  },
];

for (const isNested of [false, true]) {
  for (const { name, command, kept } of REPLACED_FILES) {
    const place = isNested ? "next to a nested repository" : "in a work tree";
    Deno.test({
      name: `undoTurn(): keeps and names the file of a command that ${name} ${place}`,
      ignore,
      async fn() {
        const changeLog = new ChangeLog();
        await using workspace = new TestWorkspace({}, { changeLog });
        workspace.writeFile(".gitignore", "*.log\nbuild/\n");
        for (const path of ["a.log", ".env", "build/b", "build/one", "c.txt"]) {
          workspace.writeFile(path, path);
        }
        runShell(workspace, `truncate -s 21M large${isNested ? "; git init -q sub" : ""}`);
        await workspace.callTool("bash", { command: `${command}; mv c.txt d.txt` });
        const { removed, restored, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
        assertEquals([removed, restored], [["d.txt"], ["c.txt"]]);
        assertEquals(workspace.exists(kept), true);
        assertStringIncludes(untracked.join("; "), `not recorded before: ${kept}`);
      },
    });
  }
}

Deno.test({
  name:
    "undoTurn(): removes the new files of a command after which all ignored and large files are there",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile(".gitignore", "*.log\nbuild/\n");
    for (const path of ["a.log", "build/b"]) workspace.writeFile(path, path);
    runShell(workspace, "truncate -s 21M large");
    const commands = [
      "rm -r build; mkdir build; echo x > build/c; echo x > new",
      "gzip -k large; echo x > a.log",
      "mkdir node_modules; echo x > node_modules/a; echo x | gzip > packages.gz",
    ];
    for (const command of commands) await workspace.callTool("bash", { command });
    const { removed } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(removed, ["new", "large.gz", "packages.gz"]);
  },
});

for (
  const command of [
    "mv data.bak data",
    "cp data.bak data; rm data.bak",
    "mv data.bak data; sed -i s/bak/BAK/ data",
    "cat data.bak >> data; rm data.bak",
    "tar rf data build/a; rm build/a",
  ]
) {
  Deno.test({
    name:
      `undoTurn(): names an ignored file that is gone, and a redo brings back what a recorded one got of it: ${command}`,
    ignore,
    async fn() {
      const directory = await Deno.makeTempDir();
      const changeLog = new ChangeLog(new DirectoryChangeLogStore(directory));
      await using workspace = new TestWorkspace({}, { changeLog });
      workspace.writeFile(".gitignore", "*.bak\nbuild/\n");
      for (const path of ["data.bak", "build/a", "a"]) workspace.writeFile(path, path);
      runShell(workspace, "tar cf data a");
      const before = workspace.readFile("data");
      for (const text of [command, "mv data moved; mv a b"]) {
        await workspace.callTool("bash", { command: text });
      }
      const after = workspace.readFile("moved");
      const { files } = workspace.sandbox;
      const { removed, restored, left, untracked } = await changeLog.undoTurn(files);
      assertEquals([removed, restored, left], [["b", "moved"], ["data", "a"], []]);
      assertEquals(workspace.readFile("data"), before);
      const ignored = command.includes("build") ? "build/" : "data.bak";
      assertStringIncludes(
        untracked.join("; "),
        `ignored files and secrets are not undone: ${ignored}`,
      );
      await new ChangeLog(new DirectoryChangeLogStore(directory)).redoTurn(files);
      assertEquals(workspace.readFile("moved"), after);
      await Deno.remove(directory, { recursive: true });
    },
  });
}

Deno.test({
  name:
    "undoTurn(): keeps files that were not recorded also if recorded ones have the same content",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile(".gitignore", "local\n");
    for (const path of ["LICENSE", "local", "lib/LICENSE", "moved"]) {
      workspace.writeFile(path, path === "moved" ? "x" : "text");
    }
    runShell(workspace, "git init -q lib");
    const command = "rm -rf lib/.git; echo > .gitignore; mv moved local2";
    await workspace.callTool("bash", { command });
    const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(removed, ["local2"]);
    assertStringIncludes(untracked.join("; "), "not recorded before: lib/LICENSE, local");
    for (const path of ["lib/LICENSE", "local"]) assertEquals(workspace.exists(path), true, path);
  },
});

Deno.test({
  name: "undoTurn(): keeps a file that is no longer ignored also if a changed one had its content",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile(".gitignore", "local\n");
    for (const path of ["example", "local"]) workspace.writeFile(path, "text");
    await workspace.callTool("bash", { command: "echo > .gitignore; echo x >> example" });
    const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(removed, []);
    assertStringIncludes(untracked.join("; "), "not recorded before: local");
    assertEquals(workspace.readFile("local"), "text");
  },
});

Deno.test({
  name: "undoTurn(): keeps the new files of a recorded one whose name is not UTF-8",
  ignore: Deno.build.os !== "linux",
  async fn() {
    for (
      const [command, kept] of [
        ["mv $'\\xff' new", "new"],
        ["cp $'\\xff' new; rm $'\\xff'", "new"],
        ["mv $'\\xff' new; sed -i s/a/b/ new", "new"],
      ] as const
    ) {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      for (const path of ["old", "a"]) workspace.writeFile(path, path);
      runShell(workspace, "echo a > $'\\xff'");
      await workspace.callTool("bash", { command: `${command}; mv a b` });
      const { removed } = await changeLog.undoTurn(workspace.sandbox.files);
      assertEquals(removed, ["b"], command);
      assertEquals(workspace.exists(kept), true, command);
      assertEquals(workspace.readFile("old"), "old");
    }
  },
});

for (
  const command of [
    "tar cf x.tar build/one; rm build/one; echo > .gitignore",
    "tar cf x.tar build/one; rm build/one; echo x > build/new.txt",
  ]
) {
  Deno.test({
    name:
      `undoTurn(): names an ignored directory that is no longer one, and keeps an archive of its files: ${command}`,
    ignore,
    async fn() {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      const isByName = command.includes("new.txt");
      workspace.writeFile(".gitignore", isByName ? "*.o\n" : "build/\n");
      for (const path of ["build/one.o", "build/two.o"]) workspace.writeFile(path, path);
      await workspace.callTool("bash", { command: command.replaceAll("build/one", "build/one.o") });
      const { untracked } = await changeLog.undoTurn(workspace.sandbox.files);
      assertEquals(workspace.exists("x.tar"), true);
      assertStringIncludes(
        untracked.join("; "),
        "ignored files and secrets are not undone: build/",
      );
    },
  });
}

Deno.test({
  name: "undoTurn(): names the new place of ignored files in a directory that was moved",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile(".gitignore", "build/\n");
    for (const path of ["src/a", "src/build/b"]) workspace.writeFile(path, path);
    await workspace.callTool("bash", { command: "mv src source" });
    const { restored, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(restored, ["src/a"]);
    assertEquals(untracked, [
      "ignored files and secrets are not undone: source/build/, src/build/",
    ]);
  },
});

for (const isNested of [false, true]) {
  const place = isNested ? "next to a nested repository" : "in a work tree";
  Deno.test({
    name:
      `undoTurn(): names ignored files ${place} that are gone, also if a file is in their place`,
    ignore,
    async fn() {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      workspace.writeFile(".gitignore", "*.log\nbuild/\n");
      const paths = ["src/a.log", "src/a", "build/b", "c.log", "d/e.log", "d/f", "node_modules/g"];
      for (const path of paths) workspace.writeFile(path, path);
      if (isNested) runShell(workspace, "git init -q sub");
      const command = "rm -r src build c.log d/e.log node_modules; echo x > src; echo x > build";
      await workspace.callTool("bash", { command });
      const { untracked } = await changeLog.undoTurn(workspace.sandbox.files);
      const names =
        "ignored files and secrets are not undone: build/, c.log, d/e.log, node_modules/, src/a.log";
      assertStringIncludes(untracked.join("; "), names);
    },
  });
}

Deno.test({
  name: "undoTurn(): names an ignored file of which a directory has taken the place",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile(".gitignore", "*.log\n");
    workspace.writeFile("a.log", "a");
    const command = "rm .gitignore; cp a.log new; rm a.log; mkdir a.log; echo x > a.log/b";
    await workspace.callTool("bash", { command });
    const { untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertStringIncludes(untracked.join("; "), "ignored files and secrets are not undone: a.log");
    assertEquals(workspace.readFile("new"), "a");
  },
});

Deno.test({
  name:
    "undoTurn(): with nested repositories, keeps files that the list of ignored files of the repository had",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile("ignored", "a");
    runShell(workspace, "git init -q .; git init -q sub; echo ignored > .git/info/exclude");
    const command = ": > .git/info/exclude; sed -i s/a/b/ ignored";
    await workspace.callTool("bash", { command });
    const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(removed, []);
    assertEquals(workspace.readFile("ignored"), "b");
    assertStringIncludes(untracked.join("; "), "not recorded before: ignored");
  },
});

for (const isNested of [false, true]) {
  const place = isNested ? "next to a nested repository" : "in a work tree";
  Deno.test({
    name: `undoTurn(): names an ignored file ${place} that a link replaced`,
    ignore,
    async fn() {
      const changeLog = new ChangeLog();
      await using workspace = new TestWorkspace({}, { changeLog });
      workspace.writeFile(".gitignore", "*.log\n");
      for (const path of ["a.log", "b.log", "c.txt"]) workspace.writeFile(path, path);
      if (isNested) runShell(workspace, "git init -q sub");
      await workspace.callTool("bash", { command: "ln -sf c.txt a.log; echo x > c.txt" });
      const { restored, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
      assertEquals(restored, ["c.txt"]);
      assertStringIncludes(untracked.join("; "), "ignored files and secrets are not undone: a.log");
    },
  });
}

Deno.test({
  name: "undoTurn(): with nested repositories, keeps and names files that are no longer ignored",
  ignore,
  async fn() {
    const changeLog = new ChangeLog();
    await using workspace = new TestWorkspace({}, { changeLog });
    workspace.writeFile("lib/.gitignore", "ignored\n");
    for (const path of ["lib/ignored", "a.txt"]) workspace.writeFile(path, path);
    runShell(workspace, "git init -q sub");
    const command =
      "echo x > lib/.gitignore; sed -i s/i/I/ lib/ignored; mv a.txt b.txt; echo x > made";
    await workspace.callTool("bash", { command });
    const { removed, untracked } = await changeLog.undoTurn(workspace.sandbox.files);
    assertEquals(removed, ["b.txt", "made"]);
    assertEquals(workspace.readFile("lib/ignored"), "lIb/ignored");
    assertStringIncludes(untracked.join("; "), "not recorded before: lib/ignored");
  },
});
