import { assert, assertEquals } from "@std/assert";
import { TestWorkspace } from "../../../../tests/sandbox/test_workspace.ts";
import { startThreadTimer } from "../../../../tests/thread_time.ts";
import { createRuledCall, parseApprovalRule } from "../rules/approval_rules.ts";

/** Decides about a command of a shell, whose directory an earlier command may have changed. */
async function decide(
  workspace: TestWorkspace,
  { rule, command, isMoved }: {
    readonly rule: string;
    readonly command: string;
    readonly isMoved?: boolean;
  },
) {
  const { files } = workspace.sandbox;
  const call = await createRuledCall({ name: "bash", arguments: { command } }, files);
  return parseApprovalRule(rule).concerns({ ...call, isMoved });
}

Deno.test("rules for reading: a command that names a path of a deny rule is denied", async () => {
  await using workspace = new TestWorkspace();
  const root = workspace.directory;
  for (
    const [rule, command, expected] of [
      ["Read(secret/**)", "cat secret/a.txt", "certain"],
      ["Read(secret/**)", "cd secret && cat a.txt", "certain"],
      ["Read(secret/**)", "ls ./secret/", "certain"],
      ["Read(secret/**)", "sort < secret/a", "certain"],
      ["Read(secret/**)", "cat lib/../secret/a", "certain"],
      ["Read(secret/**)", "echo $(cat secret/a)", "certain"],
      ["Read(secret/**)", "sh -c 'cat secret/a'", "certain"],
      ["Read(secret/**)", "uv run bash -c 'cd secret && cat a'", "certain"],
      ["Read(secret/**)", "git show HEAD:secret/a", "certain"],
      ["Read(secret/**)", "python3 load.py --file=secret/a", "certain"],
      ["Read(secret/**)", `cat ${root}/secret/a`, "certain"],
      ["Read(secret/**)", "cat secret/*", "possible"],
      ["Read(secret/**)", "cat $PWD/secret/a", "possible"],
      ["Read(secret/**)", "cat ~/project/secret/a", "possible"],
      ["Read(secret/**)", "cd lib && cat ../secret/a", "certain"],
      ["Read(secret/**)", "cat SECRET/a", "possible"],
      [`Read(${root}/secret/**)`, "cat secret/a", "certain"],
      ["Read(secret/**)", "cat /proc/self/cwd/secret/a", "possible"],
      ["Read(secret/**)", "cat /proc/$$/cwd/secret/a", "possible"],
      ["Read(secret/**)", "cd /proc/self && cat cwd/secret/a", "possible"],
      ["Read(secret/**)", "cat ../../../../../../proc/self/cwd/secret/a", "possible"],
      [`Read(${root}/secret/**)`, `cat /proc/self/root${root}/secret/a`, "possible"],
      ["Read(.env)", "cat /dev/fd/../cwd/.env", "possible"],
      ["Read(.env)", "cat /proc/cpuinfo 2> /dev/null", "none"],
      ["Read(secret/**)", "ls /proc/self/cwd", "none"],
      ["Read(id)", "cat id", "certain"],
      ["Read(.env)", "cp lib/.env b", "certain"],
      ["read_file(secret/**)", "head secret/a", "certain"],
      ["Read(secret/**)", "cat lib/secret.txt", "none"],
      ["Read(secret/**)", "cat ../lib/a", "none"],
      ["Read(secret/**)", "ls -la .", "none"],
      ["Read(secret/**)", "cd ..", "none"],
      ["Read(secret/**)", "echo secret/a", "none"],
      ["Read(*.pem)", "git commit -m 'Replace server.pem'", "none"],
      ["Read(build)", "npm run build", "none"],
      ["Read(.env)", "git status", "none"],
      ["Edit(secret/**)", "cat secret/a", "none"],
      ["Grep(secret/**)", "cat secret/a", "none"],
      ["WebFetch(a.test)", "cat a.test", "none"],
    ] as const
  ) assertEquals(await decide(workspace, { rule, command }), expected, `${rule} ${command}`);
});

Deno.test("rules for reading: a pattern of the shell names the paths that it may match", async () => {
  await using workspace = new TestWorkspace();
  const root = workspace.directory;
  for (
    const [rule, command, expected] of [
      ["Read(secret/**)", "cat sec*/a", "possible"],
      ["Read(secret/**)", "cat secre?/a", "possible"],
      ["Read(secret/**)", "cat [st]ecret/a", "possible"],
      ["Read(secret/**)", "cat {secret,lib}/a", "possible"],
      ["Read(secret/**)", "cat secre{s..u}/a", "possible"],
      ["Read(secret/**)", "cat */a", "possible"],
      ["Read(secret/**)", `cat ${root}/s*/a`, "possible"],
      ["Read(secret/**)", "for file in secret/*; do cat $file; done", "possible"],
      ["Read(secret/**)", "cat lib/*", "none"],
      ["Read(secret/**)", "ls *", "none"],
      ["Read(secret/**)", "cat lib*/a", "none"],
      ["Read(lib/key.txt)", "cat lib/*", "possible"],
      ["Read(lib/key.txt)", "head lib/*.txt", "possible"],
      ["Read(lib/key.txt)", "head lib/*.md", "none"],
      ["Read(lib/key.txt)", "cat lib/$NAME", "none"],
      ["Read(.env)", "cat .env*", "possible"],
      ["Read(.env)", "cp .env{,.old}", "possible"],
      ["Read(.env)", "cat lib/.e*", "possible"],
      ["Read(.env)", "cat *env *", "none"],
      ["Read(*.key)", "cat *.k*", "possible"],
      ["Read(*.key)", "cat server.*", "possible"],
      ["Read(*.key)", "cat *.ts *", "none"],
      ["Read(**/secret/**)", "cat lib/sec*/a", "possible"],
      ["Read(**/secret/**)", "cat lib/*/a", "none"],
      ["Read(lib/**/*.key)", "cat lib/a/*.key", "possible"],
      ["Read(my\\ lib/**)", "cat my*/a", "possible"],
      ["Read(my\\ lib/**)", "cat your*/a", "none"],
      ["Read(/etc/passwd)", "cat /e*/passwd", "possible"],
      ["Read(secret/*.txt)", 'cat "$DIRECTORY"/a.txt', "possible"],
      ["Read(secret/**)", 'cat "$DIRECTORY"/a.txt $FILE', "none"],
      ["Read(secret/**)", "docker run -v $PWD/secret:/data image", "possible"],
    ] as const
  ) assertEquals(await decide(workspace, { rule, command }), expected, `${rule} ${command}`);
});

Deno.test("rules for reading: a path is relative to the directory that a command changes to", async () => {
  await using workspace = new TestWorkspace();
  const name = workspace.directory.slice(workspace.directory.lastIndexOf("/") + 1);
  for (
    const [rule, command, expected] of [
      ["Read(lib/secret/**)", "cd lib && cat secret/a", "certain"],
      ["Read(lib/secret/**)", "cd lib && cd secret && cat a", "certain"],
      ["Read(lib/secret/**)", "pushd ./lib; ls secret", "certain"],
      ["Read(lib/a.txt)", "(cd lib; cat a.txt)", "certain"],
      ["Read(lib/*.txt)", "cd lib && cat *.txt", "possible"],
      ["Read(lib/a.txt)", "cd src && cat a.txt", "none"],
      ["Read(lib/a.txt)", `cat src/../../${name}/lib/a.txt`, "certain"],
      ["Read(lib/a.txt)", `cd .. && cat ${name}/lib/a.txt`, "certain"],
      ["Read(/etc/passwd)", "cd /etc && cat passwd", "certain"],
      ["Read(lib/secret/**)", 'cd "$DIRECTORY" && cat secret/a', "possible"],
      ["Read(lib/secret/**)", "cd - && cat secret/a", "possible"],
      ["Read(lib/secret/**)", "cat secret/a", "none"],
    ] as const
  ) assertEquals(await decide(workspace, { rule, command }), expected, `${rule} ${command}`);
  for (
    const [rule, command, expected] of [
      ["Read(lib/secret/**)", "cat secret/a", "possible"],
      ["Read(lib/*.txt)", "cat a.txt", "possible"],
      ["Read(lib/*.txt)", `cat ${workspace.directory}/a.txt`, "none"],
      ["Read(lib/*.txt)", "cat a.md", "none"],
      ["Read(/etc/passwd)", "cat passwd", "possible"],
    ] as const
  ) {
    const call = { rule, command, isMoved: true };
    assertEquals(await decide(workspace, call), expected, `${rule} ${command}`);
  }
});

Deno.test("rules for reading: a directory without a separator, a program, code and passed words name paths", async () => {
  await using workspace = new TestWorkspace();
  for (
    const [rule, command, expected] of [
      ["Read(secret/**)", "cp -r secret copy", "certain"],
      ["Read(secret/**)", "tar cf - secret", "certain"],
      ["Read(secret/**)", "/bin/ls secret", "certain"],
      ["Read(secret/**)", "./secret/run", "certain"],
      ["Read(secret/**)", "echo secret/a | xargs cat", "certain"],
      ["Read(secret/**)", "cat $(echo secret/a)", "certain"],
      ["Read(secret/**)", "cat ${FILE:-secret/a}", "certain"],
      ["Read(secret/**)", "FILE=secret/a; cat $FILE", "certain"],
      ["Read(secret/**)", `python3 -c "print(open('secret/a').read())"`, "certain"],
      ["Read(secret/**)", "grep 5 secret", "certain"],
      ["Read(secret/**)", "grep -e 5 secret", "certain"],
      ["Read(secret/**)", "rg --files secret", "certain"],
      ["Read(secret/**)", "awk 1 secret", "certain"],
      ["Read(secret/**)", "grep -rn secret lib", "none"],
      ["Read(secret/**)", "sed s/secret/x/ a.txt", "none"],
      ["Read(*.pem)", "curl https://a.test/b.pem", "none"],
    ] as const
  ) assertEquals(await decide(workspace, { rule, command }), expected, `${rule} ${command}`);
});

Deno.test("rules for reading: a command with too many or too long paths is decided in linear time", async () => {
  await using workspace = new TestWorkspace();
  const rule = "Read(**/*s*e*c*r*e*t)";
  for (
    const command of [
      `cat ${Array.from({ length: 2_001 }, (_, index) => `a/${index}`).join(" ")}`,
      `cat ${"a/".repeat(30_000)}`,
      `cat ${"${a}".repeat(10_000)}`,
      `cat ${"{a,b}".repeat(20)}/a`,
      `cat ${"a-".repeat(30_000)}`,
      `find . -regex '${"[".repeat(60_000)}'`,
      `ls | grep '^${"[".repeat(60_000)}' | xargs cat`,
    ]
  ) {
    const readMs = startThreadTimer();
    assertEquals(await decide(workspace, { rule, command }), "possible", command.slice(0, 20));
    assert(readMs() < 1_000, `${command.slice(0, 20)}: ${readMs()} ms`);
  }
});

Deno.test("rules for reading: a command that is not analyzed may name any path", async () => {
  await using workspace = new TestWorkspace();
  for (
    const command of [
      `cat secret/a # ${"x".repeat(64 * 1024)}`,
      `cat secret/a # ${"(".repeat(17)}`,
      `true ${": $(".repeat(17)}cat secret/a${")".repeat(17)}`,
      `${"env ".repeat(12)}cat secret/a`,
    ]
  ) {
    const concern = await decide(workspace, { rule: "Read(secret/**)", command });
    assert(concern !== "none", command.slice(0, 40));
  }
  const command = "echo $(ls) | cat - ; alias a=b";
  assertEquals(await decide(workspace, { rule: "Read(secret/**)", command }), "none");
});

Deno.test("rules for reading: quotes in braces do not hide a path", async () => {
  await using workspace = new TestWorkspace();
  const rule = "read_file(secret/**)";
  for (
    const path of [
      `{x,"secret/a"}`,
      "{x,'sec'ret/a}",
      `{x,"secret"}/a`,
      String.raw`{x,secr\et/a}`,
      `s{"e",x}cret/a`,
      "{x,$'secret/a'}",
      `{"x,y",secret/a}`,
      `'{x,"secret/a"}/../../'{x,"secret/a"}`,
      `{x,$"secret/a"}`,
    ]
  ) {
    const command = `cat ${path}`;
    assert(await decide(workspace, { rule, command }) !== "none", command);
  }
  assertEquals(await decide(workspace, { rule, command: `cat {x,"y"}/a` }), "none");
});
