import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import type { SpawnedProcess } from "../../core/ports/process_spawner.ts";
import { findConfinement } from "../confinement/confinement.ts";
import { createSandbox } from "./local_sandbox.ts";

const isConfined = (await findConfinement()).type !== "none";
const PATH = "/usr/local/bin:/usr/bin:/bin";

interface ProcessOutput {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

async function collect({ stdout, stderr, exited }: SpawnedProcess): Promise<ProcessOutput> {
  const [out, err] = await Promise.all([
    new Response(stdout as ReadableStream<Uint8Array<ArrayBuffer>>).text(),
    new Response(stderr as ReadableStream<Uint8Array<ArrayBuffer>>).text(),
  ]);
  return { out, err, code: (await exited).code };
}

async function write({ stdin }: SpawnedProcess, text: string): Promise<void> {
  const writer = stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
}

function launchScript(script: string, env: Record<string, string> = {}) {
  return { program: "sh", args: ["-c", script], env: { PATH, ...env } };
}

Deno.test("Sandbox: spawn() pipes the three standard streams of a program, byte for byte", async () => {
  await using workspace = new TestWorkspace();
  const process = await workspace.sandbox.spawn(launchScript("cat; echo problem >&2; exit 3"));
  const input = "first\n" + "x".repeat(200_000) + "\nlast";
  const [output] = await Promise.all([collect(process), write(process, input)]);
  assertEquals(output, { out: input, err: "problem\n", code: 3 });
});

Deno.test({
  name: "Sandbox: spawn() hides files with secrets from a program in a read-only sandbox",
  ignore: !isConfined,
  async fn() {
    await using workspace = new TestWorkspace({ readOnly: true });
    workspace.writeFile(".env", "SECRET");
    workspace.writeFile("a.txt", "text");
    const { directory } = workspace;
    const script = `cat ${directory}/a.txt ${directory}/.env`;
    const process = await workspace.sandbox.spawn(launchScript(script));
    const [{ out, err }] = await Promise.all([collect(process), write(process, "")]);
    assertEquals(out, "text");
    assertMatch(err, /Permission denied/);
  },
});

Deno.test({
  name: "Sandbox: spawn() names a program that does not exist, and not the sandbox",
  ignore: !isConfined || Deno.build.os !== "linux",
  async fn() {
    await using workspace = new TestWorkspace();
    const launch = { ...launchScript(""), program: "/nowhere/server" };
    const process = await workspace.sandbox.spawn(launch);
    const { err } = await collect(process);
    await process.stdin.close().catch(() => {});
    assertEquals(err, "/nowhere/server cannot be executed: no such file or directory\n");
  },
});

Deno.test("Sandbox: spawn() passes the given variables, and none of this program", async () => {
  await using workspace = new TestWorkspace();
  Deno.env.set("SWINK_TEST_SECRET", "secret");
  const process = await workspace.sandbox.spawn(launchScript("env", { TOKEN: "1" }));
  const [{ out }] = await Promise.all([collect(process), write(process, "")]);
  Deno.env.delete("SWINK_TEST_SECRET");
  const names = out.trim().split("\n").map((line) => line.replace(/=.*/, ""));
  const added = ["DENO_DIR", "PYTHONPYCACHEPREFIX", "SWINK_CALL", "TMPDIR", "XDG_CACHE_HOME"];
  const ofShell = ["OLDPWD", "PWD", "SHLVL", "_"];
  assertEquals(
    names.filter((name) => ![...added, ...ofShell, "npm_config_cache"].includes(name)).toSorted(),
    ["PATH", "TOKEN"],
  );
});

Deno.test({
  name: "Sandbox: spawn() confines a program, which cannot write outside of the roots",
  ignore: !isConfined,
  async fn() {
    await using workspace = new TestWorkspace();
    const outside = await Deno.makeTempDir({ prefix: "swink_outside_" });
    const script = `echo x > inside.txt; echo x > ${outside}/file; ls ${outside}`;
    const process = await workspace.sandbox.spawn(launchScript(script));
    const [{ out, err }] = await Promise.all([collect(process), write(process, "")]);
    await Deno.remove(outside, { recursive: true });
    assertEquals(out, "");
    assertMatch(err, /file: Permission denied/);
  },
});

Deno.test("Sandbox: spawn() reports a program that does not exist by an error or an exit code", async () => {
  await using workspace = new TestWorkspace();
  const launch = { program: "swink-no-such-program", args: [], env: { PATH } };
  if (!isConfined) {
    await assertRejects(() => workspace.sandbox.spawn(launch), Error, "swink-no-such-program");
    return;
  }
  const process = await workspace.sandbox.spawn(launch);
  const [{ err, code }] = await Promise.all([collect(process), write(process, "")]);
  assertEquals(code, 127);
  assertMatch(err, /swink-no-such-program/);
});

Deno.test("Sandbox: disposal ends a spawned program and its children", async () => {
  const directory = await Deno.makeTempDir();
  const sandbox = createSandbox({ cwd: directory });
  const process = await sandbox.spawn(launchScript("trap '' TERM; echo ready; sleep 100 & wait"));
  const reader = process.stdout.getReader();
  await reader.read();
  await sandbox[Symbol.asyncDispose]();
  assertEquals((await process.exited).signal, "SIGKILL");
  await reader.cancel();
  await process.stderr.cancel();
  await process.stdin.close().catch(() => {});
  await Deno.remove(directory);
});

Deno.test("Sandbox: isOffline() is true only while the kernel denies programs the network [8.4]", async () => {
  await using workspace = new TestWorkspace();
  await using sandbox = createSandbox({ cwd: workspace.directory });
  assertEquals(await sandbox.isOffline?.(), (await sandbox.describe()).confined);
  for (const net of ["on", ["127.0.0.1"]] as const) {
    sandbox.setNet(net);
    assertEquals(await sandbox.isOffline?.(), false);
  }
  await using unconfined = createSandbox({ cwd: workspace.directory, confinement: "off" });
  assertEquals(await unconfined.isOffline?.(), false);
});
