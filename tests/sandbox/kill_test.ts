/**
 * Checks that calls cancelled at random moments leave no partly written file and no process.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import { findMarkedProcesses } from "../../src/tools/process/orphan_processes.ts";
import { createDeadline, withDeadline } from "../deadline.ts";
import { TestWorkspace } from "./test_workspace.ts";

const rounds = Deno.env.get("SWINK_PROVE") === "1" ? 400 : 25;
const seed = Number(Deno.env.get("SWINK_SEED") ?? 1);

/** A cancelled call settles at once; the time is long for a busy machine and short for calls that are not cancelled. */
const MAX_CANCEL_MS = 10_000;

/** Finds the processes whose working directory is inside a directory. */
function findProcesses(directory: string): string[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => name).filter((name) => {
    try {
      return /^\d+$/.test(name) && Deno.readLinkSync(`/proc/${name}/cwd`).startsWith(directory);
    } catch {
      return false;
    }
  });
}

function listFiles(directory: string): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) =>
    isDirectory ? listFiles(`${directory}/${name}`) : [`${directory}/${name}`]
  );
}

/** Runs a call and cancels it after a time, if it has not settled before. Rejects if it does not settle then. */
async function cancelAfter(
  call: (signal: AbortSignal) => Promise<unknown>,
  afterMs: number,
): Promise<void> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), afterMs);
  try {
    await withDeadline(call(controller.signal), MAX_CANCEL_MS);
  } finally {
    clearTimeout(timer);
  }
}

Deno.test(`kill: edits cancelled at ${rounds} random moments are made completely or not at all (seed ${seed})`, async () => {
  await using workspace = new TestWorkspace();
  const random = seededRandom(seed);
  const before = `${"old line\n".repeat(50_000)}`;
  const after = before.replaceAll("old", "new");
  for (let round = 0; round < rounds; round++) {
    workspace.writeFile("file.txt", before);
    await workspace.callTool("read_file", { path: "file.txt", limit: 1 });
    const edit = (signal: AbortSignal) =>
      round % 2 === 0
        ? workspace.callTool("write_file", { path: "file.txt", content: after }, signal)
        : workspace.callTool(
          "edit_file",
          {
            path: "file.txt",
            edits: [{ old_string: "old", new_string: "new", replace_all: true }],
          },
          signal,
        );
    await cancelAfter(edit, random() * 12);
    const content = workspace.readFile("file.txt");
    assert(content === before || content === after, "the file is partly written");
    assertEquals(listFiles(workspace.directory), [`${workspace.directory}/file.txt`]);
  }
});

const COMMANDS: readonly string[] = [
  "sleep 30",
  "trap '' TERM INT HUP; while :; do sleep 1; done",
  "sleep 30 & sleep 30 & wait",
  "yes | cat > /dev/null",
  "setsid sleep 30 & sleep 30",
  "(trap '' TERM; setsid bash -c 'trap \"\" TERM; sleep 30' & sleep 30)",
  "for i in 1 2 3 4 5; do sleep 0.001; setsid sleep 30 & done; sleep 30",
  "bash -c 'bash -c \"sleep 30 | sleep 30\"'",
];

Deno.test({
  name: `kill: commands cancelled at ${rounds} random moments leave no process (seed ${seed})`,
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using workspace = new TestWorkspace();
    const random = seededRandom(seed + 1);
    for (let round = 0; round < rounds; round++) {
      const command = COMMANDS[Math.floor(random() * COMMANDS.length)] ?? "";
      const call = (signal: AbortSignal) => workspace.callTool("bash", { command }, signal);
      await cancelAfter(call, random() * 90);
      assertEquals(findProcesses(workspace.directory), [], command);
    }
  },
});

Deno.test({
  name: "kill: disposing the sandbox leaves no process of its commands and programs",
  ignore: Deno.build.os !== "linux",
  async fn() {
    for (const command of COMMANDS) {
      await using workspace = new TestWorkspace();
      const script = `echo started; ${command}`;
      const started = await workspace.sandbox.startCommand(script);
      const reader = started.output.getReader();
      await reader.read();
      const program = await workspace.sandbox.spawn({
        program: "bash",
        args: ["-c", `setsid sleep 30 & setsid sleep 30 & ${script}`],
        env: { PATH: "/usr/bin:/bin" },
      });
      await program.stdin.close();
      const output = program.stdout.getReader();
      await output.read();
      await workspace.sandbox[Symbol.asyncDispose]();
      await Promise.all([reader.cancel(), output.cancel(), program.stderr.cancel()]);
      assertEquals(findProcesses(workspace.directory), [], command);
    }
  },
});

Deno.test({
  name: "kill: a program without the permission to read /proc leaves no process of its commands",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using workspace = new TestWorkspace();
    const child = new URL("./second_mounts_child.ts", import.meta.url).pathname;
    const permissions = ["read", "write", "env", "run", "sys"].map((name) => `--allow-${name}`);
    const flags = ["--quiet", "--no-config", "--no-lock", "--cached-only", "--no-check"];
    const command = "setsid sleep 30 > /dev/null 2>&1 & sleep 0.2; echo $SWINK_CALL";
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", ...flags, ...permissions, child, workspace.directory, "hidden", command],
      signal: createDeadline(),
    }).output();
    const mark = new TextDecoder().decode(stdout).trim();
    assertEquals(mark.length, 36);
    assertEquals(findMarkedProcesses(mark), []);
  },
});

Deno.test(`kill: searches and listings cancelled at ${rounds} random moments end (seed ${seed})`, async () => {
  await using workspace = new TestWorkspace();
  // The complete search takes much longer than MAX_CANCEL_MS.
  const content = `${"a ".repeat(5_000)}\n`.repeat(5);
  for (let index = 0; index < 600; index++) {
    workspace.writeFile(`d${index % 20}/f${index}`, content);
  }
  const random = seededRandom(seed + 2);
  for (let round = 0; round < rounds; round++) {
    const search = (signal: AbortSignal) =>
      workspace.callTool("search_files", { pattern: "(?!x).*.*foo" }, signal);
    await cancelAfter(search, random() * 30);
    const list = (signal: AbortSignal) =>
      workspace.callTool("list_directory", { depth: 5 }, signal);
    await cancelAfter(list, random() * 10);
  }
});
