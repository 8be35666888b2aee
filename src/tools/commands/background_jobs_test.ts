import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";

Deno.test("a job goes on running, tells what is new, and ends when it is stopped", async () => {
  await using bench = new TestWorkspace({}, { jobs: true });
  const start = await bench.callTool("bash", {
    command: "echo ready; while :; do sleep 0.01; [ -e go ] && echo went && rm go; done",
    background: true,
  });
  assertEquals(start.text, "Job 1 is running\nready");
  const look = await bench.callTool("job_output", { job_id: "1" });
  assertEquals(look.text, "Job 1 is running\n(nothing new)");
  bench.writeFile("go", "");
  const news = await bench.callTool("job_output", { job_id: "1", wait_ms: 5_000 });
  assertEquals(news.text, "Job 1 is running\nwent");
  const stopped = await bench.callTool("job_stop", { job_id: "1" });
  assertMatch(stopped.text, /^Job 1 has ended\. Exit code: 143 \(ended by SIGTERM\)/);
});

Deno.test("a job that ends at once says so, and what it started ends with it", async () => {
  await using bench = new TestWorkspace({}, { jobs: true });
  const { text } = await bench.callTool("bash", {
    command: "sleep 50 & echo no; exit 3",
    background: true,
  });
  assertEquals(text, "Job 1 has ended. Exit code: 3\nno");
});

Deno.test("a call that is not in the background does not wait for jobs, and an unknown job is an error", async () => {
  await using bench = new TestWorkspace({}, { jobs: true });
  await bench.callTool("bash", { command: "sleep 50", background: true });
  assertEquals((await bench.callTool("bash", { command: "echo x" })).text, "Exit code: 0\nx");
  const unknown = await bench.callTool("job_output", { job_id: "7" });
  assert(unknown.isError);
  assertStringIncludes(unknown.text, 'There is no job "7"; there are: 1');
});

Deno.test("an abort ends a wait, not the job", async () => {
  await using bench = new TestWorkspace({}, { jobs: true });
  await bench.callTool("bash", { command: "sleep 50", background: true });
  const controller = new AbortController();
  const waiting = bench.callTool("job_output", { job_id: "1", wait_ms: 60_000 }, controller.signal);
  setTimeout(() => controller.abort(), 20);
  assertStringIncludes((await waiting).text, "Job 1 is running");
});

Deno.test("a sandbox that is disposed of ends its jobs", async () => {
  const bench = new TestWorkspace({}, { jobs: true });
  await bench.callTool("bash", { command: "echo $$ > pid; sleep 50", background: true });
  const pid = Number(bench.readFile("pid"));
  await bench[Symbol.asyncDispose]();
  let state = "";
  try {
    state = Deno.readTextFileSync(`/proc/${pid}/stat`).split(" ")[2] ?? "";
  } catch {
    // Gone altogether.
  }
  assert(state === "" || state === "Z", state);
});

Deno.test("without jobs there are six tools, and bash knows no background", async () => {
  await using bench = new TestWorkspace();
  assertEquals(bench.tools.map(({ name }) => name), [
    "read_file",
    "write_file",
    "edit_file",
    "list_directory",
    "search_files",
    "bash",
  ]);
  assert(!JSON.stringify(bench.getTool("bash").parameters).includes("background"));
});
