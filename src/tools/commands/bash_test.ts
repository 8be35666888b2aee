import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { waitUntil } from "../../../tests/wait_until.ts";
import { Agent } from "../../agent/agent.ts";
import { extractText } from "../../core/messages/content.ts";
import { toolCall } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { findMarkedProcesses } from "../process/orphan_processes.ts";

Deno.test("bash: starts the result with the exit code, and a non-zero one is not an error [A95]", async () => {
  await using workspace = new TestWorkspace();
  assertEquals((await workspace.callTool("bash", { command: "echo hi" })).text, "Exit code: 0\nhi");
  const failed = await workspace.callTool("bash", { command: "exit 42" });
  assertEquals([failed.text, failed.isError], ["Exit code: 42", false]);
  assertEquals(
    (await workspace.callTool("bash", { command: "kill -9 $$" })).text,
    "Exit code: 137 (ended by SIGKILL)",
  );
});

Deno.test("bash: interleaves stdout and stderr in the order written [A95]", async () => {
  await using workspace = new TestWorkspace();
  const { text } = await workspace.callTool("bash", {
    command: "for i in 1 2 3; do echo out $i; echo err $i >&2; done",
  });
  assertEquals(text, "Exit code: 0\nout 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3");
});

Deno.test("bash: keeps the working directory and reports its changes", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("sub/file", "");
  assertEquals(
    (await workspace.callTool("bash", { command: "cd sub" })).text,
    "Exit code: 0\n[Working directory: sub]",
  );
  assertEquals(
    (await workspace.callTool("bash", { command: "pwd" })).text,
    `Exit code: 0\n${workspace.directory}/sub`,
  );
  Deno.removeSync(`${workspace.directory}/sub`, { recursive: true });
  assertStringIncludes(
    (await workspace.callTool("bash", { command: "pwd" })).text,
    "no longer exists",
  );
});

Deno.test("bash: each sub-agent has a working directory of its own, and starts in that of the project", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a/file", "");
  const tool = workspace.getTool("bash");
  const run = async (command: string, depth: number, runId: string) => {
    const { run } = testToolContext({ runId });
    const handle = { runId, depth, background: run.background };
    const result = await tool.execute({ command }, testToolContext({ runId, run: handle }));
    return typeof result === "string" ? result : extractText(result.content);
  };
  await run("cd a", 1, "child");
  assertStringIncludes(await run("pwd", 1, "child"), `${workspace.directory}/a`);
  assertEquals(await run("pwd", 1, "other"), `Exit code: 0\n${workspace.directory}`);
  assertEquals(await run("pwd", 0, "host"), `Exit code: 0\n${workspace.directory}`);
  await run("cd a", 0, "host");
  assertStringIncludes(await run("pwd", 0, "next run of the host"), `${workspace.directory}/a`);
});

Deno.test("bash: the outputs of equal calls of two agents are two files", async () => {
  await using workspace = new TestWorkspace();
  const tool = workspace.getTool("bash");
  const run = async (word: string, depth: number) => {
    const runId = `run_${depth}`;
    const handle = { ...testToolContext().run, runId, depth };
    const command = `yes ${word} | head -c 200000`;
    const result = await tool.execute({ command }, testToolContext({ runId, run: handle }));
    return typeof result === "string" ? "" : (result.details as { outputFile: string }).outputFile;
  };
  const files = [await run("host", 0), await run("child", 1)];
  assertEquals(files.map((file) => Deno.readTextFileSync(file).slice(0, 4)), ["host", "chil"]);
});

Deno.test("bash: returns all output of a command that ends at once", async () => {
  await using workspace = new TestWorkspace();
  for (let round = 0; round < 5; round++) {
    const command = "head -c 20000 /dev/zero | tr '\\0' x; echo; echo end";
    const { text } = await workspace.callTool("bash", { command });
    assert(text.endsWith("x\nend"), text.slice(-50));
    assertEquals(text.length, "Exit code: 0\n".length + 20_004);
  }
});

Deno.test("bash: sets no positional parameters, and syntax errors have the line numbers of the command", async () => {
  await using workspace = new TestWorkspace();
  const wrong = await workspace.callTool("bash", { command: "echo 'x" });
  assertStringIncludes(wrong.text, "Exit code: 2\nbash: eval: line 1: unexpected EOF");
  assertEquals(
    (await workspace.callTool("bash", { command: "echo [$#$1]" })).text,
    "Exit code: 0\n[0]",
  );
});

Deno.test("bash: standard input is empty", async () => {
  await using workspace = new TestWorkspace();
  assertEquals(
    (await workspace.callTool("bash", { command: "cat; echo done" })).text,
    "Exit code: 0\ndone",
  );
});

Deno.test("bash: a timeout kills the process group [A95]", async () => {
  await using workspace = new TestWorkspace();
  const { text, isError } = await workspace.callTool("bash", {
    command: "trap '' TERM; sleep 30 & sleep 30",
    timeout_ms: 40,
  });
  assert(isError);
  assertStringIncludes(text, "timed out after 40 ms");
  assertEquals(findProcessesIn(workspace.directory), []);
});

Deno.test("bash: an abort kills the command long before it would end", async () => {
  await using workspace = new TestWorkspace();
  const controller = new AbortController();
  const running = workspace.callTool(
    "bash",
    { command: "trap '' TERM; echo begun; sleep 30" },
    controller.signal,
  );
  await waitForProcessIn(workspace.directory);
  const start = performance.now();
  controller.abort();
  const { text } = await running;
  assert(performance.now() - start < 10_000);
  assertStringIncludes(text, "cancelled");
  assertEquals(findProcessesIn(workspace.directory), []);
});

Deno.test("bash: kills processes that the command leaves running, even in another session", async () => {
  await using workspace = new TestWorkspace();
  const { text } = await workspace.callTool("bash", {
    command: "sleep 30 & setsid sleep 30 & echo $SWINK_CALL",
  });
  const mark = text.split("\n")[1] ?? "";
  assertEquals(mark.length, 36);
  assertEquals(findMarkedProcesses(mark), []);
});

Deno.test("bash: truncates long output between characters and saves all of it to a file [A95]", async () => {
  await using workspace = new TestWorkspace();
  const { text, result } = await workspace.callTool("bash", {
    command: 'for i in $(seq 1 40000); do echo "é $i"; done; echo end',
  });
  assert(text.startsWith("Exit code: 0\né 1\n"));
  assert(text.endsWith("\nend"));
  assert(!text.includes("\ufffd"));
  const { outputFile } = result.details as { outputFile: string };
  assertStringIncludes(text, `complete output in ${outputFile}`);
  const read = await workspace.callTool("read_file", { path: outputFile, offset: 40_001 });
  assertEquals(read.text, "40001\tend\n[Lines 40001–40001 of 40,001]");
  const write = await workspace.callTool("write_file", { path: outputFile, content: "x" });
  assert(write.isError);
});

Deno.test("bash: does not block on large output to stdout and stderr [A95]", async () => {
  await using workspace = new TestWorkspace();
  const { text } = await workspace.callTool("bash", {
    command: "head -c 3000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero | tr '\\0' y >&2",
  });
  assertStringIncludes(text, "characters omitted");
});

Deno.test("bash: reports output while the command runs", async () => {
  await using workspace = new TestWorkspace();
  const { updates } = await workspace.callTool("bash", {
    command: "echo one; sleep 0.02; echo two",
  });
  assertEquals(updates.join(""), "one\ntwo\n");
});

Deno.test("bash: removes colours, cursor movements and progress bars from the output", async () => {
  await using workspace = new TestWorkspace();
  const { text } = await workspace.callTool("bash", {
    command: "printf '\\033[31mred\\033[0m\\n10%%\\r50%%\\r100%%\\n\\033]0;title\\007x\\n'",
  });
  assertEquals(text, "Exit code: 0\nred\n100%\nx");
});

Deno.test("bash: passes only selected environment variables to the command", async () => {
  Deno.env.set("SWINK_TEST_API_KEY", "secret-value");
  Deno.env.set("SWINK_TEST_FLAG", "passed");
  try {
    await using workspace = new TestWorkspace({
      passEnvironment: ["SWINK_TEST_FLAG"],
      environment: { EXTRA: "given" },
    });
    const { text } = await workspace.callTool("bash", { command: "env" });
    assert(!text.includes("secret-value"));
    assertStringIncludes(text, "SWINK_TEST_FLAG=passed");
    assertStringIncludes(text, "EXTRA=given");
    assertStringIncludes(text, "PATH=");
  } finally {
    Deno.env.delete("SWINK_TEST_API_KEY");
    Deno.env.delete("SWINK_TEST_FLAG");
  }
});

Deno.test("bash: rejects empty and too long commands and NUL characters with a reason", async () => {
  await using workspace = new TestWorkspace();
  const run = async (command: string) => (await workspace.callTool("bash", { command })).text;
  assertStringIncludes(await run("  "), "empty");
  assertStringIncludes(await run("echo \0"), "NUL");
  assertStringIncludes(await run(`echo ${"x".repeat(100_000)}`), "write_file");
});

/** Returns the ids of running processes whose working directory is in a directory. */
function findProcessesIn(directory: string): string[] {
  const found: string[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (Deno.readLinkSync(`/proc/${name}/cwd`).startsWith(directory)) found.push(name);
    } catch {
      // The process has ended, or is a zombie.
    }
  }
  return found;
}

async function waitForProcessIn(directory: string): Promise<void> {
  await waitUntil(() => findProcessesIn(directory).length >= 2);
}

Deno.test({
  name:
    "bash: reports the limits of the sandbox after errors they may have caused, not after others",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using workspace = new TestWorkspace();
    const { rules } = await workspace.sandbox.describe();
    const notice =
      "[Sandbox: writes only in the working directory and $TMPDIR, not to hooks and configuration of git; network off]";
    const isConfined = rules.some(({ enforcedBy }) => enforcedBy === "kernel");
    const run = async (command: string) => (await workspace.callTool("bash", { command })).text;
    const failed = await run(`echo 'mkdir: Permission denied'; exit 1`);
    assertEquals(failed.endsWith(notice), isConfined);
    assert(!(await run("echo 'Permission denied'")).includes(notice));
    assert(!(await run("exit 1")).includes(notice));
  },
});

Deno.test("bash: runs after the calls before it in a reply, and before those after it", async () => {
  await using workspace = new TestWorkspace();
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([
      reply([
        toolCall("bash", { command: "sleep 0.2; echo by the command > made.txt" }),
        toolCall("read_file", { path: "made.txt" }),
        toolCall("write_file", { path: "written.txt", content: "x".repeat(2_000_000) }),
        toolCall("bash", { command: "wc -c < written.txt" }),
      ]),
      reply("done"),
    ]),
    tools: workspace.tools,
    approvalMode: "bypassed",
  });
  const { messages } = await agent.prompt("go");
  const results = messages.flatMap((message) =>
    message.role === "tool_result" ? [extractText(message.content)] : []
  );
  assertStringIncludes(results[1] ?? "", "by the command");
  assertEquals(results[3], "Exit code: 0\n2000000");
});
