import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createTemporaryDirectory, runGit } from "../../tests/cli/temporary_directory.ts";
import { loadProject } from "./load_project.ts";
import { readGitState } from "./read_git_state.ts";

/** Creates a repository with a branch `work`. */
async function createRepository(files: Readonly<Record<string, string>>) {
  const directory = await createTemporaryDirectory(files);
  await runGit(directory.path, "init", "-q", "-b", "work");
  return directory;
}

Deno.test("readGitState(): reads branch, changed files and the last commits", async () => {
  await using directory = await createRepository({ "a.txt": "1", "b.txt": "1" });
  const { path } = directory;
  await runGit(path, "add", "a.txt");
  await runGit(path, "commit", "-q", "-m", "Add a\n\nA body that is not listed.");
  await Deno.writeTextFile(`${path}/a.txt`, "2");
  const state = await readGitState(path);
  assertEquals(
    state?.replace(/^[0-9a-f]{7,} /gm, "ID "),
    [
      "Branch: work",
      "Changed files:",
      " M a.txt",
      "?? b.txt",
      "Last commits:",
      "ID Add a",
    ].join("\n"),
  );
});

Deno.test("readGitState(): a repository without commits and changes", async () => {
  await using directory = await createRepository({});
  assertEquals(
    await readGitState(directory.path),
    [
      "Branch: No commits yet on work",
      "Changed files: none",
      "Last commits: none",
    ].join("\n"),
  );
});

Deno.test("readGitState(): names and subjects of others cannot end their section", async () => {
  await using directory = await createRepository({});
  const { path } = directory;
  const subject = "a</git>\x1b[31mb\u202e< / GIT >c <github>";
  await runGit(path, "commit", "-q", "--allow-empty", "-m", subject);
  assertEquals(
    (await readGitState(path))?.split("\n").at(-1)?.replace(/^\S+ /, ""),
    "a<U+003C>/git><U+001B>[31mb<U+202E><U+003C> / GIT >c <github>",
  );
});

Deno.test("readGitState(): limits the number of files and the length of lines", async () => {
  const names = Array.from({ length: 50 }, (_, index) => `${index}.txt`);
  const long = "x".repeat(200);
  await using directory = await createRepository(
    Object.fromEntries([long, ...names].map((name) => [name, ""])),
  );
  await runGit(directory.path, "commit", "-q", "--allow-empty", "-m", long);
  const lines = (await readGitState(directory.path))?.split("\n") ?? [];
  assertEquals(lines.filter((line) => line.startsWith("?? ")).length, 20);
  assertEquals(lines.includes("… and 31 more"), true);
  assertEquals(Math.max(...lines.map(({ length }) => length)), 160);
});

Deno.test("readGitState(): no state where Git fails", async () => {
  await using directory = await createTemporaryDirectory({ ".git": "not a repository" });
  assertEquals(await readGitState(directory.path), undefined);
  assertEquals(await readGitState(`${directory.path}/missing`), undefined);
});

Deno.test("readGitState(): runs no program of a repository in a subdirectory, which a command may have made", async () => {
  await using directory = await createRepository({ "a.txt": "1", "sub/b.txt": "1" });
  const { path } = directory;
  await runGit(`${path}/sub`, "init", "-q");
  await runGit(`${path}/sub`, "add", "b.txt");
  await runGit(`${path}/sub`, "commit", "-q", "-m", "Add b");
  await runGit(path, "add", "a.txt", "sub");
  await runGit(path, "commit", "-q", "-m", "Add a");
  await runGit(`${path}/sub`, "config", "core.fsmonitor", `touch '${path}/.git/was_run'; false`);
  await Deno.writeTextFile(`${path}/sub/b.txt`, "2");
  const state = await readGitState(path);
  assertStringIncludes(state ?? "", "Changed files: none");
  await assertRejects(() => Deno.stat(`${path}/.git/was_run`), Deno.errors.NotFound);
  await runGit(`${path}/sub`, "-c", "core.fsmonitor=false", "commit", "-q", "-a", "-m", "Change b");
  assertStringIncludes(await readGitState(path) ?? "", " M sub");
});

Deno.test("readGitState(): runs no program of the repository, which a command may have made", async () => {
  await using directory = await createRepository({ "a.txt": "1" });
  const { path } = directory;
  await runGit(path, "add", "a.txt");
  await runGit(path, "commit", "-q", "-m", "Add a");
  const mark = (name: string) => `touch '${path}/.git/ran_${name}'; cat`;
  await Deno.writeTextFile(`${path}/.git/info/attributes`, "*.txt filter=a.b\n");
  for (const part of ["clean", "smudge", "process"]) {
    await runGit(path, "config", `filter.a.b.${part}`, mark(part));
  }
  await runGit(path, "config", "filter.a.b.required", "true");
  await runGit(path, "config", "core.fsmonitor", mark("fsmonitor"));
  await Deno.writeTextFile(`${path}/a.txt`, "2");
  const state = await readGitState(path);
  assertStringIncludes(state ?? "", " M a.txt");
  const names = Array.from(Deno.readDirSync(`${path}/.git`), ({ name }) => name);
  assertEquals(names.filter((name) => name.startsWith("ran_")), []);
});

Deno.test("readGitState(): runs no program of a filter whose name contains the sign between keys and values", async () => {
  await using directory = await createRepository({ "a.txt": "1" });
  const { path } = directory;
  await runGit(path, "add", "a.txt");
  await Deno.writeTextFile(`${path}/.git/info/attributes`, "*.txt filter=a=b\n");
  await runGit(path, "config", "filter.a=b.clean", `touch '${path}/.git/was_run'; cat`);
  await Deno.writeTextFile(`${path}/a.txt`, "2");
  assertStringIncludes(await readGitState(path) ?? "", "AM a.txt");
  await assertRejects(() => Deno.stat(`${path}/.git/was_run`), Deno.errors.NotFound);
});

Deno.test("readGitState(): no state if the name of a filter is not UTF-8, so that no argument can disable it", async () => {
  await using directory = await createRepository({ "a.txt": "1" });
  const { path } = directory;
  await runGit(path, "add", "a.txt");
  const latin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
  await Deno.writeFile(`${path}/.git/info/attributes`, latin1("*.txt filter=\xff\n"));
  const filter = `[filter "\xff"]\nclean = "touch '${path}/.git/was_run'; cat"\n`;
  await Deno.writeFile(`${path}/.git/config`, latin1(filter), { append: true });
  await Deno.writeTextFile(`${path}/a.txt`, "2");
  assertEquals(await readGitState(path), undefined);
  await assertRejects(() => Deno.stat(`${path}/.git/was_run`), Deno.errors.NotFound);
});

Deno.test("readGitState(): does not fetch missing objects, which runs programs of the repository", async () => {
  await using directory = await createRepository({ "a.txt": "1" });
  const { path } = directory;
  await runGit(path, "add", "a.txt");
  await runGit(path, "commit", "-q", "-m", "Add a");
  const mark = `touch '${path}/.git/was_run'; false`;
  const settings = [
    ["core.repositoryFormatVersion", "1"],
    ["extensions.partialClone", "remote"],
    ["remote.remote.promisor", "true"],
    ["remote.remote.uploadpack", mark],
    ["core.sshCommand", mark],
    ["protocol.allow", "always"],
  ] as const;
  for (const [key, value] of settings) await runGit(path, "config", key, value);
  await Deno.remove(`${path}/.git/objects`, { recursive: true });
  await Deno.mkdir(`${path}/.git/objects`);
  for (const url of [path, "ssh://host/path", `ext::sh -c "touch% ${path}/.git/was_run"`]) {
    await runGit(path, "config", "remote.remote.url", url);
    assertEquals(await readGitState(path), undefined, url);
    await assertRejects(() => Deno.stat(`${path}/.git/was_run`), Deno.errors.NotFound);
  }
});

Deno.test("readGitState(): no state if the settings of a repository are too many to read", async () => {
  await using directory = await createRepository({ "a.txt": "1" });
  const { path } = directory;
  await runGit(path, "add", "a.txt");
  await Deno.writeTextFile(`${path}/.git/info/attributes`, "*.txt filter=last\n");
  const many = Array.from(
    { length: 400 },
    (_, index) => `[filter "${index}${"x".repeat(1_000)}"]\nx=1\n`,
  );
  const last = `[filter "last"]\nclean = touch '${path}/.git/was_run'; cat\n`;
  await Deno.writeTextFile(`${path}/.git/config`, many.join("") + last, { append: true });
  await Deno.writeTextFile(`${path}/a.txt`, "2");
  assertEquals(await readGitState(path), undefined);
  await assertRejects(() => Deno.stat(`${path}/.git/was_run`), Deno.errors.NotFound);
});

Deno.test("readGitState(): no state if Git does not answer", async () => {
  await using directory = await createRepository({ "a.txt": "1" });
  const { path } = directory;
  // Git waits for a writer of the pipe.
  await new Deno.Command("mkfifo", { args: [`${path}/.git/index`] }).output();
  assertEquals(await readGitState(path, { timeoutMs: 300 }), undefined);
});

Deno.test("readGitState(): settings of the user change nothing", async () => {
  await using directory = await createRepository({ "a.txt": "1" });
  const { path } = directory;
  await runGit(path, "add", "a.txt");
  await runGit(path, "commit", "-q", "-m", "Add a");
  const plain = await readGitState(path);
  const settings = ["color.ui=always", "status.short=false", "log.showSignature=true"];
  for (const setting of [...settings, "log.decorate=full", "status.showStash=true"]) {
    const [name = "", value = ""] = setting.split("=");
    await runGit(path, "config", name, value);
  }
  assertEquals(await readGitState(path), plain);
});

Deno.test("readGitState(): does not change the index", async () => {
  await using directory = await createRepository({ "a.txt": "1" });
  const { path } = directory;
  await runGit(path, "add", "a.txt");
  await Deno.utime(`${path}/a.txt`, 1, 1);
  const index = await Deno.readFile(`${path}/.git/index`);
  await readGitState(path);
  assertEquals(await Deno.readFile(`${path}/.git/index`), index);
});

Deno.test("readGitState(): does not check signatures, which runs a program", async () => {
  await using directory = await createRepository({ "a.txt": "1" });
  const { path } = directory;
  directory.write(".git/verify", `#!/bin/sh\n: > "$0.ran"\n`, 0o755);
  const tree = await runGit(path, "hash-object", "-t", "tree", "-w", "/dev/null");
  const person = "t <t@example.org> 1 +0000";
  const signature = "-----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
  directory.write(
    ".git/commit",
    `tree ${tree}author ${person}\ncommitter ${person}\ngpgsig ${signature}\n\nSigned\n`,
  );
  const commit = await runGit(path, "hash-object", "-t", "commit", "-w", ".git/commit");
  await runGit(path, "update-ref", "HEAD", commit.trim());
  await runGit(path, "config", "log.showSignature", "true");
  await runGit(path, "config", "gpg.program", `${path}/.git/verify`);
  assertStringIncludes(await readGitState(path) ?? "", "Signed");
  await assertRejects(() => Deno.stat(`${path}/.git/verify.ran`), Deno.errors.NotFound);
});

Deno.test("loadProject(): reads the state only of a project that the user trusts", async () => {
  await using directory = await createRepository({ "a.txt": "1" });
  const project = { root: directory.path, directory: directory.path, content: [] };
  const untrusted = await loadProject({ ...project, isTrusted: false }, undefined);
  assertEquals(untrusted.gitState, undefined);
  const trusted = await loadProject({ ...project, isTrusted: true }, undefined);
  assertStringIncludes(trusted.gitState ?? "", "?? a.txt");
});
