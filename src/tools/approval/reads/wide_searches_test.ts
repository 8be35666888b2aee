import { assertEquals } from "@std/assert";
import { TestWorkspace } from "../../../../tests/sandbox/test_workspace.ts";
import { startThreadTimer } from "../../../../tests/thread_time.ts";
import { testToolContext } from "../../../testing/test_tool_context.ts";
import { approvalGate } from "../approval_gate.ts";
import { findExecutedCommands } from "../commands/executed_commands.ts";
import { findStepwiseSearch } from "./stepwise_searches.ts";
import { findWideSearch } from "./wide_searches.ts";

async function createProject(): Promise<TestWorkspace> {
  const workspace = new TestWorkspace();
  const { directory } = workspace;
  workspace.writeFile(".git/HEAD", "");
  workspace.writeFile("src/a.ts", "a");
  workspace.writeFile("deep/er/f.ts", "f");
  workspace.writeFile("../my.app/g.ts", "g");
  workspace.writeFile("../other/b.ts", "b");
  workspace.writeFile("../node_modules/p/c.ts", "c");
  workspace.writeFile("../.cargo/registry/src/d.rs", "d");
  workspace.writeFile("../go/pkg/mod/e.go", "e");
  await Deno.symlink("../other", `${directory}/lib`);
  await Deno.symlink("../../other", `${directory}/src/vendor`);
  await Deno.symlink("../other", `${directory}/-link`);
  await Deno.symlink("../other", `${directory}/iCloud`);
  await Deno.symlink("../other/b.ts", `${directory}/b.ts`);
  await Deno.symlink("src", `${directory}/inside`);
  await Deno.symlink("deep/er", `${directory}/twice`);
  await Deno.symlink("../node_modules/p", `${directory}/p`);
  return workspace;
}

const OUTSIDE: readonly string[] = [
  "rg KEY ..",
  "rg KEY ../.cargo",
  "rg -eKEY ..",
  "rg KEY ../other",
  "rg KEY lib",
  "rg -g '*.ts' KEY src/vendor/",
  "rg KEY lib/..",
  "ag KEY lib",
  "grep -r KEY lib/",
  "grep -rn --include='*.ts' KEY src lib",
  "cd lib && rg KEY",
  "cd src && grep -r KEY vendor",
  "pushd ../other; rg KEY",
  "env rg KEY lib | head",
  "rg KEY /",
  "rg KEY -Tmake lib",
  "rg KEY -Enone lib",
  "rg KEY -re lib",
  "rg KEY --type-not make lib",
  "rg KEY -- -link",
  "rg -- KEY -link",
  "rg KEY {src,lib}",
  "rg KEY li{b..b}",
  "rg KEY {-n,lib}",
  "rg KEY /*/*/*/*/*",
  "rg KEY ${HOME}/../../",
  "rg KEY l?b",
  "rg KEY l*",
  "rg KEY s*/vend*/",
  "grep -r KEY -A lib",
  "cd l[i]b && rg KEY",
  "rg KEY $PWD/..",
  'rg KEY "${PWD}/.."',
  "rg KEY ~+/..",
  "rg KEY ~root",
  "cd; rg KEY",
  "cd $(echo ..) && rg KEY",
  'D=..; cd "$D"; rg KEY',
  'cd "$PWD/$D" && rg KEY',
  "cd `echo ..` && rg KEY",
  "cd -P && rg KEY",
  "env -C .. rg KEY",
  "env -iC.. rg KEY",
  "env --chdir=.. rg KEY",
  "env -CiCloud rg KEY",
  "find -L ../other -name .git -execdir git show ';'",
  "uv run --directory=../other rg KEY",
  "cd $(git rev-parse --show-toplevel)/.. && rg KEY",
  "cd ../other; cd $(git rev-parse --show-toplevel); rg KEY",
  "GIT_WORK_TREE=../other; cd $(git rev-parse --show-toplevel) && rg KEY",
  'cd "$(git rev-parse --show-toplevel || echo ../other)" && rg KEY',
  "git -C ../other log --diff-merges=on",
  "prlimit bash -c 'cd ../other; rg KEY'",
  "cd ../other && prlimit rg KEY",
  "uv run bash -c 'rg KEY ..'",
  "unshare -U --wd=../other rg KEY",
  "unshare -Uw ../other rg KEY",
  "rg KEY missing/../../other",
  "cd missing && cd ../../other && rg KEY",
  "mkdir -p a/b && cd a/b && rg KEY ../../../other",
  "CDPATH=..; cd other; rg KEY",
  "CDPATH=.. cd other && rg KEY",
  "export CDPATH=..; cd other; rg KEY",
  "cd src && cd vendor && rg KEY",
  "cd -- -link && rg KEY",
  "cd twice && cd ../.. && rg KEY",
  "cd twice/../.. && rg KEY",
  "OLDPWD=..; cd - && rg KEY",
  "OLDPWD=.. bash -c 'cd -; rg KEY'",
  "PWD=..; rg KEY ~+",
  "HOME=../other; rg KEY $HOME",
  "grep --di=recurse KEY ..",
  "ggrep -r KEY ..",
  "pcre2grep -r KEY ..",
  "zgrep -r KEY ..",
  "ugrep KEY ..",
  "git -C ../other grep KEY",
  "cd lib && git grep KEY",
  "git -C ../other show",
  "git -C ../other stash show -p",
  "git archive --remote=../other HEAD",
  "cd lib && git log -p",
  "cd lib && git --no-pager log --patc -1",
  "cd ../other; git diff 4b825dc",
  "cd ../other; git cat-file -p 4b825dc",
  "cd ../other; git status -sv",
  "git diff src ../other",
  "git diff --stat -- ../other src",
  "git --no-pager diff .. src",
  "git -C src diff . ../../other",
  "gzip -rc ../other | zcat",
  "cd ../other && gzip -rc . | zcat",
  "env -C ../other gzip -rc . | zcat",
  "zstd -rc lib",
  "colordiff -r src ../oth*",
  "diff . ../my.app",
  "diff -P --to-file=../other src <(ls)",
  "make -C../other",
  "make -Clib",
  "make -kClib",
  "cc -isystem../other a.c",
  "cd ../other; /usr/lib/git-core/git-show",
  "/usr/lib/git-core/git-grep KEY lib",
  // Directories of the kernel are other ones for a command.
  "rg KEY /dev/stdin < ..",
  "gzip -rc /dev/stdin < lib",
  "{ rg KEY /dev/stdin; } < ..",
  "exec 9<..; rg KEY /dev/fd/9",
  "exec 9<.; rg KEY /dev/fd/9/../other",
  "cd /dev/fd/9/other 9<.. && rg KEY",
  "cd /proc/self/task/1; cd ../other && rg KEY",
  "rg KEY /usr/../proc//self/cwd/a/../..",
  "cd / && rg KEY dev/fd/9/..",
  "rg KEY /pro[c]/self/cwd/missing",
  // Patterns match other names.
  "shopt -s nocaseglob; cd ../OTHE[R] && rg KEY",
  "shopt -s globstar; git -C **/vendor show",
  "cd .[.]/other && rg KEY",
  "git -C .?/other show",
  // `find` starts the commands elsewhere.
  "find . -name vendor -execdir rg KEY vendor ';'",
  "find . -name f.ts -execdir sh -c 'cd vendor && rg KEY' ';'",
  "find . -name f.ts -execdir git -C vendor show ';'",
  "find . -name f.ts -execdir env -C vendor rg KEY ';'",
  "find -L src -name b.ts -execdir rg KEY ';'",
  "find ../project -name .git -execdir rg KEY ';'",
  "find -O3 ../other -name b.ts -execdir rg KEY ';'",
  "find -H -- ../other -name b.ts -execdir rg KEY ';'",
  "find -D tree ../other -name b.ts -execdir rg KEY ';'",
  "find $PWD -maxdepth 0 -execdir git diff ';'",
  `rg KEY ${Array.from({ length: 300 }, (_, index) => `a${index}`).join(" ")}`,
];

const INSIDE: readonly string[] = [
  "rg KEY",
  "rg -n KEY src inside .",
  "rg lib",
  "rg -e lib src",
  "rg KEY missing",
  "rg KEY missing/../src",
  "uv run bash -c 'rg KEY src'",
  "find src -name a.ts -execdir rg KEY ';'",
  "find ./ -name a.ts -execdir rg KEY ';'",
  "find -O3 src -name a.ts -execdir rg KEY ';'",
  "uv run --directory=src rg KEY",
  'cd "$(git rev-parse --show-toplevel)" && git diff',
  "cd `git rev-parse --show-toplevel`/src && git diff",
  'cd "$(pwd)" && rg KEY',
  `npx prettier --check ${Array.from({ length: 50 }, (_, index) => `src/${index}.ts`).join(" ")}`,
  "cd missing && rg KEY",
  "git log -p",
  "git -C src show",
  "git diff 4b825dc",
  "cd ../other && git log --oneline --full-diff -3",
  "cd ../other && git status -sb && git branch -a",
  "rg KEY b.ts",
  "rg KEY p",
  "rg KEY /usr/bin",
  "rg KEY ../.cargo/registry",
  "rg KEY ../.cargo/registry/src",
  "rg KEY ../go/pkg/mod",
  "grep KEY lib",
  "grep -r KEY src",
  "grep -r .. src",
  "cd /tmp && ls | grep KEY",
  "cd src && rg KEY",
  "ls lib",
  "rg -A 3 lib src",
  "rg KEY $PWD ~+/src",
  "cd $PWD/src && rg KEY",
  "rg '$(a)' 'a$'",
  "rg 'a$' src",
  "rg KEY 'a$'",
  'rg KEY "$PWD/src"',
  "env -i rg KEY src",
  "env A=b rg KEY src",
  "cd -P src && rg KEY",
  "rg -m5 -C 2 .. src",
  "rg --type ts lib src",
  "rg --glob '*.ts' .. src",
  "rg -tmake lib src",
  "rg --files-with-matches lib src",
  "grep -rn --include '*.ts' /tmp src",
  "grep -rnE -A 3 /tmp src",
  "rg KEY '{src,lib}' '*'",
  "rg KEY s* *.ts",
  "cd src && cd - && rg KEY",
  "cd /usr/bin && rg KEY",
  "cd .. && cat a | rg KEY src",
  "HOME=/tmp rg KEY src",
  "HOME=/tmp npm ci",
  "env -C src npm test",
  "env TMPDIR=/tmp make",
  "timeout 5 ls ..",
  "ls ..; tree ../other; find .. -name a; test -d ..",
  "cat ../other/b.ts",
  "git diff main ../other/b.ts",
  "git diff main..feature src",
  "git diff src inside",
  "git grep KEY",
  "git -C src grep KEY",
  "cd src && git grep KEY -- '*.ts'",
  "git -C .. log",
  "deno test src b.ts",
  "node ../other/b.ts",
  "npm run a -- $X",
  "diff /dev/null b.ts",
  "git diff --no-index /dev/null src/a.ts",
  "ls | rg KEY - < /dev/null",
  "rg KEY < src/a.ts",
  "rg MemTotal /proc/meminfo",
  "shopt -s globstar; ls **/*.ts; rg KEY src",
  "while rg KEY src; do cd src; done",
  "make -Ilib --file=src/a.ts --jobs=4 CFLAGS=-I/usr/include",
];

Deno.test("findWideSearch(): finds a search behind a loop or a function that moves the shell several times", async () => {
  await using workspace = await createProject();
  const { directory, sandbox: { files } } = workspace;
  const search = (source: string) =>
    findStepwiseSearch(findExecutedCommands(source), {
      files,
      source,
      directories: [`${directory}/deep/er`],
    });
  for (
    const source of [
      "until test -d project; do cd ..; done; rg KEY",
      "while cd ..; do rg KEY; done",
      "for a in 1 2 3; do cd ..; done; rg KEY",
      "f() { cd ..; }; f; f; f; rg KEY",
      "bash -c 'while cd ..; do rg KEY; done'",
      "trap 'cd ..' DEBUG; :; :; :; rg KEY",
    ]
  ) {
    assertEquals(await search(source), "outside", source);
  }
  for (const source of ["cd .. && rg KEY", "while rg KEY; do cd ../er; done"]) {
    assertEquals(await search(source), undefined, source);
  }
});

Deno.test("findWideSearch(): finds searches of directories outside those of the sandbox, also behind links", async () => {
  await using workspace = await createProject();
  const { sandbox, directory } = workspace;
  const search = (command: string) =>
    findWideSearch(findExecutedCommands(command), { files: sandbox.files });
  for (const source of OUTSIDE) {
    assertEquals(await search(source), "outside", source);
    const script = findExecutedCommands(source);
    const found = await findStepwiseSearch(script, { files: sandbox.files, source });
    assertEquals(found, "outside", source);
  }
  for (const command of INSIDE) assertEquals(await search(command), undefined, command);
  assertEquals(await search(`rg KEY ${directory}/src`), undefined);
  assertEquals(await search(`rg KEY ${directory}/lib`), "outside");
});

Deno.test("findWideSearch(): finds searches of git in the directories of a repository above", async () => {
  await using workspace = new TestWorkspace();
  const { files } = workspace.sandbox;
  for (const path of ["../.git/HEAD", "../other/b.ts", "src/a.ts"]) workspace.writeFile(path, "");
  const search = (paths: string) =>
    findWideSearch(findExecutedCommands(`git grep -n KEY ${paths}`), { files });
  for (
    const path of [
      "..",
      "../other",
      "-- ../{other,a}",
      "{'..',src}",
      "'../other/*.ts'",
      ":/",
      "':(top)src'",
    ]
  ) {
    assertEquals(await search(path), "outside", path);
  }
  for (const path of ["", "src", "HEAD -- src", "-- '*.ts' ':!src'", "':(glob)src/**'", "src/*"]) {
    assertEquals(await search(path), undefined, path);
  }
});

Deno.test("findWideSearch(): finds comparisons of directories, by git without a repository", async () => {
  await using workspace = new TestWorkspace();
  const { files } = workspace.sandbox;
  for (const path of ["a/.env", "b.d/c.ts"]) workspace.writeFile(path, "");
  const search = (command: string) => findWideSearch(findExecutedCommands(command), { files });
  const git = ["git diff a b.d", "git diff b.d ."];
  const own = ["diff a b.d", "diff -u . b.d", "cd a && diff . ../b.d"];
  for (const command of [...git, ...own]) {
    assertEquals(await search(command), "comparison", command);
  }
  for (const command of ["git diff a main", "diff b.d/c.ts b.d", "diff b.d/c.ts b.d/c.ts"]) {
    assertEquals(await search(command), undefined, command);
  }
  workspace.writeFile(".git/HEAD", "");
  for (const command of git) assertEquals(await search(command), undefined, command);
  assertEquals(await search("git diff /usr/bin ."), "comparison");
});

Deno.test("approvalGate(): asks about a search where the shell may have been moved outside", async () => {
  await using workspace = await createProject();
  const tool = workspace.getTool("bash");
  const gate = approvalGate({ mode: "smart", sandbox: workspace.confined });
  let calls = 0;
  const decide = async (command: string) => {
    const toolCallId = `call_${++calls}`;
    const { signal } = new AbortController();
    const request = { toolCallId, name: "bash", arguments: { command }, tool, signal };
    const { type } = await gate({ ...request, context: undefined });
    return { type, run: () => tool.execute({ command }, testToolContext({ toolCallId })) };
  };
  const steps = [
    ["cd ../other", "approved"],
    ["rg KEY", "denied"],
    ["rg KEY ../project/src", "approved"],
    ["cd ../project/src", "approved"],
    ["rg KEY", "approved"],
    ["rg KEY vendor", "denied"],
    ["cd ..", "approved"],
    ["rg KEY", "approved"],
  ] as const;
  for (const [command, expected] of steps) {
    const { type, run } = await decide(command);
    assertEquals(type, expected, command);
    if (type === "approved") await run();
  }
  // Both of one reply: the first has not run.
  assertEquals((await decide("cd ../other")).type, "approved");
  assertEquals((await decide("rg KEY")).type, "denied");
});

Deno.test("approvalGate(): asks about a search outside the directories of the sandbox", async () => {
  await using workspace = await createProject();
  const tool = workspace.tools.find(({ name }) => name === "bash");
  if (!tool) throw new Error("bash is missing");
  const explain = async (command: string, allow: string[] = []) => {
    const gate = approvalGate({ mode: "smart", sandbox: workspace.confined, allow });
    const call = { name: "bash", arguments: { command }, tool: { ...tool, readOnly: true } };
    return (await gate.explain(call)).decision;
  };
  assertEquals((await explain("rg KEY src")).type, "approved");
  assertEquals(await explain("rg KEY lib"), {
    type: "asked",
    cause: "command",
    reason:
      "The command may read files with secrets: it may search a directory outside those of the sandbox.",
  });
  assertEquals((await explain("rg KEY lib", ["bash(rg *)"])).type, "approved");
  assertEquals((await explain("grep -R KEY src")).type, "asked");
});

Deno.test("findWideSearch(): many moves and patterns take little time", async () => {
  await using workspace = await createProject();
  const { files } = workspace.sandbox;
  const getThreadTime = startThreadTimer();
  const deep = `while a; do ${`cd ${"a/".repeat(250)}..; `.repeat(100)}done; rg KEY`;
  await findWideSearch(findExecutedCommands(deep), { files });
  for (const part of ["cd /usr/*/*; ", "cd src; ", "cd ..; ", "cd s*/*; ", "gzip /usr/*/zz*/*; "]) {
    await findWideSearch(findExecutedCommands(`${part.repeat(4_000)}rg KEY`), { files });
  }
  assertEquals(getThreadTime() < 2_000, true);
});
