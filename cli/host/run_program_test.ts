import { assert, assertEquals } from "@std/assert";
import { noteWritableDirectory } from "../../src/platform/writable_directories.ts";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { waitUntil } from "../../tests/wait_until.ts";
import { runProgram, toShellCall } from "./run_program.ts";

const ignore = Deno.build.os === "windows";
const HOUR = 3_600_000;

/** Whether a process runs, and is not only waiting for its parent. */
function isRunning(pid: string): boolean {
  const { stdout } = new Deno.Command("ps", { args: ["-o", "stat=", "-p", pid] }).outputSync();
  return /^[^Z]/.test(new TextDecoder().decode(stdout));
}

Deno.test({
  name: "runProgram(): a program with a group of its own ends with those that it has started",
  ignore,
  async fn() {
    await using directory = await createTemporaryDirectory({});
    const stop = new AbortController();
    const ended = runProgram({
      command: toShellCall("sleep 600 & echo $! > pid.part; mv pid.part pid; wait"),
      cwd: directory.path,
      timeoutMs: HOUR,
      signal: stop.signal,
      ownsGroup: true,
    });
    await waitUntil(() => [...Deno.readDirSync(directory.path)].some(({ name }) => name === "pid"));
    const pid = directory.read("pid").trim();
    assert(isRunning(pid));
    stop.abort();
    assertEquals(await ended, { type: "aborted" });
    await waitUntil(() => !isRunning(pid));
  },
});

Deno.test({
  name:
    "runProgram(): the output of a program that has ended is complete though another one holds it",
  ignore,
  async fn() {
    const result = await runProgram({
      command: toShellCall("echo out; echo $$ >&2; sleep 600 &"),
      timeoutMs: HOUR,
      ownsGroup: true,
    });
    assert(result.type === "ended");
    assertEquals([result.code, result.output], [0, "out\n"]);
    Deno.kill(-Number(result.errors), "SIGKILL");
  },
});

Deno.test({
  name: "runProgram(): a program that ends without reading a large input has ended",
  ignore,
  async fn() {
    const result = await runProgram({
      command: toShellCall("sleep 600 & echo $$"),
      input: "x".repeat(1_000_000),
      timeoutMs: HOUR,
      ownsGroup: true,
    });
    assert(result.type === "ended");
    Deno.kill(-Number(result.output), "SIGKILL");
  },
});

Deno.test({
  name: "runProgram(): keeps the beginning of a large output",
  ignore,
  async fn() {
    const command = toShellCall("head -c 5000000 /dev/zero | tr '\\0' a");
    const result = await runProgram({ command, timeoutMs: HOUR });
    assert(result.type === "ended");
    assert(result.output.length >= 100_000 && result.output.length < 200_000);
  },
});

Deno.test({
  name:
    "runProgram(): a program that has ended is not waited for though another one holds its input",
  ignore,
  async fn() {
    const result = await runProgram({
      command: toShellCall("exec 3<&0; sleep 20 <&3 >/dev/null 2>&1 & echo $!"),
      input: "x".repeat(1_000_000),
      timeoutMs: HOUR,
      ownsGroup: true,
    });
    assert(result.type === "ended");
    const pid = result.output.trim();
    assert(isRunning(pid));
    Deno.kill(Number(pid), "SIGKILL");
    await waitUntil(() => !isRunning(pid));
  },
});

Deno.test({
  name: "runProgram(): runs no shell that a command has made in a directory of PATH",
  ignore,
  async fn() {
    await using directory = await createTemporaryDirectory({ "bin/sh": "#!/bin/sh\necho own\n" });
    await Deno.chmod(`${directory.path}/bin/sh`, 0o755);
    const path = Deno.env.get("PATH") ?? "";
    const call = {
      command: toShellCall('echo "$PATH"'),
      env: { PATH: `${directory.path}/bin:${path}` },
      timeoutMs: HOUR,
    };
    const run = async () => {
      const result = await runProgram(call);
      return result.type === "ended" && result.output.trim();
    };
    assertEquals(await run(), "own");
    noteWritableDirectory(await Deno.realPath(directory.path));
    assertEquals(await run(), call.env.PATH);
    assertEquals(await runProgram({ ...call, command: ["swink-missing"] }), { type: "missing" });
  },
});

// The last test: afterwards all directories are those that commands can write.
Deno.test({
  name: "runProgram(): runs the programs of the system when commands can write all directories",
  ignore,
  async fn() {
    noteWritableDirectory("/");
    const results = [toShellCall("echo done"), ["env", "echo", "done"], ["swink-missing"]] as const;
    const [hook, program, missing] = await Promise.all(
      results.map((command) => runProgram({ command, timeoutMs: HOUR })),
    );
    const outputs = [hook, program].map((result) => result?.type === "ended" && result.output);
    assertEquals(outputs, ["done\n", "done\n"]);
    assertEquals(missing, { type: "missing" });
  },
});
