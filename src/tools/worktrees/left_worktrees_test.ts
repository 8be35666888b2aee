import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Worktree } from "../../core/ports/worktree_port.ts";
import { gitWorktrees } from "./git_worktrees.ts";
import { createOwner, decodeOwner, encodeOwner, getOwnerState } from "./worktree_owner.ts";

/** A process id that no process has. */
const ENDED_PID = 2 ** 22 + 1;

class Repository implements AsyncDisposable {
  readonly root: string;
  readonly path: string;

  private constructor(root: string) {
    this.root = root;
    this.path = `${root}/project`;
  }

  static async create(): Promise<Repository> {
    const repository = new Repository(await Deno.realPath(await Deno.makeTempDir()));
    await Deno.mkdir(repository.path);
    await repository.git("init", "--quiet", "--initial-branch=main");
    await Deno.writeTextFile(`${repository.path}/a.txt`, "one\n");
    await Deno.writeTextFile(`${repository.path}/.gitignore`, "build\n");
    await repository.git("add", "--all");
    await repository.git("commit", "--quiet", "--message", "First");
    return repository;
  }

  async git(...args: readonly string[]): Promise<string> {
    return await this.gitIn(this.path, ...args);
  }

  async gitIn(cwd: string, ...args: readonly string[]): Promise<string> {
    const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
    const command = new Deno.Command("git", { args: [...identity, ...args], cwd });
    const { success, stdout, stderr } = await command.output();
    assert(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  }

  /** Creates a worktree as a new process, with the notices about others. */
  async createWorktree(name = "fix"): Promise<{ worktree: Worktree; notices: readonly string[] }> {
    const creation = await gitWorktrees({ repository: this.path }).create({ name });
    assert(creation.type === "created", JSON.stringify(creation));
    return { worktree: creation.worktree, notices: creation.notices ?? [] };
  }

  /** Creates a worktree whose process has ended. */
  async leaveWorktree(owner: Parameters<typeof encodeOwner>[0] | object = {}): Promise<Worktree> {
    const { worktree } = await this.createWorktree("left");
    const base = (await this.git("rev-parse", "HEAD")).trim();
    const reason = encodeOwner({ ...createOwner(base), pid: ENDED_PID, ...owner });
    await this.git("worktree", "unlock", worktree.directory);
    await this.git("worktree", "lock", "--reason", reason, worktree.directory);
    return worktree;
  }

  async listBranches(): Promise<string[]> {
    const output = await this.git("branch", "--list", "--format=%(refname:short)", "swink/left-*");
    return output.split("\n").filter(Boolean);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

Deno.test("gitWorktrees(): a later process keeps a worktree with files in a submodule", async () => {
  await using repository = await Repository.create();
  const commit = (await repository.git("rev-parse", "HEAD")).trim();
  await repository.git("update-index", "--add", "--cacheinfo", `160000,${commit},lib`);
  await Deno.mkdir(`${repository.path}/lib`);
  await repository.git("commit", "--quiet", "--message", "Submodule");
  const left = await repository.leaveWorktree();
  await Deno.writeTextFile(`${left.directory}/lib/new.ts`, "1");
  const { notices } = await repository.createWorktree();
  assertStringIncludes(notices.join(), 'was kept: it has files in "lib", a repository of its own');
  assert(await exists(`${left.directory}/lib/new.ts`));
});

Deno.test("gitWorktrees(): a later process removes a worktree of a crashed one, with ignored files", async () => {
  await using repository = await Repository.create();
  const left = await repository.leaveWorktree();
  await Deno.mkdir(`${left.directory}/build`);
  await Deno.writeTextFile(`${left.directory}/build/x`, "x");
  const { notices } = await repository.createWorktree();
  assertEquals(notices, []);
  assertEquals(await exists(left.directory), false);
  assertEquals(await repository.listBranches(), []);
});

Deno.test("gitWorktrees(): work of a crashed process that is not committed is kept and reported", async () => {
  await using repository = await Repository.create();
  const works: ((directory: string) => Promise<unknown>)[] = [
    (directory) => Deno.writeTextFile(`${directory}/new.txt`, "x"),
    (directory) => Deno.writeTextFile(`${directory}/a.txt`, "two\n"),
    (directory) => Deno.remove(`${directory}/a.txt`),
    async (directory) => {
      await Deno.writeTextFile(`${directory}/a.txt`, "two\n");
      await repository.gitIn(directory, "add", "--all");
    },
    (directory) => repository.gitIn(directory, "checkout", "--quiet", "--detach"),
    (directory) => repository.gitIn(directory, "checkout", "--quiet", "-b", "other"),
  ];
  const directories: string[] = [];
  for (const work of works) {
    const { directory } = await repository.leaveWorktree({ started: 5 + directories.length });
    await work(directory);
    directories.push(directory);
  }
  for (let start = 0; start < 2; start++) {
    const { notices } = await repository.createWorktree();
    assertEquals(notices.length, works.length);
    for (const directory of directories) {
      assert(await exists(directory));
      const notice = notices.find((notice) => notice.includes(directory)) ?? "";
      assertStringIncludes(notice, "was kept: ");
    }
  }
  assertEquals((await repository.listBranches()).length, works.length);
});

Deno.test("gitWorktrees(): commits of a crashed process stay on their branch", async () => {
  await using repository = await Repository.create();
  const left = await repository.leaveWorktree();
  await Deno.writeTextFile(`${left.directory}/a.txt`, "two\n");
  await repository.gitIn(left.directory, "commit", "--quiet", "--all", "--message", "Second");
  const { notices } = await repository.createWorktree();
  assertEquals(notices.length, 1);
  assertStringIncludes(notices[0] ?? "", `its commits are on the branch "${left.branch}"`);
  assertEquals(await exists(left.directory), false);
  assertEquals(await repository.git("show", `${left.branch}:a.txt`), "two\n");
});

Deno.test("gitWorktrees(): worktrees in use, of other machines, that were kept, and of the user stay", async () => {
  await using repository = await Repository.create();
  const used = await repository.createWorktree("used");
  const elsewhere = await repository.leaveWorktree({ place: "other pid:[1]" });
  const kept = await repository.createWorktree("kept");
  await Deno.writeTextFile(`${kept.worktree.directory}/a.txt`, "two\n");
  assertEquals((await kept.worktree.remove()).type, "kept");
  const own = `${repository.root}/project.worktrees/own`;
  await repository.git("worktree", "add", "--quiet", "-b", "swink/own", own);
  const outside = `${repository.root}/outside`;
  await repository.git("worktree", "add", "--quiet", "-b", "swink/outside", outside);
  const base = (await repository.git("rev-parse", "HEAD")).trim();
  const reason = encodeOwner({ ...createOwner(base), pid: ENDED_PID });
  await repository.git("worktree", "lock", "--reason", reason, outside);
  const nested = `${repository.root}/project.worktrees/group/nested`;
  await repository.git("worktree", "add", "--quiet", "-b", "swink/nested", nested);
  await repository.git("worktree", "lock", "--reason", reason, nested);
  const { notices } = await repository.createWorktree();
  const directories = [used.worktree.directory, elsewhere.directory, kept.worktree.directory];
  for (const directory of [...directories, own, outside, nested]) assert(await exists(directory));
  assertEquals(notices.map((notice) => notice.includes(elsewhere.directory)), [true]);
  assertStringIncludes(notices[0] ?? "", "another machine");
});

Deno.test("gitWorktrees(): a worktree of a crashed process whose directory is gone is forgotten", async () => {
  await using repository = await Repository.create();
  const left = await repository.leaveWorktree();
  await Deno.remove(left.directory, { recursive: true });
  assertEquals((await repository.createWorktree()).notices, []);
  assertEquals(await repository.listBranches(), []);
});

Deno.test("gitWorktrees(): an agent cannot make the removal run the programs of another repository", async () => {
  await using repository = await Repository.create();
  const left = await repository.leaveWorktree();
  const trap = `${repository.root}/trap`;
  await Deno.mkdir(trap);
  await repository.gitIn(trap, "init", "--quiet");
  await repository.gitIn(trap, "config", "core.fsmonitor", `touch ${repository.root}/ran; false`);
  await repository.gitIn(trap, "config", "filter.x.clean", `touch ${repository.root}/ran; cat`);
  await Deno.writeTextFile(`${left.directory}/.git`, `gitdir: ${trap}/.git\n`);
  await Deno.writeTextFile(`${left.directory}/.gitattributes`, "* filter=x\n");
  const { notices } = await repository.createWorktree();
  assertEquals(notices.length, 1);
  assert(await exists(left.directory));
  assertEquals(await exists(`${repository.root}/ran`), false);
});

Deno.test("worktree owner: survives the lock of git, and other reasons are none", () => {
  const owner = createOwner("a".repeat(40));
  assertEquals(decodeOwner(encodeOwner(owner)), owner);
  const strange = { ...owner, place: 'höst "x"\n pid' };
  assertEquals(decodeOwner(encodeOwner(strange)), strange);
  assertEquals(/["\\\n]/.test(encodeOwner(strange)), false);
  for (
    const reason of [
      "",
      "swink",
      "on a USB stick",
      "swink 1 2 x y",
      `swink 1 2 ${"a".repeat(40)} %`,
    ]
  ) {
    assertEquals(decodeOwner(reason), undefined);
  }
  assertEquals(getOwnerState(owner), "running");
  assertEquals(getOwnerState({ ...owner, started: owner.started - 60_000 }), "ended");
  assertEquals(getOwnerState({ ...owner, pid: ENDED_PID }), "ended");
  assertEquals(getOwnerState({ ...owner, pid: 0 }), "ended");
  assertEquals(getOwnerState({ ...owner, place: "other" }), "unknown");
});

Deno.test("gitWorktrees(): a worktree stays while its process runs, and is removed after it was killed", async () => {
  await using repository = await Repository.create();
  const module = new URL("./git_worktrees.ts", import.meta.url).href;
  const script = `const { gitWorktrees } = await import(${JSON.stringify(module)});
    const creation = await gitWorktrees({ repository: ${
    JSON.stringify(repository.path)
  } }).create({ name: "left" });
    console.log(creation.worktree.directory);
    setInterval(() => {}, 1_000);`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-config", script],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let directory = "";
  while (!directory.includes("\n")) directory += (await reader.read()).value ?? "\n";
  directory = directory.trim();
  await repository.createWorktree();
  assert(await exists(directory));
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  assertEquals((await repository.createWorktree()).notices, []);
  assertEquals(await exists(directory), false);
});
