import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { BadRequestError } from "../../mod.ts";
import {
  createPatchEvaluation,
  loadPatchTasks,
  type PatchTask,
  runEvalSet,
} from "../../src/eval/mod.ts";

Deno.test("loadPatchTasks: test files are paths inside of the repository", async () => {
  const read = (path: string) => load(JSON.stringify({ ...WRITTEN, test_files: [path] }));
  for (const path of ["tests", "tests/", "a/b.py", "..a/b..", ".github"]) {
    assertEquals((await read(path))[0]?.testFiles, [path]);
  }
  for (const path of ["", ".", "./", "/etc", "..", "../a", "a/../..", "a/.."]) {
    await assertRejects(() => read(path), BadRequestError, "test_files");
  }
});

Deno.test("loadPatchTasks: a directory is an error that names it", async () => {
  const load = () => loadPatchTasks(Deno.cwd());
  await assertRejects(load, BadRequestError, "Cannot read the file of tasks");
});

async function load(text: string): Promise<PatchTask[]> {
  return await loadPatchTasks("/tasks/tasks.jsonl", {
    files: { read: () => Promise.resolve(text) },
  });
}

const WRITTEN = {
  instance_id: "a__b-1",
  repository: "repos/b",
  base_commit: "abc123",
  problem_statement: "Broken",
  test_command: "make test",
  repo: "a/b",
  FAIL_TO_PASS: "[]",
};

Deno.test("loadPatchTasks: reads JSON lines and arrays, with repositories relative to the file", async () => {
  const expected: PatchTask = {
    instanceId: "a__b-1",
    repository: "/tasks/repos/b",
    baseCommit: "abc123",
    problemStatement: "Broken",
    testCommand: "make test",
  };
  assertEquals(await load(`${JSON.stringify(WRITTEN)}\n\n`), [expected]);
  assertEquals(await load(JSON.stringify([WRITTEN])), [expected]);
  const absolute = { ...WRITTEN, repository: "/repos/b", test_patch: "x", test_timeout_ms: 5 };
  assertEquals(await load(JSON.stringify(absolute)), [
    { ...expected, repository: "/repos/b", testPatch: "x", testTimeoutMs: 5 },
  ]);
  // One task on several lines, and a file that begins with a byte order mark.
  assertEquals(await load(JSON.stringify(WRITTEN, null, 2)), [expected]);
  assertEquals(await load(`\ufeff${JSON.stringify(WRITTEN)}`), [expected]);
});

Deno.test("loadPatchTasks: reads ids with two hashes, as SWE-bench Pro has", async () => {
  const id = `instance_internetarchive__openlibrary-${"0".repeat(40)}-v${"1".repeat(40)}`;
  const tasks = await load(JSON.stringify({ ...WRITTEN, instance_id: id }));
  assertEquals(tasks[0]?.instanceId, id);
  const { set } = createPatchEvaluation(tasks, { modelName: "test/model" });
  const { results } = await runEvalSet(set, () => {
    throw new Error("not started");
  }, {
    createDirectory: () => Promise.resolve({ path: "/none", remove: () => Promise.resolve() }),
  });
  assertEquals(results[0]?.caseId, id);
});

Deno.test("loadPatchTasks: rejects tasks that any patch would resolve", async () => {
  const getProblem = async (changes: object) => {
    const text = JSON.stringify({ ...WRITTEN, ...changes });
    return (await assertRejects(() => load(text), BadRequestError)).message;
  };
  assertStringIncludes(await getProblem({ test_command: " " }), "tasks.jsonl:1: test_command must");
  assertEquals(
    await getProblem({ testPatch: "x" }),
    '/tasks/tasks.jsonl:1: Unknown property "testPatch" of the task: did you mean test_patch?',
  );
});

Deno.test("loadPatchTasks: an error names the line and the key of each problem", async () => {
  const { base_commit: _, ...incomplete } = WRITTEN;
  const lines = [WRITTEN, incomplete, WRITTEN, { ...WRITTEN, base_commit: "--upload-pack=x" }]
    .map((task) => JSON.stringify(task));
  const error = await assertRejects(() => load(lines.join("\n")), BadRequestError);
  const problems = error.message.split("\n");
  assertEquals(problems.length, 3);
  assertEquals(problems[0], "/tasks/tasks.jsonl:2: base_commit is required");
  assertEquals(
    problems[1],
    '/tasks/tasks.jsonl:3: instance_id "a__b-1" is used by another task',
  );
  assertStringIncludes(problems[2] ?? "", "/tasks/tasks.jsonl:4: base_commit");
  await assertRejects(() => load("{"), BadRequestError, "/tasks/tasks.jsonl:1: ");
  await assertRejects(() => load("\n"), BadRequestError, "has no task");
  await assertRejects(() => load('["a"]'), BadRequestError, "[0]: the task must be object");
  assert(error instanceof BadRequestError);
});

Deno.test("loadPatchTasks: an error about many tasks lists some, as for the file of a benchmark", async () => {
  const { repository: _, ...incomplete } = WRITTEN;
  const lines = Array.from(
    { length: 500 },
    (_, index) => JSON.stringify({ ...incomplete, instance_id: `a__b-${index}` }),
  );
  const { message } = await assertRejects(() => load(lines.join("\n")), BadRequestError);
  const problems = message.split("\n");
  assertEquals([problems.length, problems.at(-1)], [11, "and 490 more"]);
});
