/**
 * The program as a process: signals, pipes, exit codes.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { createDeadline } from "../deadline.ts";
import { waitUntil } from "../wait_until.ts";
import { scriptedCall, scriptedReply } from "./fake_host.ts";
import { type MockAnswer, startMockProvider } from "./mock_provider.ts";
import {
  getBasicEnvironment,
  runSwink,
  startSwink,
  SWINK_COMMAND,
  type SwinkOptions,
} from "./swink_process.ts";
import { createTemporaryDirectory, runGit } from "./temporary_directory.ts";

/** Starts a provider and creates a working directory. */
async function createSetup(...answers: readonly MockAnswer[]) {
  const provider = startMockProvider(...answers);
  const directory = await createTemporaryDirectory({ "a.txt": "a\n" });
  const env = { ANTHROPIC_API_KEY: "sk-ant-test", ANTHROPIC_BASE_URL: provider.url, NO_COLOR: "1" };
  return {
    provider,
    directory,
    options: { cwd: directory.path, env } satisfies SwinkOptions,
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

Deno.test("process: a run requests a provider, changes files and prints the answer", async () => {
  await using setup = await createSetup(
    scriptedReply("I'll add it.", scriptedCall("bash", { command: "echo b >> a.txt" })),
    scriptedReply("Added."),
  );
  const { code, output, messages } = await runSwink(
    ["run", "--approve-all", "Add b"],
    setup.options,
  );
  assertEquals({ code, output }, { code: 0, output: "Added.\n" });
  assertStringIncludes(messages, "• bash echo b >> a.txt · Exit code: 0");
  assertEquals(setup.directory.read("a.txt"), "a\nb\n");
});

Deno.test("process: a missing temporary directory ends with 3", async () => {
  await using setup = await createSetup();
  const env = { ...setup.options.env, TMPDIR: "/nowhere" };
  const { code, messages } = await runSwink(["run", "Hello"], { ...setup.options, env });
  assertEquals(code, 3);
  assertStringIncludes(messages, 'The temporary directory "/nowhere" does not exist');
});

Deno.test("process: a run uses an OpenAI-compatible server", async () => {
  await using setup = await createSetup(
    scriptedReply(scriptedCall("read_file", { path: "a.txt" })),
    scriptedReply("It says a."),
  );
  const args = [
    "-p",
    "-m",
    "openai/tiny",
    "--base-url",
    `${setup.provider.url}/v1`,
    "What does it say?",
  ];
  const env = { OPENAI_API_KEY: "k" };
  assertEquals((await runSwink(args, { ...setup.options, env })).output, "It says a.\n");
  assertEquals(setup.provider.requests.length, 2);
});

Deno.test("process: a rejected key ends the run with 3 after one request", async () => {
  const body = JSON.stringify({
    type: "error",
    error: { type: "authentication_error", message: "invalid x-api-key" },
  });
  await using setup = await createSetup({ status: 401, body });
  const { code, output, messages } = await runSwink(["run", "Hello"], setup.options);
  assertEquals({ code, output, requests: setup.provider.requests.length }, {
    code: 3,
    output: "",
    requests: 1,
  });
  assertStringIncludes(messages, "invalid x-api-key");
});

Deno.test("process: ends with 3 without a model, and with 2 for an unknown option", async () => {
  assertEquals((await runSwink(["run", "Hello"])).code, 3);
  assertEquals((await runSwink(["run", "--modle", "Hello"])).code, 2);
});

Deno.test("process: ends with 4 when the provider stays unavailable", async () => {
  const down = { status: 503, body: "down" };
  await using setup = await createSetup(down, down, down);
  const { code } = await runSwink(["run", "Hello"], setup.options);
  assertEquals({ code, requests: setup.provider.requests.length }, { code: 4, requests: 3 });
});

Deno.test("process: continues when standard input is open and empty", async () => {
  await using setup = await createSetup(scriptedReply("Hi."));
  await using process = startSwink(["run", "Hello"], { ...setup.options, stdin: "piped" });
  const { code, output, messages } = await process.waitForExit();
  assertEquals({ code, output }, { code: 0, output: "Hi.\n" });
  assertStringIncludes(messages, "continuing without it");
});

Deno.test("process: adds piped input to the prompt", async () => {
  await using setup = await createSetup(scriptedReply("Sorted."));
  await using process = startSwink(["run", "Sort"], { ...setup.options, stdin: "piped" });
  const writer = process.child.stdin.getWriter();
  await writer.write(new TextEncoder().encode("b\na\n"));
  await writer.close();
  assertEquals((await process.waitForExit()).code, 0);
  assertStringIncludes(setup.provider.requests[0] ?? "", "Sort\\n\\n<stdin>\\nb\\na\\n</stdin>");
});

for (const [signal, expected] of [["SIGHUP", 129], ["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test(`process: ${signal} during a reply keeps the text and ends with ${expected}`, async () => {
    await using setup = await createSetup({ hangsAfter: "So far so good" });
    await using process = startSwink(["run", "-o", "stream-json", "Hello"], setup.options);
    await process.waitForText("message_update");
    process.kill(signal);
    const { code, output } = await process.waitForExit();
    const result = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
    assertEquals([code, result.exitCode, result.stopReason], [expected, expected, "aborted"]);
    assertEquals(result.text.startsWith("So far"), true);
  });

  Deno.test(`process: ${signal} during a command kills it and writes the patch`, async () => {
    const command = "echo half >> a.txt; echo $$ > pid; exec sleep 60";
    await using setup = await createSetup(scriptedReply(scriptedCall("bash", { command })));
    const args = ["run", "--approve-all", "--patch", "fix.patch", "Work"];
    await using process = startSwink(args, setup.options);
    await process.waitFor(() => exists(join(setup.directory.path, "pid")));
    process.kill(signal);
    assertEquals((await process.waitForExit()).code, expected);
    assertStringIncludes(setup.directory.read("fix.patch"), "+half");
    assert(!isRunning(Number(setup.directory.read("pid"))), "the command has ended");
  });
}

const DOUBLED = [["SIGHUP", 129], ["SIGINT", 130], ["SIGQUIT", 131], ["SIGTERM", 143]] as const;

for (const [signal, expected] of DOUBLED) {
  Deno.test(`process: a doubled ${signal} writes the patch and kills the command`, async () => {
    const command = "echo half >> a.txt; echo $$ > pid; exec sleep 60";
    await using setup = await createSetup(scriptedReply(scriptedCall("bash", { command })));
    const args = ["run", "--approve-all", "--patch", "fix.patch", "Work"];
    await using process = startSwink(args, setup.options);
    await process.waitFor(() => exists(join(setup.directory.path, "pid")));
    process.kill(signal);
    process.kill(signal);
    const { code } = await process.waitForExit();
    assertEquals(code, expected);
    assertStringIncludes(setup.directory.read("fix.patch"), "+half");
    assert(!isRunning(Number(setup.directory.read("pid"))), "the command has ended");
  });
}

Deno.test("process: --env passes variables to commands, and no others are passed", async () => {
  const command = 'echo "$GIVEN,$COPIED,$OTHER" > a.txt';
  await using setup = await createSetup(
    scriptedReply(scriptedCall("bash", { command })),
    scriptedReply("Done."),
  );
  const { options } = setup;
  const env = { ...options.env, COPIED: "copied", OTHER: "other" };
  const args = ["run", "--approve-all", "--env", "GIVEN=a=b", "--env", "COPIED", "Work"];
  assertEquals((await runSwink(args, { ...options, env })).code, 0);
  assertEquals(setup.directory.read("a.txt"), "a=b,copied,\n");
});

Deno.test("process: SIGINT before the reply ends the run", async () => {
  await using setup = await createSetup("silence");
  await using process = startSwink(["run", "Hello"], setup.options);
  await process.waitFor(() => setup.provider.requests.length > 0);
  process.kill("SIGINT");
  assertEquals((await process.waitForExit()).code, 130);
});

Deno.test("process: SIGINT while standard input is read ends the run", async () => {
  await using process = startSwink(["run", "-"], {
    stdin: "piped",
    env: { ANTHROPIC_API_KEY: "k" },
  });
  await process.waitFor(() => handlesInterrupt(process.child.pid));
  process.kill("SIGINT");
  assertEquals((await process.waitForExit()).code, 130);
});

for (const [signal, expected] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test(`process: ${signal} during a key command ends with ${expected}`, async () => {
    await using directory = await createTemporaryDirectory();
    const command = "echo $$ > pid; exec sleep 60";
    const config = `providers.anthropic.key_command=${JSON.stringify(command)}`;
    const args = ["run", "-m", "anthropic/claude-sonnet-5-5", "--config", config, "Hello"];
    await using process = startSwink(args, { cwd: directory.path });
    await process.waitFor(() => exists(join(directory.path, "pid")));
    process.kill(signal);
    const { code, messages } = await process.waitForExit();
    assertEquals({ code, messages }, { code: expected, messages: "" });
  });
}

for (const command of [["serve", "--port=0"], ["eval", "run", "evals/cases.yaml"]]) {
  Deno.test(`process: SIGINT during a key command ends swink ${command[0]} with 130`, async () => {
    await using directory = await createTemporaryDirectory();
    const { path } = directory;
    const options = { cwd: path, env: { XDG_CONFIG_HOME: path, XDG_STATE_HOME: path } };
    await using init = startSwink(["eval", "init"], options);
    const made = await init.waitForExit();
    assertEquals(made.code, 0, made.messages);
    const keyCommand = `echo $$ > '${path}/pid'; exec sleep 60`;
    const config = `providers.anthropic.key_command=${JSON.stringify(keyCommand)}`;
    const args = [...command, "-m", "anthropic/claude-sonnet-5-5", "--config", config];
    await using process = startSwink(args, options);
    await process.waitFor(() => exists(join(path, "pid")));
    process.kill("SIGINT");
    const { code, messages } = await process.waitForExit();
    assertEquals([code, messages.includes("key command")], [130, false], messages);
  });
}

Deno.test("process: a second SIGINT exits while the program waits for the reader of its output", async () => {
  await using setup = await createSetup(scriptedReply("Hi."));
  const line = [...SWINK_COMMAND, "run", "-o", "stream-json", "Hello"].map((word) => `'${word}'`);
  // Standard output is a full pipe without a reader, so that the first SIGINT cannot end the program.
  const fill = "mkfifo pipe; exec 3<> pipe; dd if=/dev/zero of=/dev/fd/3 oflag=nonblock bs=4096";
  const child = new Deno.Command("bash", {
    args: ["-c", `trap '' INT; ${fill}; exec ${line.join(" ")} >&3`],
    cwd: setup.directory.path,
    env: { ...getBasicEnvironment(), ...setup.options.env },
    clearEnv: true,
    stdin: "null",
    stderr: "null",
  }).spawn();
  let status: Deno.CommandStatus | undefined;
  void child.status.then((ended) => status = ended);
  try {
    await waitUntil(() => handlesInterrupt(child.pid));
    // Repeated, since signals that arrive together are delivered once. One may arrive while the program exits.
    await waitUntil(() => {
      sendSignal(child, "SIGINT");
      return status !== undefined;
    });
    assertEquals(status?.code, 130);
  } finally {
    sendSignal(child, "SIGKILL");
    await child.status;
  }
});

for (
  const [output, args, expected] of [
    ["text", [], 141],
    ["json", ["-o", "json"], 141],
    ["lines", ["-o", "stream-json"], 141],
    ["help", ["--help"], 0],
  ] as const
) {
  Deno.test(`process: ends with ${expected} and without an error when the reader of ${output} closes it`, async () => {
    await using setup = await createSetup(scriptedReply("Hi."));
    const line = [...SWINK_COMMAND, "run", ...args, "Hello"].map((word) => `'${word}'`).join(" ");
    const { stdout, stderr } = await new Deno.Command("bash", {
      args: ["-c", `${line} | true; echo "code \${PIPESTATUS[0]}"`],
      cwd: setup.directory.path,
      env: { ...getBasicEnvironment(), ...setup.options.env },
      clearEnv: true,
      stdin: "null",
      signal: createDeadline(),
    }).output();
    const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assertEquals(out, `code ${expected}\n`);
    assert(!/error|stack|at file/i.test(err ?? ""), err);
  });
}

for (const answer of [{ hangsAfter: "Hel" }, "silence"] as const) {
  Deno.test(`process: a run that writes nothing ends with 141 when the reader is gone, after ${JSON.stringify(answer)}`, async () => {
    await using setup = await createSetup(answer);
    await using process = startSwink(["run", "Hello"], setup.options);
    await process.waitFor(() => setup.provider.requests.length > 0);
    await process.closeOutput();
    const { code, messages } = await process.waitForExit();
    assertEquals(code, 141);
    assert(!/error|stack|at file/i.test(messages), messages);
  });
}

Deno.test("process: a run keeps its output while the reader waits", async () => {
  const answer = { reply: scriptedReply("Hi."), afterMs: 1_500 };
  await using setup = await createSetup(answer);
  const { code, output } = await runSwink(["run", "Hello"], setup.options);
  assertEquals({ code, output }, { code: 0, output: "Hi.\n" });
});

Deno.test("process: ends with 1 when standard output fails, and ignores failures of standard error", async () => {
  const run = async (redirection: string, ...args: string[]) => {
    await using setup = await createSetup(scriptedReply("Hi."));
    const line = [...SWINK_COMMAND, ...args].map((word) => `'${word}'`).join(" ");
    const { code, stderr } = await new Deno.Command("bash", {
      args: ["-c", `${line} ${redirection}`],
      env: { ...getBasicEnvironment(), ...setup.options.env },
      clearEnv: true,
      stdin: "null",
      signal: createDeadline(),
    }).output();
    const message = "swink: Cannot write to standard output: No space left";
    return { code, isReported: new TextDecoder().decode(stderr).includes(message) };
  };
  assertEquals(await run(">/dev/full", "--version"), { code: 1, isReported: true });
  assertEquals(await run(">/dev/full", "run", "Hello"), { code: 1, isReported: true });
  assertEquals(await run("2>/dev/full", "run", "Hello"), { code: 0, isReported: false });
  assertEquals(await run("2>&-", "run", "Hello"), { code: 0, isReported: false });
});

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile || Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** Sends a signal to a process that may have ended. */
function sendSignal(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

/** Whether a process has a handler for SIGINT. */
function handlesInterrupt(pid: number): boolean {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  const [, caught = "0"] = status.match(/^SigCgt:\s+(\w+)$/m) ?? [];
  return (BigInt(`0x${caught}`) & 2n) !== 0n;
}

Deno.test("swink run: describes the repository of the project, not that of a hook of Git", async () => {
  await using directory = await createTemporaryDirectory({ "hooked/a": "", "project/b": "" });
  const { path } = directory;
  await runGit(`${path}/hooked`, "init", "-q", "-b", "hooked");
  await runGit(`${path}/project`, "init", "-q", "-b", "work");
  const { output } = await runSwink(["run", "--dry-run", "--trust", "Hi"], {
    cwd: `${path}/project`,
    env: {
      ANTHROPIC_API_KEY: "k",
      GIT_DIR: `${path}/hooked/.git`,
      GIT_INDEX_FILE: `${path}/hooked/.git/index`,
    },
  });
  assertStringIncludes(output, String.raw`Branch: No commits yet on work\nChanged files:\n?? b`);
});

/** Whether a process runs. One that has ended, and whose new parent has not asked for its exit code yet, does not. */
function isRunning(pid: number): boolean {
  try {
    return !Deno.readTextFileSync(`/proc/${pid}/stat`).includes(") Z ");
  } catch {
    return false;
  }
}
