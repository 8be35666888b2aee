import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { findConfinement } from "../confinement/confinement.ts";
import type { SandboxOptions } from "./sandbox_options.ts";

const confinement = await findConfinement();
const canMount = confinement.type === "linux" && confinement.support.mounts !== "none";

/** Without confinement, nothing is read-only, and changes are undone. */
const UNPROTECTED: SandboxOptions = { confinement: "off" };

/** The hooks and settings of the repository of a project, with the mode of each file. */
const SETTINGS: Readonly<Record<string, string>> = {
  ".git/config": "[core]\n",
  ".git/hooks/pre-commit": "#!/bin/sh\n",
  ".git/modules/a/config": "[core]\n",
  ".git/worktrees/b/config.worktree": "[core]\n",
};

function createRepository(options: SandboxOptions = {}): TestWorkspace {
  const workspace = new TestWorkspace(options);
  workspace.writeFile(".git/HEAD", "ref: refs/heads/main\n");
  for (const [path, text] of Object.entries(SETTINGS)) workspace.writeFile(path, text);
  Deno.chmodSync(`${workspace.directory}/.git/hooks/pre-commit`, 0o755);
  return workspace;
}

function assertRestored(workspace: TestWorkspace): void {
  for (const [path, text] of Object.entries(SETTINGS)) assertEquals(workspace.readFile(path), text);
  const { mode } = Deno.statSync(`${workspace.directory}/.git/hooks/pre-commit`);
  assertEquals((mode ?? 0) & 0o777, 0o755);
}

const CHANGES: readonly (readonly [command: string, changed: string])[] = [
  ["echo '[alias]' >> .git/config", ".git/config"],
  ["rm .git/config", ".git/config"],
  ["rm .git/config; mkfifo .git/config", ".git/config"],
  ["echo x > .git/config.worktree", ".git/config.worktree"],
  ["echo x > .git/hooks/post-checkout", ".git/hooks/post-checkout"],
  ["mkdir .git/hooks/a; echo x > .git/hooks/a/b", ".git/hooks/a/b"],
  ["chmod -x .git/hooks/pre-commit", ".git/hooks/pre-commit"],
  ["echo x > .git/modules/a/config", ".git/modules/a/config"],
  [
    "mkdir -p .git/modules/c/d/hooks; echo x > .git/modules/c/d/hooks/e",
    ".git/modules/c/d/hooks/e",
  ],
  ["echo x > .git/worktrees/b/config.worktree", ".git/worktrees/b/config.worktree"],
  ["(sleep 0.01; echo x > .git/config) & wait", ".git/config"],
  ["cd .. ; echo x > project/.git/config", ".git/config"],
  ["echo ../evil > .git/commondir", ".git/commondir"],
  [
    "mkdir -p .git/worktrees/c; echo ../evil > .git/worktrees/c/commondir",
    ".git/worktrees/c/commondir",
  ],
  ["mkdir -p .git/modules/info; echo x > .git/modules/info/config", ".git/modules/info/config"],
];

const ADDED = [
  ".git/config.worktree",
  ".git/hooks/post-checkout",
  ".git/hooks/a/b",
  ".git/commondir",
];

for (const [command, changed] of CHANGES) {
  Deno.test(`git settings: ${JSON.stringify(command)} is undone and reported`, async () => {
    await using workspace = createRepository(UNPROTECTED);
    const { text } = await workspace.callTool("bash", { command });
    assertStringIncludes(text, `[Sandbox: undid the changes to ${changed}, because git would run`);
    assertRestored(workspace);
    for (const path of ADDED) assert(!workspace.exists(path), path);
  });
}

const LAYOUTS: readonly (readonly [name: string, command: string])[] = [
  ["a link .git", "mv .git store; ln -s store .git"],
  ["a file .git", "mv .git store; echo 'gitdir: ./store' > .git"],
  [
    "a file .git of a working tree",
    "mv .git store; mkdir -p store/worktrees/w; echo ../.. > store/worktrees/w/commondir; echo 'gitdir: store/worktrees/w' > .git",
  ],
  [
    "no working tree",
    "mkdir .git/refs .git/objects; mv .git store; cp -r store/. .; rm -r store; ln -s . store",
  ],
];

for (const [name, layOut] of LAYOUTS) {
  for (const options of canMount ? [UNPROTECTED, {}] : [UNPROTECTED]) {
    const change = options === UNPROTECTED ? "undone" : "not possible";
    Deno.test(`git settings: in a repository with ${name}, changes are ${change}`, async () => {
      await using workspace = createRepository(options);
      const shell = new Deno.Command("sh", { args: ["-c", layOut], cwd: workspace.directory });
      assert((await shell.output()).success);
      const command =
        "echo x > store/config; echo x > store/hooks/pre-commit; rm -f .git; echo done";
      const { text } = await workspace.callTool("bash", { command });
      assertStringIncludes(text, "done");
      assertEquals(text.includes("undid"), options === UNPROTECTED || name === "a link .git", text);
      assertEquals(workspace.readFile("store/config"), "[core]\n");
      assertEquals(workspace.readFile("store/hooks/pre-commit"), "#!/bin/sh\n");
    });
  }
}

/** Runs a command to its end, without what follows it. */
async function runUnfinished(workspace: TestWorkspace, command: string): Promise<string> {
  const started = await workspace.sandbox.startCommand(command);
  const text = await new Response(started.output).text();
  await started.exited;
  return text;
}

const ATTACKS: readonly string[] = [
  "echo x > .git/config; rm -f .git/config; mv .git/config x; truncate -s 0 .git/config; ln -f .git/HEAD .git/config",
  "git config user.name x; git config --global x.y z",
  "echo x > .git/hooks/pre-commit; echo x > .git/hooks/new; rm -rf .git/hooks; mv .git/hooks x; chmod 777 .git/hooks/*",
  "cd .git/hooks && echo x > pre-commit; echo x > new; cd .. && echo x > config",
  "cp -r .git g; mv .git old && mv g .git; rm -rf .git; echo x > .git/config",
  "mv .git/modules/a .git/modules/b; mv .git/modules m; echo x > .git/modules/a/config",
  "ln .git/config hard && echo x > hard; ln -s .git/config soft && echo x > soft",
  "umount .git/config; umount -l .git; mount -o remount,rw,bind .git/config; mount -t tmpfs x .git; echo x > .git/config",
  "unshare -Urm sh -c 'umount -l .git/config; mount -o remount,rw,bind .git/config; echo x > .git/config'",
  "for p in /proc/[0-9]*; do echo x > $p/root$PWD/.git/config; echo x > $p/cwd/.git/config; done 2>&1",
];

for (const command of ATTACKS) {
  Deno.test({
    name: `git settings: ${JSON.stringify(command)} changes none where they are read-only`,
    ignore: !canMount,
    async fn() {
      await using workspace = createRepository();
      const text = await runUnfinished(workspace, command);
      assertRestored(workspace);
      assertEquals([...Deno.readDirSync(`${workspace.directory}/.git/hooks`)].length, 1, text);
    },
  });
}

Deno.test({
  name:
    "git settings: a command that starts in a directory of hooks cannot change them where they are read-only",
  ignore: !canMount,
  async fn() {
    await using workspace = createRepository();
    await workspace.callTool("bash", { command: "cd .git/hooks" });
    const { text } = await workspace.callTool("bash", {
      command: "pwd; echo x > pre-commit; echo x > new",
    });
    assertStringIncludes(text, "/.git/hooks");
    assertStringIncludes(text, "Read-only file system");
    assertStringIncludes(text, "not to hooks and configuration of git");
    assertRestored(workspace);
  },
});

Deno.test({
  name: "git settings: a change by the user during a command remains where they are read-only",
  ignore: !canMount,
  async fn() {
    await using workspace = createRepository();
    const command = await workspace.sandbox.startCommand("echo ready; sleep 600");
    const reader = command.output.getReader();
    await reader.read();
    workspace.writeFile(".git/config", "[user]\n");
    workspace.writeFile(".git/hooks/post-commit", "#!/bin/sh\n");
    await reader.cancel();
    await command.terminate(0);
    assertEquals((await command.finish()).restoredFiles, undefined);
    assertEquals(workspace.readFile(".git/config"), "[user]\n");
    assertEquals(workspace.readFile(".git/hooks/post-commit"), "#!/bin/sh\n");
  },
});

Deno.test({
  name: "git settings: a program of spawn() cannot change them where they are read-only",
  ignore: !canMount,
  async fn() {
    await using workspace = createRepository();
    const process = await workspace.sandbox.spawn({
      program: "sh",
      args: ["-c", "echo x > .git/config; echo x > .git/index"],
      env: { PATH: "/usr/bin:/bin" },
    });
    await process.stdin.close();
    const readAll = async (stream: ReadableStream<Uint8Array>) => {
      for await (const _ of stream);
    };
    await Promise.all([readAll(process.stdout), readAll(process.stderr), process.exited]);
    assertRestored(workspace);
    assertEquals(workspace.readFile(".git/index"), "x\n");
  },
});

Deno.test({
  name: "git settings: git commits, branches and stashes where they are read-only",
  ignore: !canMount,
  async fn() {
    await using workspace = new TestWorkspace();
    const setUp = "git init -q . && git config user.name a && git config user.email a@b";
    await workspace.callTool("bash", { command: setUp });
    const { text } = await workspace.callTool("bash", {
      command:
        "echo 1 > a && git add a && git commit -qm 1 && git checkout -qb b && echo 2 > a && git stash -q && " +
        "git checkout -q - && git worktree add -q ../w 2>&1; git worktree add -q w && git gc -q && git log --oneline | wc -l",
    });
    assertStringIncludes(text, "\n1");
    assert(text.startsWith("Exit code: 0"), text);
    assert(!text.includes("undid"), text);
  },
});

Deno.test("git settings: a working directory that a command turns into a repository has no configuration", async () => {
  await using workspace = createRepository(UNPROTECTED);
  const { text } = await workspace.callTool("bash", {
    command:
      "rm .git/HEAD; echo 'ref: refs/heads/main' > HEAD; mkdir -p objects refs; echo x > config; echo x > commondir",
  });
  assertStringIncludes(text, "undid the changes to config, commondir");
  assert(!workspace.exists("config") && !workspace.exists("commondir"));
});

Deno.test("git settings: a link in the place of a directory is removed, and its target is not written", async () => {
  await using workspace = createRepository(UNPROTECTED);
  const outside = `${workspace.outside}/outside`;
  Deno.mkdirSync(outside);
  const command =
    `mv .git/hooks kept; ln -s ${outside} .git/hooks; rm .git/config; ln -s ${outside}/x .git/config`;
  const { text } = await workspace.callTool("bash", { command });
  assertStringIncludes(text, ".git/hooks, ");
  assertRestored(workspace);
  assertEquals([...Deno.readDirSync(outside)], []);
});

Deno.test("git settings: other changes of a repository remain and are not reported", async () => {
  await using workspace = createRepository();
  const { text } = await workspace.callTool("bash", {
    command: "echo x > .git/index; mkdir .git/objects; echo x > .git/objects/a; echo x > config",
  });
  assertEquals(text, "Exit code: 0");
  assertEquals([workspace.readFile(".git/index"), workspace.readFile("config")], ["x\n", "x\n"]);
});

Deno.test("git settings: a command that is running when the sandbox is disposed changes none", async () => {
  await using workspace = createRepository();
  const command = await workspace.sandbox.startCommand(
    "echo x > .git/config.worktree; echo ready; sleep 600",
  );
  const reader = command.output.getReader();
  await reader.read();
  await reader.cancel();
  await workspace.sandbox[Symbol.asyncDispose]();
  assert(!workspace.exists(".git/config.worktree"));
  // A tool that sees the end of its command late does not undo what the user has changed since.
  workspace.writeFile(".git/config.worktree", "user\n");
  assertEquals(await command.finish(), {});
  assertEquals(workspace.readFile(".git/config.worktree"), "user\n");
});

Deno.test("git settings: git uses no repository that is a directory with another name than .git", async () => {
  await using workspace = new TestWorkspace();
  for (const name of ["objects/a", "refs/a"]) workspace.writeFile(`evil/${name}`, "");
  workspace.writeFile("evil/HEAD", "ref: refs/heads/main\n");
  workspace.writeFile(
    "evil/config",
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch started; false"\n',
  );
  await workspace.callTool("bash", { command: "cd evil && git status" });
  await workspace.callTool("bash", { command: "git status" });
  assertEquals(workspace.exists("started"), false);
  await workspace.callTool("bash", { command: "cd .. ; git init -q new && cd new && git status" });
  assert(workspace.exists("new/.git/HEAD"));
});

Deno.test("git settings: changes are undone also among hundreds of others, and in deep directories", async () => {
  await using workspace = createRepository(UNPROTECTED);
  const deep = `.git/modules/${"a/".repeat(20)}`;
  const { text } = await workspace.callTool("bash", {
    command: "for i in $(seq 600); do echo x > .git/hooks/z$i; done; echo x > .git/hooks/aaa; " +
      `echo x > .git/hooks/pre-push; mkdir -p ${deep}; echo x > ${deep}config`,
  });
  assertEquals(
    [...Deno.readDirSync(`${workspace.directory}/.git/hooks`)].map(({ name }) => name),
    ["pre-commit"],
  );
  assertEquals(workspace.exists(`${deep}config`), false);
  assertRestored(workspace);
  assert(text.length < 5_000, `${text.length} characters`);
  assertStringIncludes(text, " and 583 others, because");
});

Deno.test("git settings: those of a repository with many submodules remain", async () => {
  await using workspace = createRepository(UNPROTECTED);
  const paths = Array.from({ length: 550 }, (_, index) => `.git/modules/m${index}/config`);
  for (const path of paths) workspace.writeFile(path, "");
  await workspace.callTool("bash", {
    command:
      "for i in $(seq 60); do mkdir .git/modules/a$i; echo x > .git/modules/a$i/config; done",
  });
  assertEquals(paths.filter((path) => !workspace.exists(path)), []);
  assertEquals([...Deno.readDirSync(`${workspace.directory}/.git/modules/a1`)], []);
});

Deno.test("git settings: contents of files that a command adds are not read into memory", async () => {
  await using workspace = createRepository(UNPROTECTED);
  await workspace.callTool("bash", { command: "true" });
  const before = Deno.memoryUsage().rss;
  const { text } = await workspace.callTool("bash", {
    command: "mkdir -p .git/modules/b/hooks .git/worktrees/c; " +
      "for i in $(seq 2000); do echo .git/modules/b/hooks/$i; done | xargs truncate -s 256K; " +
      "printf ../.. > .git/worktrees/c/commondir; truncate -s 300M .git/worktrees/c/config",
  });
  assertStringIncludes(text, " and 1,982 others, because");
  assert(Deno.memoryUsage().rss - before < 300_000_000);
  assertRestored(workspace);
});

Deno.test("git settings: the files of a repository beyond the maximum size remain", async () => {
  await using workspace = createRepository({});
  const content = "#".repeat(2_000_000);
  const paths = Array.from({ length: 40 }, (_, index) => `.git/hooks/large${index % 20}/${index}`);
  for (const path of paths) workspace.writeFile(path, content.slice(0, 1_000_000));
  workspace.writeFile(".git/modules/a/config", content);
  await workspace.callTool("bash", { command: "echo x >> .git/modules/a/config; true" });
  assertEquals(workspace.readFile(".git/modules/a/config").length >= content.length, true);
  assertEquals(paths.filter((path) => workspace.readFile(path).length !== 1_000_000), []);
});
