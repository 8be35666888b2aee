import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { findMarkedProcesses } from "../process/orphan_processes.ts";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";

Deno.test("A 95: the exit code comes first and is no error, whatever it is", async () => {
  await using bench = new TestWorkspace();
  assertEquals((await bench.callTool("bash", { command: "echo hi" })).text, "Exit code: 0\nhi");
  const failed = await bench.callTool("bash", { command: "exit 42" });
  assertEquals([failed.text, failed.isError], ["Exit code: 42", false]);
  assertEquals(
    (await bench.callTool("bash", { command: "kill -9 $$" })).text,
    "Exit code: 137 (ended by SIGKILL)",
  );
});

Deno.test("A 95: errors and output come in the order in which they were written", async () => {
  await using bench = new TestWorkspace();
  const { text } = await bench.callTool("bash", {
    command: "for i in 1 2 3; do echo out $i; echo err $i >&2; done",
  });
  assertEquals(text, "Exit code: 0\nout 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3");
});

Deno.test("the working directory is kept, and told when it changes", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("sub/file", "");
  assertEquals(
    (await bench.callTool("bash", { command: "cd sub" })).text,
    "Exit code: 0\n[Working directory: sub]",
  );
  assertEquals(
    (await bench.callTool("bash", { command: "pwd" })).text,
    `Exit code: 0\n${bench.directory}/sub`,
  );
  Deno.removeSync(`${bench.directory}/sub`, { recursive: true });
  assertStringIncludes((await bench.callTool("bash", { command: "pwd" })).text, "is gone");
});

Deno.test("a syntax error, a shift and arguments in the command meet no frame", async () => {
  await using bench = new TestWorkspace();
  const wrong = await bench.callTool("bash", { command: "echo 'x" });
  assertStringIncludes(wrong.text, "Exit code: 2\nbash: eval: line 1: unexpected EOF");
  assertEquals(
    (await bench.callTool("bash", { command: "echo [$#$1]" })).text,
    "Exit code: 0\n[0]",
  );
});

Deno.test("there is no input: a command that reads is at the end at once", async () => {
  await using bench = new TestWorkspace();
  assertEquals(
    (await bench.callTool("bash", { command: "cat; echo done" })).text,
    "Exit code: 0\ndone",
  );
});

Deno.test("A 95: time over means the whole group is ended", async () => {
  await using bench = new TestWorkspace();
  const { text, isError } = await bench.callTool("bash", {
    command: "trap '' TERM; sleep 30 & sleep 30",
    timeout_ms: 40,
  });
  assert(isError);
  assertStringIncludes(text, "timed out after 40 ms");
  assertEquals(findProcessesIn(bench.directory), []);
});

Deno.test("an abort ends the command within its 100 ms, with what it said so far", async () => {
  await using bench = new TestWorkspace();
  const controller = new AbortController();
  const running = bench.callTool(
    "bash",
    { command: "trap '' TERM; echo begun; sleep 30" },
    controller.signal,
  );
  await waitForProcessIn(bench.directory);
  const start = performance.now();
  controller.abort();
  const { text } = await running;
  assert(performance.now() - start < 200);
  assertStringIncludes(text, "cancelled");
  assertEquals(findProcessesIn(bench.directory), []);
});

Deno.test("what a command leaves running is ended with it, also when it left the group", async () => {
  await using bench = new TestWorkspace();
  const { text } = await bench.callTool("bash", {
    command: "sleep 30 & setsid sleep 30 & echo $SWINK_CALL",
  });
  const mark = text.split("\n")[1] ?? "";
  assertEquals(mark.length, 36);
  assertEquals(findMarkedProcesses(mark), []);
});

Deno.test("A 95: a long output keeps head and tail, whole characters, and the rest in a file", async () => {
  await using bench = new TestWorkspace();
  const { text, result } = await bench.callTool("bash", {
    command: 'for i in $(seq 1 40000); do echo "é $i"; done; echo end',
  });
  assert(text.startsWith("Exit code: 0\né 1\n"));
  assert(text.endsWith("\nend"));
  assert(!text.includes("\ufffd"));
  const { outputFile } = result.details as { outputFile: string };
  assertStringIncludes(text, `all of it is in ${outputFile}`);
  const read = await bench.callTool("read_file", { path: outputFile, offset: 40_001 });
  assertEquals(read.text, "40001\tend\n[Lines 40001–40001 of 40,001]");
  const write = await bench.callTool("write_file", { path: outputFile, content: "x" });
  assert(write.isError);
});

Deno.test("A 95: much output on both ends never blocks", async () => {
  await using bench = new TestWorkspace();
  const { text } = await bench.callTool("bash", {
    command: "head -c 3000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero | tr '\\0' y >&2",
  });
  assertStringIncludes(text, "characters left out");
});

Deno.test("output is shown while it comes", async () => {
  await using bench = new TestWorkspace();
  const { updates } = await bench.callTool("bash", { command: "echo one; sleep 0.02; echo two" });
  assertEquals(updates.join(""), "one\ntwo\n");
});

Deno.test("colours, cursor movements and progress bars do not reach the model", async () => {
  await using bench = new TestWorkspace();
  const { text } = await bench.callTool("bash", {
    command: "printf '\\033[31mred\\033[0m\\n10%%\\r50%%\\r100%%\\n\\033]0;title\\007x\\n'",
  });
  assertEquals(text, "Exit code: 0\nred\n100%\nx");
});

Deno.test("keys of the agent's environment never reach a command; what was named does", async () => {
  Deno.env.set("SWINK_TEST_API_KEY", "secret-value");
  Deno.env.set("SWINK_TEST_FLAG", "passed");
  try {
    await using bench = new TestWorkspace({
      passEnvironment: ["SWINK_TEST_FLAG"],
      environment: { EXTRA: "given" },
    });
    const { text } = await bench.callTool("bash", { command: "env" });
    assert(!text.includes("secret-value"));
    assertStringIncludes(text, "SWINK_TEST_FLAG=passed");
    assertStringIncludes(text, "EXTRA=given");
    assertStringIncludes(text, "PATH=");
  } finally {
    Deno.env.delete("SWINK_TEST_API_KEY");
    Deno.env.delete("SWINK_TEST_FLAG");
  }
});

Deno.test("empty commands, NUL and commands beyond all measure are refused with words", async () => {
  await using bench = new TestWorkspace();
  const run = async (command: string) => (await bench.callTool("bash", { command })).text;
  assertStringIncludes(await run("  "), "empty");
  assertStringIncludes(await run("echo \0"), "NUL");
  assertStringIncludes(await run(`echo ${"x".repeat(100_000)}`), "write_file");
});

/** Living processes whose working directory lies in a folder. */
function findProcessesIn(folder: string): string[] {
  const found: string[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (Deno.readLinkSync(`/proc/${name}/cwd`).startsWith(folder)) found.push(name);
    } catch {
      // Ended meanwhile, or a zombie.
    }
  }
  return found;
}

async function waitForProcessIn(folder: string): Promise<void> {
  while (findProcessesIn(folder).length < 2) await new Promise((resolve) => setTimeout(resolve, 2));
}

Deno.test({
  name: "a command that fails at the sandbox is told so; one that fails otherwise is not",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using bench = new TestWorkspace();
    const { rules } = await bench.sandbox.describe();
    const note = "[Sandbox: writes only in the working directory and $TMPDIR; network off]";
    const isConfined = rules.some(({ enforcedBy }) => enforcedBy === "kernel");
    const run = async (command: string) => (await bench.callTool("bash", { command })).text;
    const failed = await run(`echo 'mkdir: Permission denied'; exit 1`);
    assertEquals(failed.endsWith(note), isConfined);
    assert(!(await run("echo 'Permission denied'")).includes(note));
    assert(!(await run("exit 1")).includes(note));
  },
});
