import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { AbortedError } from "../../core/errors/errors.ts";
import { planMode } from "../approval/plan_mode.ts";
import { findConfinement } from "../confinement/confinement.ts";
import { createSandbox } from "./local_sandbox.ts";

const isConfined = (await findConfinement()).type !== "none";

/** Returns the names, modes, times and sizes of a directory. */
function listState(directory: string): unknown {
  return [...Deno.readDirSync(directory)].map(({ name }) => {
    const { mode, uid, mtime, size } = Deno.statSync(`${directory}/${name}`);
    return [name, mode, uid, mtime?.getTime(), size];
  }).toSorted();
}

Deno.test({
  name: "createSandbox(): no command of a read-only sandbox changes a file or its attributes",
  ignore: !isConfined,
  async fn() {
    await using workspace = new TestWorkspace({ readOnly: true });
    workspace.writeFile("a.txt", "text\n");
    workspace.writeFile("sub/b.txt", "");
    const before = listState(workspace.directory);
    const commands = [
      "echo x > new.txt",
      "echo x >> a.txt",
      "truncate -s 0 a.txt",
      "rm a.txt",
      "mv a.txt c.txt",
      "mkdir d",
      "ln a.txt e.txt",
      "ln -s a.txt f.txt",
      "mkfifo pipe",
      "chmod 777 a.txt",
      "chmod u+x sub",
      "chown 12345 a.txt",
      "touch -d 2001-01-01 a.txt",
      "rmdir sub || rm -r sub",
      'echo x > "$TMPDIR/x"',
      "echo x > /tmp/swink_read_only_test",
      `python3 -c 'import os; os.setxattr("a.txt", "user.x", b"1")'`,
      "chattr +i a.txt",
    ];
    const script = commands.map((command) => `(${command}) 2> /dev/null; echo $?`).join("\n");
    const { text } = await workspace.callTool("bash", { command: script });
    const codes = text.split("\n").slice(1, 1 + commands.length).map(Number);
    assertEquals(codes.length, commands.length, text);
    assertEquals(commands.filter((_, index) => !(Number(codes[index]) > 0)), [], text);
    assertEquals(listState(workspace.directory), before);
  },
});

Deno.test({
  name:
    "createSandbox(): commands of a read-only sandbox read files, use pipes, and discard output",
  ignore: !isConfined,
  async fn() {
    await using workspace = new TestWorkspace({ readOnly: true });
    workspace.writeFile("a.txt", "b\na\n");
    const { text } = await workspace.callTool("bash", {
      command: "cat a.txt 2>/dev/null | sort; cat <<< here > /dev/null; wc -l < <(cat a.txt)",
    });
    assertEquals(text, "Exit code: 0\na\nb\n2");
  },
});

Deno.test({
  name: "createSandbox(): a read-only sandbox is confined, and every command starts in its root",
  ignore: !isConfined,
  async fn() {
    await using workspace = new TestWorkspace({ readOnly: true });
    workspace.writeFile("sub/b.txt", "");
    const { confined, rules } = await workspace.sandbox.describe();
    const names = rules.filter(({ enforcedBy }) => enforcedBy === "kernel").map(({ rule }) => rule);
    assertEquals(
      [confined, names.slice(0, 2)],
      [true, [
        "commands write no files",
        "commands do not change modes, owners and times of files",
      ]],
    );
    const run = async (command: string) => (await workspace.callTool("bash", { command })).text;
    assertEquals(await run("cd sub && pwd"), `Exit code: 0\n${workspace.directory}/sub`);
    assertEquals(await run("pwd"), `Exit code: 0\n${workspace.directory}`);
    assertMatch(await run("touch x"), /\[Sandbox: commands write nothing and have no network\]$/);
  },
});

Deno.test("createSandbox(): the file tools of a read-only sandbox read, and write nothing", async () => {
  await using workspace = new TestWorkspace({ readOnly: true });
  workspace.writeFile("a.txt", "text");
  assertMatch((await workspace.callTool("read_file", { path: "a.txt" })).text, /text/);
  const before = listState(workspace.directory);
  const { isError } = await workspace.callTool("write_file", { path: "b.txt", content: "x" });
  assertEquals([isError, listState(workspace.directory)], [true, before]);
  await assertRejects(() => workspace.sandbox.files.remove("a.txt"), Error, "outside");
});

Deno.test("createSandbox(): a read-only sandbox refuses options that would let commands change something", async () => {
  await using workspace = new TestWorkspace({ readOnly: true });
  const cwd = workspace.directory;
  const contradictions = [
    { net: "on" },
    { net: ["example.com"] },
    { unixSockets: true },
    { confinement: "off" },
  ] as const;
  for (const option of contradictions) {
    const [name = ""] = Object.keys(option);
    assertThrows(() => createSandbox({ cwd, readOnly: true, ...option }), Error, name);
  }
  assertThrows(() => workspace.sandbox.setNet("on"), Error, "cannot have the option net");
  assertEquals(workspace.sandbox.net, "off");
});

Deno.test("createSandbox(): a read-only sandbox refuses commands that cannot be confined", async () => {
  await using workspace = new TestWorkspace({ readOnly: true });
  const sandbox = Object.assign(workspace.sandbox, {
    describe: () =>
      Promise.resolve({ confined: false, summary: "commands NOT confined: no kernel" }),
  });
  await assertRejects(
    () => sandbox.startCommand("true"),
    Error,
    "this machine cannot enforce all of its rules (commands NOT confined: no kernel)",
  );
});

Deno.test({
  name: "createSandbox(): an aborted command of a read-only sandbox does not start",
  ignore: !isConfined,
  async fn() {
    await using workspace = new TestWorkspace({ readOnly: true });
    const start = workspace.sandbox.startCommand("true", { signal: AbortSignal.abort() });
    await assertRejects(() => start, AbortedError);
  },
});

Deno.test({
  name: "createSandbox(): only a read-only sandbox reports that secrets are hidden",
  ignore: !isConfined,
  async fn() {
    await using reading = new TestWorkspace({ readOnly: true });
    await using writing = new TestWorkspace();
    const reports = await Promise.all([reading, writing].map(async ({ sandbox }) => {
      const { rules } = await sandbox.describe();
      const rule = rules.find(({ rule }) => rule.includes("secrets inside the working directory"));
      return [sandbox.hidesSecrets, rule?.enforcedBy];
    }));
    assertEquals(reports, [[true, "kernel"], [false, "none"]]);
  },
});

Deno.test("planMode(): keeps bash of a read-only sandbox, and no other bash [AC-26]", async () => {
  await using readOnly = new TestWorkspace({ readOnly: true });
  await using writing = new TestWorkspace();
  const listNames = ({ tools }: TestWorkspace) => planMode(tools).map(({ name }) => name);
  assertEquals(listNames(readOnly), ["read_file", "list_directory", "search_files", "bash"]);
  assertEquals(listNames(writing), ["read_file", "list_directory", "search_files"]);
});
