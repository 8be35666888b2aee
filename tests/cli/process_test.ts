/**
 * What only a process can show: signals, pipes, exit codes.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { scriptedCall, scriptedReply } from "./fake_host.ts";
import { type MockAnswer, startMockProvider } from "./mock_provider.ts";
import {
  getBasicEnvironment,
  runSwink,
  startSwink,
  SWINK_COMMAND,
  type SwinkOptions,
} from "./swink_process.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** A provider and a folder to work in. */
async function createSetup(...answers: readonly MockAnswer[]) {
  const provider = startMockProvider(...answers);
  const folder = await createTemporaryDirectory({ "a.txt": "a\n" });
  const env = { ANTHROPIC_API_KEY: "sk-ant-test", ANTHROPIC_BASE_URL: provider.url, NO_COLOR: "1" };
  return {
    provider,
    folder,
    options: { cwd: folder.path, env } satisfies SwinkOptions,
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a run over the wire: bytes in, files changed, answer out", async () => {
  await using at = await createSetup(
    scriptedReply("I'll add it.", scriptedCall("bash", { command: "echo b >> a.txt" })),
    scriptedReply("Added."),
  );
  const { code, output, messages } = await runSwink(["run", "--approve-all", "Add b"], at.options);
  assertEquals({ code, output }, { code: 0, output: "Added.\n" });
  assertStringIncludes(messages, "• bash echo b >> a.txt\n  Exit code: 0\n");
  assertEquals(at.folder.read("a.txt"), "a\nb\n");
});

Deno.test("a run with a server that speaks OpenAI's language", async () => {
  await using at = await createSetup(
    scriptedReply(scriptedCall("read_file", { path: "a.txt" })),
    scriptedReply("It says a."),
  );
  const args = [
    "-p",
    "-m",
    "openai/tiny",
    "--base-url",
    `${at.provider.url}/v1`,
    "What does it say?",
  ];
  const env = { OPENAI_API_KEY: "k" };
  assertEquals((await runSwink(args, { ...at.options, env })).output, "It says a.\n");
  assertEquals(at.provider.requests.length, 2);
});

Deno.test("a key that is refused ends the run with 3, without a second request", async () => {
  const body = JSON.stringify({
    type: "error",
    error: { type: "authentication_error", message: "invalid x-api-key" },
  });
  await using at = await createSetup({ status: 401, body });
  const { code, output, messages } = await runSwink(["run", "Hello"], at.options);
  assertEquals({ code, output, requests: at.provider.requests.length }, {
    code: 3,
    output: "",
    requests: 1,
  });
  assertStringIncludes(messages, "invalid x-api-key");
});

Deno.test("no model is 3, a wrong flag is 2", async () => {
  assertEquals((await runSwink(["run", "Hello"])).code, 3);
  assertEquals((await runSwink(["run", "--modle", "Hello"])).code, 2);
});

Deno.test("a provider that stays down is 4", async () => {
  const down = { status: 503, body: "down" };
  await using at = await createSetup(down, down, down);
  const { code } = await runSwink(["run", "Hello"], at.options);
  assertEquals({ code, requests: at.provider.requests.length }, { code: 4, requests: 3 });
});

Deno.test("input that is held open does not keep a run waiting", async () => {
  await using at = await createSetup(scriptedReply("Hi."));
  await using process = startSwink(["run", "Hello"], { ...at.options, stdin: "piped" });
  const { code, output, messages } = await process.waitForExit();
  assertEquals({ code, output }, { code: 0, output: "Hi.\n" });
  assertStringIncludes(messages, "going on without it");
});

Deno.test("what is piped into it belongs to the prompt", async () => {
  await using at = await createSetup(scriptedReply("Sorted."));
  await using process = startSwink(["run", "Sort"], { ...at.options, stdin: "piped" });
  const writer = process.child.stdin.getWriter();
  await writer.write(new TextEncoder().encode("b\na\n"));
  await writer.close();
  assertEquals((await process.waitForExit()).code, 0);
  assertStringIncludes(at.provider.requests[0] ?? "", "Sort\\n\\n<stdin>\\nb\\na\\n</stdin>");
});

for (const [signal, expected] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test(`${signal} while the model speaks keeps what it said, and ends with ${expected}`, async () => {
    await using at = await createSetup({ hangsAfter: "So far so good" });
    await using process = startSwink(["run", "-o", "stream-json", "Hello"], at.options);
    await process.waitForText("message_update");
    process.kill(signal);
    const { code, output } = await process.waitForExit();
    const result = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
    assertEquals([code, result.exitCode, result.stopReason], [expected, expected, "aborted"]);
    assertEquals(result.text.startsWith("So far"), true);
  });

  Deno.test(`${signal} while a command runs ends it, and writes the patch`, async () => {
    const command = "echo half >> a.txt; echo $$ > pid; exec sleep 60";
    await using at = await createSetup(scriptedReply(scriptedCall("bash", { command })));
    const args = ["run", "--approve-all", "--patch", "fix.patch", "Work"];
    await using process = startSwink(args, at.options);
    await process.waitForText("• bash");
    await process.waitFor(() => exists(join(at.folder.path, "pid")));
    process.kill(signal);
    assertEquals((await process.waitForExit()).code, expected);
    assertStringIncludes(at.folder.read("fix.patch"), "+half");
    assert(!exists(`/proc/${at.folder.read("pid").trim()}`), "the command has ended");
  });
}

Deno.test("SIGINT before the model answers ends at once", async () => {
  await using at = await createSetup("silence");
  await using process = startSwink(["run", "Hello"], at.options);
  await process.waitFor(() => at.provider.requests.length > 0);
  process.kill("SIGINT");
  assertEquals((await process.waitForExit()).code, 130);
});

Deno.test("SIGINT while it waits for its input ends at once", async () => {
  await using process = startSwink(["run", "-"], {
    stdin: "piped",
    env: { ANTHROPIC_API_KEY: "k" },
  });
  await process.waitFor(() => handlesInterrupt(process.child.pid));
  process.kill("SIGINT");
  assertEquals((await process.waitForExit()).code, 130);
});

Deno.test("a second SIGINT leaves at once, whatever the first one waits for", async () => {
  // A command that does not hear the first signal, and takes its time to end.
  const command = "trap '' TERM; echo $$ > pid; while :; do sleep 1; done";
  await using at = await createSetup(scriptedReply(scriptedCall("bash", { command })));
  await using process = startSwink(["run", "--approve-all", "Work"], at.options);
  await process.waitFor(() => exists(join(at.folder.path, "pid")));
  process.kill("SIGINT");
  process.kill("SIGINT");
  assertEquals((await process.waitForExit()).code, 130);
  killProcessGroup(Number(at.folder.read("pid")));
});

for (
  const [what, args, expected] of [
    ["text", [], 0],
    ["json", ["-o", "json"], 0],
    ["lines", ["-o", "stream-json"], 141],
    ["help", ["--help"], 0],
  ] as const
) {
  Deno.test(`a reader of ${what} that goes away is no reason to complain: ${expected}`, async () => {
    await using at = await createSetup(scriptedReply("Hi."));
    const line = [...SWINK_COMMAND, "run", ...args, "Hello"].map((word) => `'${word}'`).join(" ");
    const { stdout, stderr } = await new Deno.Command("bash", {
      args: ["-c", `${line} | true; echo "code \${PIPESTATUS[0]}"`],
      cwd: at.folder.path,
      env: { ...getBasicEnvironment(), ...at.options.env },
      clearEnv: true,
      stdin: "null",
    }).output();
    const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assertEquals(out, `code ${expected}\n`);
    assert(!/error|stack|at file/i.test(err ?? ""), err);
  });
}

Deno.test("output that cannot be written is told and ends with 1; messages that cannot, do not matter", async () => {
  const codeOf = async (redirection: string, ...args: string[]) => {
    await using at = await createSetup(scriptedReply("Hi."));
    const line = [...SWINK_COMMAND, ...args].map((word) => `'${word}'`).join(" ");
    const { code, stderr } = await new Deno.Command("bash", {
      args: ["-c", `${line} ${redirection}`],
      env: { ...getBasicEnvironment(), ...at.options.env },
      clearEnv: true,
      stdin: "null",
    }).output();
    return { code, isTold: new TextDecoder().decode(stderr).includes("swink: No space left") };
  };
  assertEquals(await codeOf(">/dev/full", "--version"), { code: 1, isTold: true });
  assertEquals(await codeOf(">/dev/full", "run", "Hello"), { code: 1, isTold: true });
  assertEquals(await codeOf("2>/dev/full", "run", "Hello"), { code: 0, isTold: false });
  assertEquals(await codeOf("2>&-", "run", "Hello"), { code: 0, isTold: false });
});

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile || Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** What was left behind on purpose goes with the test. */
function killProcessGroup(pid: number): void {
  try {
    Deno.kill(-pid, "SIGKILL");
  } catch {
    // It has gone already.
  }
}

/** Whether a process handles SIGINT by itself. */
function handlesInterrupt(pid: number): boolean {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  const [, caught = "0"] = status.match(/^SigCgt:\s+(\w+)$/m) ?? [];
  return (BigInt(`0x${caught}`) & 2n) !== 0n;
}
