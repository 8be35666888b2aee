import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { waitUntil } from "../../../tests/wait_until.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { Sandbox, SandboxCommand } from "../sandbox/sandbox.ts";
import { BackgroundJobs } from "./background_jobs.ts";
import { describeJob } from "./job_tools.ts";

Deno.test("background jobs: job_output returns new output, job_stop ends the job", async () => {
  await using workspace = new TestWorkspace({}, { jobs: true });
  const start = await workspace.callTool("bash", {
    command: "echo ready; while :; do sleep 0.01; [ -e go ] && echo went && rm go; done",
    background: true,
  });
  const started = start.text.includes("ready")
    ? start
    : await workspace.callTool("job_output", { job_id: "1", wait_ms: 20_000 });
  assertEquals(started.text, "Job 1 is running\nready");
  const idle = await workspace.callTool("job_output", { job_id: "1" });
  assertEquals(idle.text, "Job 1 is running\n(no new output)");
  workspace.writeFile("go", "");
  const update = await workspace.callTool("job_output", { job_id: "1", wait_ms: 20_000 });
  assertEquals(update.text, "Job 1 is running\nwent");
  const stopped = await workspace.callTool("job_stop", { job_id: "1" });
  assertMatch(stopped.text, /^Job 1 has ended\. Exit code: 143 \(ended by SIGTERM\)/);
  assertEquals(stopped.result.details, { jobId: "1", exit: { code: 143, signal: "SIGTERM" } });
});

Deno.test("BackgroundJobs: pollAfterStart() waits for a job that ends at once, and for the processes it started", async () => {
  await using workspace = new TestWorkspace();
  const jobs = new BackgroundJobs(workspace.sandbox);
  const id = await jobs.start("sleep 50 & echo no; exit 3", workspace.directory);
  const { signal } = new AbortController();
  const job = await jobs.pollAfterStart(id, { waitMs: 20_000, signal });
  assertEquals(describeJob(id, job), "Job 1 has ended. Exit code: 3\nno");
});

Deno.test("BackgroundJobs: the end of a job kills its processes, and undoes and reports changes to the settings of git", async () => {
  await using workspace = new TestWorkspace({ confinement: "off" });
  workspace.writeFile(".git/config", "[core]\n");
  const jobs = new BackgroundJobs(workspace.sandbox);
  const command = "setsid bash -c 'echo $$ > new; mv new pid; exec sleep 50' & " +
    "until [ -e pid ]; do sleep 0.01; done; echo x > .git/config; echo end";
  const id = await jobs.start(command, workspace.directory);
  const { signal } = new AbortController();
  const { output } = await jobs.pollAfterStart(id, { waitMs: 20_000, signal });
  assertMatch(output, /^end\n\n\[Sandbox: undid the changes to \.git\/config, /);
  assertEquals(workspace.readFile(".git/config"), "[core]\n");
  assert(!isRunning(Number(workspace.readFile("pid"))));
});

Deno.test({
  name:
    "BackgroundJobs: a process that is not found and holds the output open delays neither the end nor a stop",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using workspace = new TestWorkspace();
    const jobs = new BackgroundJobs(workspace.sandbox);
    const command = "setsid env -i bash -c 'echo $$ > new; mv new pid; exec sleep 50' & " +
      "until [ -e pid ]; do sleep 0.01; done; echo end";
    const id = await jobs.start(command, workspace.directory);
    try {
      const { signal } = new AbortController();
      const job = await jobs.pollAfterStart(id, { waitMs: 20_000, signal });
      assertEquals(describeJob(id, job), "Job 1 has ended. Exit code: 0\nend");
      assertEquals((await jobs.stop(id)).exit, { code: 0, signal: null });
    } finally {
      Deno.kill(Number(workspace.readFile("pid")), "SIGKILL");
    }
  },
});

Deno.test("BackgroundJobs: at most 16 jobs run at the same time", async () => {
  await using workspace = new TestWorkspace();
  const { files } = workspace.sandbox;
  const command: SandboxCommand = {
    pid: 0,
    output: new ReadableStream(),
    exited: new Promise(() => {}),
    terminate: () => Promise.resolve(),
    finish: () => Promise.resolve({}),
  };
  const startCommand = () => Promise.resolve({ ...command, output: new ReadableStream() });
  const jobs = new BackgroundJobs({ ...workspace.sandbox, files, startCommand } as Sandbox);
  for (let count = 1; count <= 16; count++) assertEquals(await jobs.start("a", ""), String(count));
  await assertRejects(() => jobs.start("a", ""), BadRequestError, "16 jobs are already running");
});

Deno.test("BackgroundJobs: a failure at the end of a job is part of its output, and does not crash the program", async () => {
  await using workspace = new TestWorkspace();
  const { files } = workspace.sandbox;
  const command: SandboxCommand = {
    pid: 0,
    output: new Blob(["built\n"]).stream(),
    exited: Promise.resolve({ code: 0, signal: null }),
    terminate: () => Promise.resolve(),
    finish: () => Promise.reject(new Error("The settings of git cannot be read")),
  };
  const startCommand = () => Promise.resolve(command);
  const jobs = new BackgroundJobs({ ...workspace.sandbox, files, startCommand } as Sandbox);
  const id = await jobs.start("make", "");
  const { signal } = new AbortController();
  const job = await jobs.pollAfterStart(id, { waitMs: 20_000, signal });
  assertEquals(job.exit, { code: 0, signal: null });
  assertEquals(job.output, "built\n\n[The job failed: The settings of git cannot be read]\n");
});

/** Whether a process runs; one that has ended may not be reaped yet. */
function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}

Deno.test("background jobs: do not delay a foreground call, and an unknown id is an error", async () => {
  await using workspace = new TestWorkspace({}, { jobs: true });
  await workspace.callTool("bash", { command: "sleep 50", background: true });
  assertEquals((await workspace.callTool("bash", { command: "echo x" })).text, "Exit code: 0\nx");
  const unknown = await workspace.callTool("job_output", { job_id: "7" });
  assert(unknown.isError);
  assertStringIncludes(unknown.text, 'Unknown job "7"; known jobs: 1');
});

Deno.test("background jobs: an abort ends the wait of job_output, not the job", async () => {
  await using workspace = new TestWorkspace({}, { jobs: true });
  await workspace.callTool("bash", { command: "sleep 50", background: true });
  const controller = new AbortController();
  const waiting = workspace.callTool(
    "job_output",
    { job_id: "1", wait_ms: 60_000 },
    controller.signal,
  );
  setTimeout(() => controller.abort(), 0);
  assertStringIncludes((await waiting).text, "Job 1 is running");
});

Deno.test("background jobs: disposing the sandbox ends them", async () => {
  const workspace = new TestWorkspace({}, { jobs: true });
  await workspace.callTool("bash", {
    command: "echo $$ > new; mv new pid; sleep 50",
    background: true,
  });
  await waitUntil(() => workspace.exists("pid"));
  const pid = Number(workspace.readFile("pid"));
  await workspace[Symbol.asyncDispose]();
  assert(!isRunning(pid));
});
