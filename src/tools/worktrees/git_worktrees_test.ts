import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { Worktree, WorktreeEnd } from "../../core/ports/worktree_port.ts";
import { gitWorktrees, type GitWorktreesOptions } from "./git_worktrees.ts";

interface Fixture {
  readonly root: string;
  readonly repository: string;
  readonly git: (...args: readonly string[]) => Promise<string>;
}

async function callGit(cwd: string, ...args: readonly string[]): Promise<string> {
  const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: [...identity, ...args],
    cwd,
  }).output();
  const text = new TextDecoder();
  assert(success, text.decode(stderr));
  return text.decode(stdout);
}

/** Runs a test with a repository of one commit. */
function testRepository(title: string, act: (fixture: Fixture) => Promise<void>): void {
  Deno.test(title, async () => {
    const root = await Deno.realPath(await Deno.makeTempDir());
    try {
      const repository = `${root}/my project`;
      await Deno.mkdir(repository);
      const git = (...args: readonly string[]) => callGit(repository, ...args);
      await git("init", "--quiet", "--initial-branch=main");
      await Deno.writeTextFile(`${repository}/a.txt`, "one\n");
      await Deno.writeTextFile(`${repository}/.gitignore`, "build\n");
      await git("add", "--all");
      await git("commit", "--quiet", "--message", "First");
      await act({ root, repository, git });
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  });
}

async function createWorktree(options: GitWorktreesOptions, name = "Fix it"): Promise<Worktree> {
  const creation = await gitWorktrees(options).create({ name });
  assert(creation.type === "created", JSON.stringify(creation));
  return creation.worktree;
}

async function readFailure(options: GitWorktreesOptions): Promise<string> {
  const creation = await gitWorktrees(options).create({ name: "fix" });
  assert(creation.type === "failed");
  return creation.reason;
}

function getSummary(end: WorktreeEnd): string {
  assert(end.type === "kept", JSON.stringify(end));
  return end.summary;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

testRepository(
  "gitWorktrees(): creates a directory with a branch at the latest commit",
  async (fixture) => {
    const { root, repository, git } = fixture;
    const worktree = await createWorktree({ repository, newId: () => "A1" });
    assertEquals(worktree.branch, "swink/fix-it-a1");
    assertEquals(worktree.directory, `${root}/my project.worktrees/fix-it-a1`);
    assertEquals(await Deno.readTextFile(`${worktree.directory}/a.txt`), "one\n");
    assertEquals(
      await callGit(worktree.directory, "branch", "--show-current"),
      "swink/fix-it-a1\n",
    );
    assertEquals(await git("branch", "--show-current"), "main\n");
  },
);

/** Adds an empty submodule, as a repository has it before its submodules are fetched. */
async function addSubmodule({ repository, git }: Fixture): Promise<void> {
  const commit = (await git("rev-parse", "HEAD")).trim();
  await git("update-index", "--add", "--cacheinfo", `160000,${commit},libs/my lib`);
  await Deno.mkdir(`${repository}/libs/my lib`, { recursive: true });
  await git("commit", "--quiet", "--message", "Submodule");
}

testRepository(
  "gitWorktrees(): keeps a worktree with files in a submodule, which its commit lacks",
  async (fixture) => {
    const { repository } = fixture;
    await addSubmodule(fixture);
    const worktree = await createWorktree({ repository });
    await Deno.writeTextFile(`${worktree.directory}/libs/my lib/new.ts`, "1");
    const reason =
      'it has files in "libs/my lib", a repository of its own, of which its branch has none';
    assertEquals(await worktree.remove(), { type: "failed", reason });
    assert(await exists(`${worktree.directory}/libs/my lib/new.ts`));

    const changed = await createWorktree({ repository });
    await Deno.writeTextFile(`${changed.directory}/a.txt`, "two\n");
    await Deno.mkdir(`${changed.directory}/libs/my lib/src`);
    assertEquals(await changed.remove(), { type: "failed", reason });
    assertEquals(await callGit(repository, "show", `${changed.branch}:a.txt`), "two\n");
  },
);

testRepository(
  "gitWorktrees(): removes a worktree whose submodules have no files",
  async (fixture) => {
    await addSubmodule(fixture);
    const worktree = await createWorktree({ repository: fixture.repository });
    assertEquals(await worktree.remove(), { type: "removed" });
    assertEquals(await exists(worktree.directory), false);
  },
);

testRepository(
  "gitWorktrees(): for a directory of the repository, the agent works in the same one of the copy",
  async (fixture) => {
    const { root, repository, git } = fixture;
    await Deno.mkdir(`${repository}/packages/café`, { recursive: true });
    await Deno.writeTextFile(`${repository}/packages/café/b.txt`, "two\n");
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "Second");
    const options = { repository: `${repository}/packages/café`, newId: () => "A1" };
    const worktree = await createWorktree(options);
    const copy = `${root}/my project.worktrees/fix-it-a1`;
    assertEquals([worktree.directory, worktree.root], [`${copy}/packages/café`, copy]);
    assertEquals(await Deno.readTextFile(`${worktree.directory}/b.txt`), "two\n");
    await Deno.writeTextFile(`${worktree.directory}/c.txt`, "three\n");
    assertStringIncludes(getSummary(await worktree.remove()), "c.txt");

    await Deno.mkdir(`${repository}/build/out`, { recursive: true });
    assertStringIncludes(
      await readFailure({ repository: `${repository}/build/out` }),
      "has no committed files",
    );
    assertEquals((await git("branch", "--list")).trim().split("\n").length, 2);
  },
);

testRepository(
  "gitWorktrees(): removes a worktree without changes, with its branch",
  async (fixture) => {
    const { repository, git } = fixture;
    const worktree = await createWorktree({ repository });
    await Deno.mkdir(`${worktree.directory}/build`);
    await Deno.writeTextFile(`${worktree.directory}/build/ignored`, "x");
    assertEquals(await worktree.remove(), { type: "removed" });
    assertEquals(await worktree.remove(), { type: "removed" });
    assertEquals(await exists(worktree.directory), false);
    assertEquals(await git("branch", "--list"), "* main\n");
    assertEquals((await git("worktree", "list")).trim().split("\n").length, 1);
  },
);

testRepository(
  "gitWorktrees(): worktrees are added and removed one after the other",
  async ({ root, repository, git }) => {
    // A git that fails as the real one may when two of them run.
    const program = `${root}/git.sh`;
    await Deno.writeTextFile(
      program,
      `#!/bin/sh
case "$*" in
  *"worktree add"*|*"worktree remove"*)
    mkdir "${root}/busy" || { echo "fatal: two at the same time" >&2; exit 128; }
    sleep 0.1; git "$@"; code=$?
    rmdir "${root}/busy"; exit $code;;
  *) exec git "$@";;
esac
`,
      { mode: 0o700 },
    );
    const worktrees = await Promise.all(
      Array.from({ length: 4 }, () => createWorktree({ repository, program })),
    );
    const ends = await Promise.all(worktrees.map((worktree) => worktree.remove()));
    assertEquals(new Set(ends.map(({ type }) => type)), new Set(["removed"]));
    assertEquals(await git("branch", "--list"), "* main\n");
    assertEquals((await git("worktree", "list")).trim().split("\n").length, 1);
  },
);

testRepository(
  "gitWorktrees(): leaves no branch of a worktree that cannot be created, and deletes none that exists",
  async ({ root, repository, git }) => {
    await git("branch", "swink/fix-a1");
    assertStringIncludes(await readFailure({ repository, newId: () => "A1" }), "already exists");
    const directory = `${root}/file`;
    await Deno.mkdir(`${directory}/fix-a2/used`, { recursive: true });
    await readFailure({ repository, directory, newId: () => "A2" });
    assertEquals(await git("branch", "--list"), "* main\n  swink/fix-a1\n");
  },
);

testRepository("gitWorktrees(): keeps changes as a commit that can be merged", async (fixture) => {
  const { repository, git } = fixture;
  const worktree = await createWorktree({ repository });
  await Deno.writeTextFile(`${worktree.directory}/a.txt`, "two\n");
  await Deno.writeTextFile(`${worktree.directory}/-b c.txt`, "new\n");
  const summary = getSummary(await worktree.remove());
  assertStringIncludes(summary, "a.txt");
  assertStringIncludes(summary, "2 files changed");
  assertEquals(await Deno.readTextFile(`${repository}/a.txt`), "one\n");
  await git("merge", "--quiet", worktree.branch);
  assertEquals(await Deno.readTextFile(`${repository}/a.txt`), "two\n");
  assertEquals(await Deno.readTextFile(`${repository}/-b c.txt`), "new\n");
});

testRepository("gitWorktrees(): keeps commits of the agent", async (fixture) => {
  const worktree = await createWorktree({ repository: fixture.repository });
  await Deno.remove(`${worktree.directory}/a.txt`);
  await callGit(worktree.directory, "commit", "--quiet", "--all", "--message", "Own");
  assertStringIncludes(getSummary(await worktree.remove()), "1 file changed, 1 deletion");
});

testRepository(
  "gitWorktrees(): several at the same time have their own branches",
  async (fixture) => {
    const port = gitWorktrees({ repository: fixture.repository });
    const created = await Promise.all([1, 2, 3, 4].map(() => port.create({ name: "fix" })));
    const branches = new Set(
      created.map((creation) =>
        creation.type === "created" ? creation.worktree.branch : creation.reason
      ),
    );
    assertEquals(branches.size, 4);
    assert(
      [...branches].every((branch) => branch.startsWith("swink/fix-")),
      [...branches].join(),
    );
  },
);

testRepository(
  "gitWorktrees(): states that changes are not committed, and which",
  async (fixture) => {
    const { repository } = fixture;
    for (let number = 0; number < 7; number++) {
      await Deno.writeTextFile(`${repository}/new ${number}`, "x");
    }
    const reason = await readFailure({ repository });
    assertStringIncludes(reason, "commit or stash them");
    assertStringIncludes(reason, "new 0");
    assertStringIncludes(reason, "and 2 more");
  },
);

testRepository("gitWorktrees(): states that there is no commit", async ({ root }) => {
  const repository = `${root}/empty`;
  await Deno.mkdir(repository);
  await callGit(repository, "init", "--quiet");
  assertStringIncludes(await readFailure({ repository }), "has no commits");
});

testRepository(
  "gitWorktrees(): states that there is no repository, or no working tree",
  async (fixture) => {
    const { root, repository } = fixture;
    const reason = await readFailure({ repository: root });
    assertStringIncludes(reason, 'create one with "git init"');
    const bare = await readFailure({ repository: `${repository}/.git` });
    assertStringIncludes(bare, "is not in the working tree of a git repository");
  },
);

testRepository("gitWorktrees(): states that git or the directory is missing", async (fixture) => {
  const { root, repository } = fixture;
  const missing = await readFailure({ repository, program: `${root}/no git` });
  assertStringIncludes(missing, "install git");
  const nowhere = await readFailure({ repository: `${root}/nowhere` });
  assertStringIncludes(nowhere, "check that the directory exists");
});

testRepository("gitWorktrees(): states that a directory cannot be used", async (fixture) => {
  const { root, repository } = fixture;
  const inside = await readFailure({ repository, directory: `${repository}/trees` });
  assertStringIncludes(inside, "choose one outside of it");
  await Deno.writeTextFile(`${root}/file`, "");
  const file = await readFailure({ repository, directory: `${root}/file` });
  assertStringIncludes(file, "git cannot create the worktree");
});

testRepository("gitWorktrees(): an abort cancels the creation", async ({ repository }) => {
  const port = gitWorktrees({ repository });
  const creation = await port.create({ name: "fix", signal: AbortSignal.abort() });
  assertEquals(creation.type, "failed");
});

testRepository(
  "gitWorktrees(): runs no hook and no program that the worktree names",
  async (fixture) => {
    const { root, repository, git } = fixture;
    const mark = `${root}/mark`;
    const script = `#!/bin/sh\ntouch '${mark}'\n`;
    for (const hook of ["post-checkout", "pre-commit", "post-commit", "reference-transaction"]) {
      await Deno.writeTextFile(`${repository}/.git/hooks/${hook}`, script, { mode: 0o755 });
    }
    await Deno.writeTextFile(`${root}/monitor`, script, { mode: 0o755 });
    await git("config", "core.fsmonitor", `${root}/monitor`);
    const worktree = await createWorktree({ repository });
    // A repository of the agent's own takes the place of the worktree's.
    const other = `${worktree.directory}/other`;
    await Deno.mkdir(other);
    await callGit(other, "init", "--quiet");
    await callGit(other, "config", "core.fsmonitor", `${root}/monitor`);
    await Deno.rename(`${other}/.git`, `${root}/own.git`);
    await Deno.writeTextFile(`${worktree.directory}/.git`, `gitdir: ${root}/own.git\n`);
    await Deno.writeTextFile(`${worktree.directory}/a.txt`, "two\n");
    // A repository in a directory, as a submodule whose changes count.
    const nested = `${worktree.directory}/nested`;
    await Deno.mkdir(nested);
    await callGit(nested, "init", "--quiet");
    await callGit(nested, "commit", "--quiet", "--allow-empty", "--message", "Nested");
    await callGit(nested, "config", "core.fsmonitor", `${root}/monitor`);
    const module = '[submodule "nested"]\n\tpath = nested\n\turl = ./nested\n\tignore = none\n';
    await Deno.writeTextFile(`${worktree.directory}/.gitmodules`, module);
    const end = await worktree.remove();
    assert(end.type === "failed");
    assertStringIncludes(end.reason, 'it has files in "nested"');
    assertEquals(await exists(mark), false);
    assertEquals(await git("show", `${worktree.branch}:a.txt`), "two\n");
    assertStringIncludes(await git("log", "--oneline", worktree.branch), "Changes of the agent");
  },
);

testRepository(
  "gitWorktrees(): keeps a worktree whose branch was changed, and states it",
  async (fixture) => {
    const worktree = await createWorktree({ repository: fixture.repository });
    await callGit(worktree.directory, "checkout", "--quiet", "-b", "other");
    const end = await worktree.remove();
    assert(end.type === "failed");
    assertStringIncludes(end.reason, "another branch or commit");
    assert(await exists(worktree.directory));
  },
);

testRepository("gitWorktrees(): states that a worktree was deleted", async (fixture) => {
  const worktree = await createWorktree({ repository: fixture.repository });
  await Deno.remove(worktree.directory, { recursive: true });
  assertEquals((await worktree.remove()).type, "failed");
});

testRepository(
  "gitWorktrees(): keeps a worktree with files in a submodule without running git in it, whose settings the agent may have made",
  async (fixture) => {
    const { root, repository, git } = fixture;
    for (const name of ["sub [a]", "other"]) {
      await git("init", "--quiet", name);
      await Deno.writeTextFile(`${repository}/${name}/c.txt`, "one\n");
      await callGit(`${repository}/${name}`, "add", "c.txt");
      await callGit(`${repository}/${name}`, "commit", "--quiet", "--message", "Sub");
    }
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "Submodules");
    const worktree = await createWorktree({ repository });
    const submodule = `${worktree.directory}/sub [a]`;
    await callGit(root, "clone", "--quiet", `${repository}/sub [a]`, submodule);
    await callGit(submodule, "config", "filter.own.clean", `touch '${root}/was_run'; cat`);
    await Deno.writeTextFile(`${submodule}/.gitattributes`, "* filter=own\n");
    await Deno.writeTextFile(`${submodule}/c.txt`, "two\n");
    await Deno.writeTextFile(`${worktree.directory}/b.txt`, "two\n");
    const end = await worktree.remove();
    assert(end.type === "failed");
    assertStringIncludes(end.reason, '"sub [a]", a repository of its own');
    assert(await exists(`${worktree.directory}/b.txt`));
    assertEquals(await exists(`${root}/was_run`), false);
  },
);

Deno.test("gitWorktrees(): refuses relative paths and unknown options", () => {
  const invalid = [
    { repository: "project" },
    { repository: "/a", directory: "b" },
    { repository: "/a", branch: "b" },
    {},
  ] as unknown as readonly GitWorktreesOptions[];
  for (const options of invalid) assertThrows(() => gitWorktrees(options), BadRequestError);
});
