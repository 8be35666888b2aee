import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";

/** The hooks and settings of the repository of a project, with the mode of each file. */
const SETTINGS: Readonly<Record<string, string>> = {
  ".git/config": "[core]\n",
  ".git/hooks/pre-commit": "#!/bin/sh\n",
  ".git/modules/a/config": "[core]\n",
  ".git/worktrees/b/config.worktree": "[core]\n",
};

function createRepository(): TestWorkspace {
  const workspace = new TestWorkspace();
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
];

for (const [command, changed] of CHANGES) {
  Deno.test(`git settings: ${JSON.stringify(command)} is undone and reported`, async () => {
    await using workspace = createRepository();
    const { text } = await workspace.callTool("bash", { command });
    assertStringIncludes(text, `[Sandbox: undid the changes to ${changed}, because git would run`);
    assertRestored(workspace);
    for (const path of [".git/config.worktree", ".git/hooks/post-checkout", ".git/hooks/a/b"]) {
      assert(!workspace.exists(path), path);
    }
  });
}

Deno.test("git settings: a link in the place of a directory is removed, and its target is not written", async () => {
  await using workspace = createRepository();
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
    "echo x > .git/config; echo ready; sleep 600",
  );
  const reader = command.output.getReader();
  await reader.read();
  await reader.cancel();
  await workspace.sandbox[Symbol.asyncDispose]();
  assertRestored(workspace);
});
