/**
 * Evaluations that are resumed with `swink eval run` and `patch`.
 *
 * @module
 */

import { assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { ALL, createProject, DONE, evaluate, run, RUN_1, WRITE } from "./evaluations.ts";
import { createFakeHost } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

Deno.test("swink eval run: a rejected key leaves a resumed evaluation with its damaged results", async () => {
  await using directory = await createProject();
  await evaluate(directory, [], { model: ALL });
  directory.write(`results/${RUN_1}/results.jsonl`, "damaged\n");
  const refused = {
    status: 401,
    body: '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
  };
  const rejected = await evaluate(directory, [`--resume=${RUN_1}`], { model: [refused] });
  assertEquals(rejected.code, 3);
  assertEquals(directory.read(`results/${RUN_1}/results.damaged.jsonl`), "damaged\n");
  const resumed = await evaluate(directory, [`--resume=${RUN_1}`], { model: ALL });
  assertEquals(resumed.code, 0);
});

Deno.test("swink eval patch: the resumed evaluation of one of several models has its predictions", async () => {
  await using directory = await createTemporaryDirectory({ "project/greeting.txt": "Bye\n" });
  const tasks = ["project-1", "project-2"].map((id) =>
    JSON.stringify({
      instance_id: id,
      repository: "project",
      base_commit: "main",
      problem_statement: "The greeting is wrong.",
      test_command: "true",
    })
  );
  directory.write("tasks.jsonl", tasks.join("\n"));
  const host = createFakeHost({
    env: { ANTHROPIC_API_KEY: "sk-ant-test", HOME: directory.path, NO_COLOR: "1" },
    model: [WRITE, DONE],
  });
  host.onMessage((text) => {
    // Outside a git repository the task fails at once.
    if (text.includes("failed  project-1")) host.sendSignal("SIGINT");
  });
  const code = await main([
    ...["eval", "patch", `${directory.path}/tasks.jsonl`, "--parallel=1"],
    ...["-m=anthropic/claude-sonnet-5-5", "-m=anthropic/claude-opus-5"],
    `--predictions=${directory.path}/predictions.jsonl`,
    `--results=${directory.path}/results`,
  ], host);
  assertEquals(code, 130);
  assertStringIncludes(
    host.messages,
    `--predictions="${directory.path}/predictions.claude-sonnet-5-5.jsonl" --resume=`,
  );
  // Graded by other tests, the missing runs would be mixed with those that are finished.
  const changed = tasks.map((task) => task.replace('"true"', '"false"')).join("\n");
  assertNotEquals(changed, tasks.join("\n"));
  directory.write("tasks.jsonl", changed);
  const [id = ""] = [...Deno.readDirSync(`${directory.path}/results`)]
    .filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
  const resumed = await run(directory, [
    ...["patch", `${directory.path}/tasks.jsonl`, `--resume=${id}`],
    `--results=${directory.path}/results`,
  ]);
  assertEquals(resumed.code, 2);
  assertStringIncludes(resumed.messages, "has changed: start another evaluation");
});
