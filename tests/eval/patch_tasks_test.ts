import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent, defineTool } from "../../mod.ts";
import { choosePackages } from "../../scripts/packages.ts";
import {
  createPatchEvaluation,
  gradePatch,
  type MakeAgent,
  openUnconfined,
  type PatchTask,
  runEvalSet,
} from "../../src/eval/mod.ts";
import { basename } from "../../src/platform/paths.ts";
import { reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { createDeadline } from "../deadline.ts";
import { root } from "../project.ts";

async function git(cwd: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...args],
    cwd,
    env: { GIT_CONFIG_GLOBAL: "/dev/null" },
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

const TEST_PATCH = `diff --git a/check.sh b/check.sh
index 0000000..1111111 100644
--- a/check.sh
+++ b/check.sh
@@ -1 +1 @@
-true
+grep -q fixed code.txt
`;

/** A repository whose third commit is the solution of a task that starts at the second one. */
class Repository implements AsyncDisposable {
  readonly directory: string;
  readonly task: PatchTask;

  private constructor(directory: string, baseCommit: string) {
    this.directory = directory;
    this.task = {
      instanceId: "project__project-1",
      repository: `${directory}/project`,
      baseCommit,
      problemStatement: "The code is broken.",
      testCommand: "sh check.sh",
      testPatch: TEST_PATCH,
    };
  }

  static async create(): Promise<Repository> {
    const directory = await Deno.makeTempDir({ prefix: "swink_tasks_" });
    const project = `${directory}/project`;
    await Deno.mkdir(project);
    await git(project, "init", "--quiet");
    await Deno.writeTextFile(`${project}/old.txt`, "old\n");
    await git(project, "add", ".");
    await git(project, "commit", "--quiet", "-m", "Before");
    await git(project, "rm", "--quiet", "old.txt");
    await Deno.writeTextFile(`${project}/code.txt`, "broken\n");
    await Deno.writeTextFile(`${project}/check.sh`, "true\n");
    await git(project, "add", ".");
    await git(project, "commit", "--quiet", "-m", "Base");
    const baseCommit = await git(project, "rev-parse", "HEAD");
    await Deno.writeTextFile(`${project}/code.txt`, "fixed by the solution\n");
    await git(project, "commit", "--quiet", "--all", "-m", "Solution");
    return new Repository(directory, baseCommit);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.directory, { recursive: true });
  }
}

/** An agent that writes files, and notes the commits and the objects of its checkout. */
function createWriter(
  files: Readonly<Record<string, string | Uint8Array>>,
  seen: string[] = [],
): MakeAgent {
  return async ({ getDirectory }) => {
    const directory = await getDirectory();
    const write = defineTool({
      name: "write",
      description: "Writes files.",
      parameters: { type: "object", properties: {} },
      execute: async () => {
        seen.push(await git(directory, "log", "--all", "--format=%s"));
        const objects = await git(directory, "cat-file", "--batch-all-objects", "--batch-check");
        seen.push(...objects.split("\n").map((line) => line.split(" ")[1] ?? "").sort());
        for (const [name, content] of Object.entries(files)) {
          const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
          await Deno.writeFile(`${directory}/${name}`, bytes);
        }
        return "done";
      },
    });
    const streamFn = scriptedStream([reply([toolCall("write")]), reply("Done")]);
    return new Agent({ model: "test/model", streamFn, tools: [write] });
  };
}

async function solve(
  repository: Pick<Repository, "directory" | "task">,
  makeAgent: MakeAgent,
) {
  const predictionsFile = `${repository.directory}/predictions.jsonl`;
  const { set, ...evaluation } = createPatchEvaluation([repository.task], {
    modelName: "test/model",
    predictionsFile,
    openSandbox: openUnconfined,
  });
  const { results: [result] } = await runEvalSet(set, makeAgent, evaluation);
  const prediction = JSON.parse(await Deno.readTextFile(predictionsFile));
  return { result, prediction, score: result?.scores[0] };
}

Deno.test("patch tasks: an agent solves a task, and its patch is a prediction that passes the tests", async () => {
  await using repository = await Repository.create();
  const seen: string[] = [];
  const { result, prediction, score } = await solve(
    repository,
    createWriter({ "code.txt": "fixed\n", "new.txt": "new\n" }, seen),
  );
  assertEquals([result?.outcome, score?.reason], ["passed", "resolved"]);
  assertEquals(Object.keys(prediction), ["instance_id", "model_name_or_path", "model_patch"]);
  assertEquals(prediction.instance_id, "project__project-1");
  assertEquals(prediction.model_name_or_path, "test/model");
  assertStringIncludes(prediction.model_patch, "+fixed");
  assertStringIncludes(prediction.model_patch, "+new");
  // The solution is not in the history of the checkout.
  assertEquals(seen, ["Base", "blob", "blob", "commit", "tree"]);
  assertStringIncludes(result?.trajectory?.response ?? "", "Done");
  assertEquals(await git(repository.task.repository, "status", "--porcelain"), "");
});

Deno.test("patch tasks: a prediction keeps changes of files in other encodings", async () => {
  await using repository = await Repository.create();
  const project = repository.task.repository;
  const encode = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  await Deno.writeFile(`${project}/latin.txt`, encode("caf\u00e9\nbroken\n"));
  await git(project, "add", ".");
  await git(project, "commit", "--quiet", "-m", "Latin");
  const { testPatch: _, ...task } = repository.task;
  const fixed = encode("caf\u00e9\nfixed\n");
  const testCommand = "printf 'caf\\351\\nfixed\\n' | cmp - latin.txt";
  const { prediction, score } = await solve(
    { directory: repository.directory, task: { ...task, testCommand, baseCommit: "HEAD" } },
    createWriter({ "latin.txt": fixed }),
  );
  assertEquals(score?.reason, "resolved");
  assertEquals(prediction.model_patch.includes("\ufffd"), false);
});

Deno.test("patch tasks: a patch that does not resolve the issue fails, with the output of the tests", async () => {
  await using repository = await Repository.create();
  const { score } = await solve(repository, createWriter({ "code.txt": "still wrong\n" }));
  assertEquals(score?.passed, false);
  assertStringIncludes(score?.reason ?? "", "unresolved: The tests exited with code 1");
});

Deno.test("patch tasks: tests that the agent changed are replaced by those of the task", async () => {
  await using repository = await Repository.create();
  const { score } = await solve(repository, createWriter({ "check.sh": "exit 0 # passes\n" }));
  assertEquals(score?.reason?.split("\n")[0], "unresolved: The tests exited with code 1");
});

Deno.test("patch tasks: changes of the test files of a task do not count", async () => {
  await using repository = await Repository.create();
  const { testPatch: _, ...task } = repository.task;
  const project = task.repository;
  await git(project, "checkout", "--quiet", task.baseCommit);
  await Deno.mkdir(`${project}/tests`);
  await Deno.writeTextFile(`${project}/tests/check.sh`, "grep -q fixed code.txt\n");
  await Deno.writeTextFile(`${project}/tests/run.sh`, "for f in tests/*.sh; do sh $f; done\n");
  await git(project, "add", ".");
  await git(project, "commit", "--quiet", "-m", "Tests");
  const baseCommit = await git(project, "rev-parse", "HEAD");
  const files = ["tests/check.sh", "tests"];
  for (const testFiles of [[], ...files.map((file) => [file]), ["tests/"]]) {
    const tested = { ...task, baseCommit, testFiles, testCommand: "sh tests/check.sh" };
    const passes = createWriter({ "tests/check.sh": "exit 0\n" });
    const { score } = await solve({ directory: repository.directory, task: tested }, passes);
    // Without test files the tests are those of the agent.
    assertEquals(score?.passed, testFiles.length === 0, testFiles.join());
  }
  const added = createAddition("tests/added.sh", "exit 0 # of the agent");
  const grade = await gradePatch(
    { ...task, baseCommit, testFiles: ["tests"], testCommand: "test ! -e tests/added.sh" },
    added,
    { openSandbox: openUnconfined },
  );
  assertEquals(grade.type, "resolved");
});

Deno.test("patch tasks: a test file that the commit does not have fails the run before it starts", async () => {
  await using repository = await Repository.create();
  const task = { ...repository.task, testFiles: ["chekc.sh"] };
  const { set, ...evaluation } = createPatchEvaluation([task], { modelName: "m" });
  let agents = 0;
  const { results: [result] } = await runEvalSet(set, (request) => {
    agents++;
    return createWriter({})(request);
  }, evaluation);
  assertEquals([agents, result?.outcome], [0, "failed"]);
  assertStringIncludes(result?.scores[0]?.reason ?? "", 'has no "chekc.sh"');
});

Deno.test("patch tasks: a file with predictions of another model fails the run before it starts", async () => {
  await using repository = await Repository.create();
  const predictionsFile = `${repository.directory}/predictions.jsonl`;
  const line = { instance_id: "a", model_name_or_path: "other", model_patch: "" };
  await Deno.writeTextFile(predictionsFile, `${JSON.stringify(line)}\n`);
  const options = { modelName: "m", predictionsFile };
  const { set, ...evaluation } = createPatchEvaluation([repository.task], options);
  let agents = 0;
  const { results: [result] } = await runEvalSet(set, (request) => {
    agents++;
    return createWriter({})(request);
  }, evaluation);
  assertEquals([agents, result?.outcome], [0, "failed"]);
  assertStringIncludes(result?.scores[0]?.reason ?? "", 'has predictions of "other"');
});

Deno.test("patch tasks: a run without changes is an empty prediction", async () => {
  await using repository = await Repository.create();
  const { score, prediction } = await solve(repository, createWriter({}));
  assertEquals([score?.passed, score?.reason, prediction.model_patch], [false, "empty", ""]);
});

Deno.test("patch tasks: a run that fails before the first reply keeps an earlier prediction", async () => {
  await using repository = await Repository.create();
  await solve(repository, createWriter({ "code.txt": "fixed\n" }));
  const { prediction } = await solve(repository, () => Promise.reject(new Error("no key")));
  assertStringIncludes(prediction.model_patch, "+fixed");
});

Deno.test("gradePatch: distinguishes patches that cannot be applied from tasks that are invalid", async () => {
  await using repository = await Repository.create();
  const { task } = repository;
  const grade = async (changes: Partial<PatchTask>, patch: string) =>
    await gradePatch({ ...task, ...changes }, patch, { openSandbox: openUnconfined });
  const solution = await git(task.repository, "diff", task.baseCommit, "HEAD") + "\n";
  assertEquals(await grade({}, solution), { type: "resolved", details: "" });
  assertEquals((await grade({}, "no patch")).type, "invalid");
  assertEquals((await grade({}, "  \n")).type, "empty");
  const unknown = await grade({ baseCommit: "0".repeat(40) }, solution);
  assertEquals(unknown.type, "error");
  assertStringIncludes(unknown.details, "There is no commit");
  assertEquals((await grade({ testPatch: "no patch" }, solution)).type, "error");
  const slow = await grade({ testCommand: "sleep 60", testTimeoutMs: 100 }, solution);
  assertStringIncludes(slow.details, "did not end within 100 ms");
});

Deno.test("gradePatch: a patch cannot write outside of its checkout", async () => {
  await using repository = await Repository.create();
  const patch = `diff --git a/../../escaped b/../../escaped
new file mode 100644
--- /dev/null
+++ b/../../escaped
@@ -0,0 +1 @@
+x
`;
  const { type } = await gradePatch(repository.task, patch, { openSandbox: openUnconfined });
  assertEquals(type, "invalid");
});

/** Returns a patch that adds a file, or a link with mode 120000. */
function createAddition(path: string, text: string, mode = "100644"): string {
  return `diff --git a/${path} b/${path}
new file mode ${mode}
--- /dev/null
+++ b/${path}
@@ -0,0 +1 @@
+${text}
${mode === "120000" ? "\\ No newline at end of file\n" : ""}`;
}

Deno.test("gradePatch: files of the tests are not removed through a link that the agent has made", async () => {
  await using repository = await Repository.create();
  const outside = await Deno.makeTempDir({ prefix: "swink_outside_" });
  await Deno.mkdir(`${outside}/unit`);
  for (const name of ["cart_test.sh", "unit/cart_test.sh"]) {
    await Deno.writeTextFile(`${outside}/${name}`, "mine\n");
  }
  for (const name of ["cart_test.sh", "unit/cart_test.sh"]) {
    const task = {
      ...repository.task,
      testPatch: createAddition(`tests/${name}`, "exit 0"),
      testCommand: `sh tests/${name}`,
    };
    const patch = createAddition("tests", outside, "120000");
    const { type, details } = await gradePatch(task, patch, { openSandbox: openUnconfined });
    assertEquals([type, details], ["resolved", ""]);
    assertEquals(await Deno.readTextFile(`${outside}/${name}`), "mine\n");
  }
  await Deno.remove(outside, { recursive: true });
});

Deno.test("gradePatch: attributes that the agent has added do not change the tests", async () => {
  await using repository = await Repository.create();
  const { task } = repository;
  const encode = (path: string) =>
    createAddition(".gitattributes", `${path} working-tree-encoding=UTF-7`);
  const openSandbox = openUnconfined;
  const added = createAddition("added.sh", "grep -q fixed code.txt || exit 1");
  const patched = { ...task, testPatch: added, testCommand: "sh added.sh; test $? = 1" };
  assertEquals((await gradePatch(patched, encode("added.sh"), { openSandbox })).type, "resolved");
  const { testPatch: _, ...kept } = task;
  const listed = { ...kept, testFiles: ["check.sh"], testCommand: "grep -qx true check.sh" };
  const encoding = encode("check.sh").replace("UTF-7", "UTF-16");
  assertEquals((await gradePatch(listed, encoding, { openSandbox })).type, "resolved");
});

Deno.test("gradePatch: keeps what the patch of the tests changes in test files, however their path is written", async () => {
  await using repository = await Repository.create();
  const { task } = repository;
  const project = `${repository.directory}/project`;
  await git(project, "checkout", "--quiet", task.baseCommit);
  await Deno.mkdir(`${project}/tests`);
  await Deno.writeTextFile(`${project}/tests/check.sh`, "true\n");
  await git(project, "add", ".");
  await git(project, "commit", "--quiet", "-m", "With tests");
  const baseCommit = await git(project, "rev-parse", "HEAD");
  const moved = TEST_PATCH.replaceAll("/check.sh", "/tests/check.sh");
  const openSandbox = openUnconfined;
  for (const path of ["tests", "tests/", "./tests", "tests/.", ".//tests", "./tests/check.sh"]) {
    // A test that is missing fails nothing.
    const testCommand = "for test in tests/*.sh; do test ! -e $test || sh $test || exit 1; done";
    const tested = { ...task, baseCommit, testFiles: [path], testPatch: moved, testCommand };
    const { type } = await gradePatch(tested, createAddition("new.txt", "new"), { openSandbox });
    assertEquals(type, "unresolved", path);
  }
  for (const path of [".", "./", "tests/../code.txt", "../project"]) {
    const tested = { ...task, baseCommit, testFiles: [path] };
    const grade = await gradePatch(tested, createAddition("new.txt", "new"), { openSandbox });
    assertEquals(grade.type, "error", path);
    assertStringIncludes(grade.details, `"${path}", which is one of the test files`);
  }
});

Deno.test("gradePatch: applies a patch of tests to files whose line ends the commit converts", async () => {
  await using repository = await Repository.create();
  const { task } = repository;
  const project = `${repository.directory}/project`;
  await git(project, "checkout", "--quiet", task.baseCommit);
  await Deno.writeTextFile(`${project}/.gitattributes`, "*.sh text eol=crlf\n");
  await git(project, "add", ".");
  await git(project, "commit", "--quiet", "-m", "With attributes");
  const baseCommit = await git(project, "rev-parse", "HEAD");
  const testCommand = `test "$(cat check.sh)" = "$(printf 'grep -q fixed code.txt\\r\\n')"`;
  const tested = { ...task, baseCommit, testCommand };
  const grade = await gradePatch(tested, createAddition("new.txt", "new"), {
    openSandbox: openUnconfined,
  });
  assertEquals(grade, { type: "resolved", details: "" });
});

Deno.test("gradePatch: a patch of the tests removes nothing outside of its checkout", async () => {
  await using repository = await Repository.create();
  // In the directory of the checkouts.
  const outside = await Deno.makeTempDir({ prefix: "swink_outside_" });
  await Deno.writeTextFile(`${outside}/mine.txt`, "mine\n");
  const name = basename(outside);
  for (const path of [`../${name}`, `../${name}/mine.txt`, `a/../../${name}`, ".git/config"]) {
    const task = { ...repository.task, testPatch: createAddition(path, "x") };
    const { type, details } = await gradePatch(task, createAddition("new.txt", "new"), {
      openSandbox: openUnconfined,
    });
    assertEquals(type, "error");
    assertStringIncludes(details, `changes "${path}", which is no file of the repository`);
    assertEquals(await Deno.readTextFile(`${outside}/mine.txt`), "mine\n");
  }
  await Deno.remove(outside, { recursive: true });
});

Deno.test("gradePatch: restores a file that the patch of the tests renames, and no other one", async () => {
  await using repository = await Repository.create();
  const { directory, task } = repository;
  const project = `${directory}/project`;
  await git(project, "checkout", "--quiet", task.baseCommit);
  await Deno.writeTextFile(`${project}/[id].sh`, "one\ntwo\nthree\n");
  await Deno.writeTextFile(`${project}/i.sh`, "base\n");
  await git(project, "add", ".");
  await git(project, "commit", "--quiet", "-m", "With names");
  const baseCommit = await git(project, "rev-parse", "HEAD");
  const testPatch = `diff --git a/[id].sh b/moved.sh
similarity index 70%
rename from [id].sh
rename to moved.sh
--- a/[id].sh
+++ b/moved.sh
@@ -1,3 +1,3 @@
 one
-two
+2
 three
`;
  const changed = `diff --git a/[id].sh b/[id].sh
--- a/[id].sh
+++ b/[id].sh
@@ -1,3 +1,3 @@
 one
-two
+changed by the agent
 three
diff --git a/i.sh b/i.sh
--- a/i.sh
+++ b/i.sh
@@ -1 +1 @@
-base
+changed by the agent
`;
  const testCommand = "grep -q 2 moved.sh && grep -q agent i.sh && ! test -e '[id].sh'";
  const grade = await gradePatch({ ...task, baseCommit, testPatch, testCommand }, changed, {
    openSandbox: openUnconfined,
  });
  assertEquals(grade, { type: "resolved", details: "" });
});

Deno.test("gradePatch: paths may be relative, and like an option", async () => {
  await using repository = await Repository.create();
  const { directory, task } = repository;
  const solution = await git(task.repository, "diff", task.baseCommit, "HEAD") + "\n";
  const option = "--upload-pack=false";
  await git(directory, "clone", "--quiet", "--bare", "project", `${directory}/${option}`);
  const lines = ["project", option].map((name) =>
    JSON.stringify({
      instance_id: name.replaceAll(/\W/g, ""),
      repository: name,
      base_commit: task.baseCommit,
      problem_statement: "Broken",
      test_command: "true",
    })
  );
  await Deno.writeTextFile(`${directory}/tasks.jsonl`, lines.join("\n"));
  const output = await gradeInChild(directory, solution);
  assertEquals(output, "project: resolved\nuploadpackfalse: resolved\n");
});

/** Grades a patch for the tasks in a directory in another process, whose home is the directory. */
async function gradeInChild(directory: string, patch: string): Promise<string> {
  const { config } = await choosePackages();
  const script = `${root.pathname}tests/eval/grade_child.ts`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "-c", config, script, patch],
    cwd: directory,
    env: {
      HOME: directory,
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    },
    stdin: "null",
    signal: createDeadline(),
  }).output();
  return new TextDecoder().decode(stdout);
}

Deno.test("gradePatch: a repository of another owner is read if the user trusts it", async () => {
  await using repository = await Repository.create();
  const { directory, task } = repository;
  const solution = await git(task.repository, "diff", task.baseCommit, "HEAD") + "\n";
  const written = {
    instance_id: "a__b-1",
    problem_statement: "Broken",
    repository: "project",
    base_commit: task.baseCommit,
    test_command: "true",
  };
  await Deno.writeTextFile(`${directory}/tasks.jsonl`, JSON.stringify(written));
  const settings = `${directory}/.gitconfig`;
  await Deno.writeTextFile(settings, "[core]\n\thooksPath = /none\n");
  // Only the superuser can give it away.
  if (Deno.uid() === 0) {
    for (const path of [task.repository, `${task.repository}/.git`]) {
      await Deno.chown(path, 65_534, 65_534);
    }
    assertStringIncludes(await gradeInChild(directory, solution), "dubious ownership");
  }
  const trusted = ["/other's", "~/project", "*"].map((path) => `\tdirectory = ${path}\n`);
  await Deno.writeTextFile(settings, `[safe]\n${trusted.join("")}`);
  assertEquals(await gradeInChild(directory, solution), "a__b-1: resolved\n");
});

Deno.test("gradePatch: restores a file of the tests that the agent replaced by a directory", async () => {
  await using repository = await Repository.create();
  const { task } = repository;
  const removed = `diff --git a/check.sh b/check.sh
deleted file mode 100644
--- a/check.sh
+++ /dev/null
@@ -1 +0,0 @@
-true
`;
  const patch = removed + createAddition("check.sh/main.sh", "exit 0");
  const { type, details } = await gradePatch(task, patch, { openSandbox: openUnconfined });
  assertEquals([type, details], ["unresolved", "The tests exited with code 1"]);
});
