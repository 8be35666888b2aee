/**
 * `swink eval run`, `patch` and `init`.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { lockFile } from "../../src/platform/file_lock.ts";
import { createSandbox } from "../../src/tools/mod.ts";
import {
  ALL,
  CASES,
  createProject,
  DONE,
  evaluate,
  GREET,
  listRuns,
  READ,
  run,
  RUN_1,
  TOKENS,
  withResults,
  WRITE,
} from "./evaluations.ts";
import { createFakeHost, type FakeHostOptions } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

Deno.test("swink eval run: runs each case in a copy of its fixture, and prints the results", async () => {
  await using directory = await createProject();
  const { code, output, messages } = await evaluate(directory);
  assertEquals(
    output,
    `   case    passed  score  cost     time
✓  greets  1 of 1  1.00   $0.0006  0.0 s
✓  writes  1 of 1  1.00   $0.0006  0.0 s

2 of 2 runs passed · score 1.00 · $0.0012 · 440 tokens · 0.0 s
`,
  );
  assertEquals(code, 0);
  assertEquals(
    messages,
    `✓ passed  greets  score 1.00 · $0.0006 · 0.0 s
✓ passed  writes  score 1.00 · $0.0006 · 0.0 s

Results: DIR/results/${RUN_1}
`,
  );
  assertEquals(directory.read("results/.gitignore"), "*\n");
  assertEquals(directory.read("project/name.txt"), "Ada\n");
});

Deno.test("swink eval run: fails if a run fails, with the reasons", async () => {
  await using directory = await createProject();
  const { code, output } = await evaluate(directory, [], {
    model: [{ blocks: ["\u001b[31mBye\u0007"] }, WRITE, DONE],
  });
  assertEquals(code, 1);
  assertStringIncludes(output, "✗  greets  0 of 1  0.00");
  assertStringIncludes(output, '✗ greets: response: The answer does not contain "Hello Ada"\n');
  assertStringIncludes(output, "1 of 2 runs passed");
});

Deno.test("swink eval run: --filter selects cases by id and tag, --repeat repeats them", async () => {
  await using directory = await createProject();
  const greet = [READ, GREET, READ, GREET];
  for (const filter of ["gr*", "short"]) {
    const options = { model: greet };
    const { output } = await evaluate(directory, [`--filter=${filter}`, "--repeat=2"], options);
    assertStringIncludes(output, "✓  greets  2 of 2 (95 %: 34–100 %)  1.00");
    assertEquals(output.includes("writes"), false);
  }
  const none = await evaluate(directory, ["--filter=other", "--filter=x"]);
  assertEquals(none.code, 2);
  assertEquals(
    none.messages,
    "swink: No case has an id or a tag that matches other, x\nCases: greets, writes\n",
  );
});

Deno.test("swink eval run: several models are several evaluations, with a table of both", async () => {
  await using directory = await createProject();
  const models = ["-m", "anthropic/claude-sonnet-5-5", "-m", "anthropic/claude-opus-5"];
  const { code, output } = await evaluate(directory, [
    ...models,
    `--junit=${directory.path}/report.xml`,
  ], { model: [...ALL, READ, DONE, WRITE, DONE] });
  assertEquals(code, 1);
  const lines = output.split("\n");
  assertMatch(lines[0] ?? "", /^case +anthropic\/claude-sonnet-5-5 +anthropic\/claude-opus-5$/);
  assertMatch(lines[1] ?? "", /^greets +✓ 1 of 1, 1\.00, \$0\.0006 +✗ 0 of 1, 0\.50/);
  assertEquals(listRuns(directory).length, 2);
  assertEquals(directory.read("results/.gitignore"), "*\n");
  assertStringIncludes(directory.read("report.claude-sonnet-5-5.xml"), 'failures="0"');
  assertStringIncludes(directory.read("report.claude-opus-5.xml"), 'failures="1"');
});

Deno.test("swink eval run: models with the same id, or another amount of reasoning, have reports of their own", async () => {
  await using directory = await createProject();
  const names = ["anthropic/claude-opus-5", "anthropic/claude-opus-5:high"];
  const models = [...names, ...names].flatMap((name) => ["-m", name]);
  const { output, messages } = await evaluate(directory, [
    ...models,
    `--junit=${directory.path}/report.xml`,
  ], { model: [...ALL, ...ALL] });
  assertMatch(output, /^case +anthropic\/claude-opus-5 +anthropic\/claude-opus-5:high\n/);
  assertEquals(listRuns(directory).length, 2);
  for (const name of ["claude-opus-5", "claude-opus-5-high"]) {
    assertStringIncludes(messages, `DIR/report.${name}.xml`);
    assertStringIncludes(directory.read(`report.${name}.xml`), 'failures="0"');
  }
});

Deno.test("swink eval run: a recording and a resumed evaluation keep the amount of reasoning", async () => {
  await using directory = await createProject();
  const recording = `${directory.path}/recording`;
  await evaluate(directory, [
    "-manthropic/claude-opus-5",
    "--effort=high",
    `--record=${recording}`,
  ]);
  const offline: FakeHostOptions = { env: { HOME: directory.path, NO_COLOR: "1" } };
  const replayed = await evaluate(directory, [`--replay=${recording}`], offline);
  assertEquals(replayed.code, 0, replayed.output);
  const header = JSON.parse(directory.read(`results/${listRuns(directory)[0]}/run.json`));
  assertEquals(header.model, "anthropic/claude-opus-5:high");
});

Deno.test("swink eval run: --record and --replay repeat an evaluation without network and key", async () => {
  await using directory = await createProject();
  const recording = `${directory.path}/recording`;
  const recorded = await evaluate(directory, [`--record=${recording}`]);
  assertEquals(recorded.code, 0);
  const offline: FakeHostOptions = { env: { HOME: directory.path, NO_COLOR: "1" } };
  const replayed = await evaluate(directory, [`--replay=${recording}`], offline);
  assertEquals([replayed.code, replayed.output], [0, recorded.output]);
  assertEquals(replayed.host.requests.length, 0);

  const other = ["-m", "openai/gpt-6.2-sol", `--replay=${recording}`];
  const missing = await evaluate(directory, other, offline);
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.messages, "has no run with openai/gpt-6.2-sol");
  const nowhere = await evaluate(directory, ["--replay", `${directory.path}/none`], offline);
  assertEquals(nowhere.code, 2);
  assertStringIncludes(nowhere.messages, "No such file or directory");
});

Deno.test("swink eval run: a rejected key ends the evaluation as a configuration error", async () => {
  await using directory = await createProject();
  const refused = {
    status: 401,
    body: '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
  };
  const { code, messages } = await evaluate(directory, [], { model: [refused] });
  assertEquals(code, 3);
  assertStringIncludes(messages, "was ended: ");
  assertStringIncludes(messages, "invalid x-api-key");
  const late = await evaluate(directory, [], { model: [READ, GREET, refused] });
  assertEquals([late.code, listRuns(directory)], [3, [RUN_1]]);
  assertEquals((await withResults(directory, "gate", "latest")).code, 1);
  const none = await evaluate(directory, ["-m", "anthropik/model"]);
  assertEquals(none.code, 3);
  assertStringIncludes(none.messages, 'Unknown provider "anthropik"');
});

Deno.test("swink eval run: a rejected model does not hide the results of the models before it", async () => {
  await using directory = await createProject();
  const refused = {
    status: 404,
    body: '{"type":"error","error":{"type":"not_found_error","message":"model: claude-opus-5"}}',
  };
  const { code, output, messages } = await evaluate(directory, [
    ...["-m", "anthropic/claude-sonnet-5-5", "-m", "anthropic/claude-opus-5"],
    `--junit=${directory.path}/report.xml`,
  ], { model: [...ALL, refused] });
  assertEquals(code, 3);
  assertStringIncludes(output, "2 of 2 runs passed");
  assertStringIncludes(messages, "The evaluation with anthropic/claude-opus-5 was ended: ");
  assertStringIncludes(directory.read("report.claude-sonnet-5-5.xml"), 'tests="2" failures="0"');
});

Deno.test("swink eval run: a sandbox that is required and incomplete ends the evaluation before its runs", async () => {
  await using directory = await createProject();
  await using sandbox = createSandbox({ cwd: directory.path });
  const { status } = await sandbox.describe();
  const { code, host } = await evaluate(directory, ["--sandbox=required"]);
  const isConfined = status === "confined";
  assertEquals([code, host.requests.length], isConfined ? [0, 4] : [3, 0]);
  assertEquals(listRuns(directory), isConfined ? [RUN_1] : []);
});

Deno.test("swink eval run: an unknown evaluator, and a judge without a model, are found before a run", async () => {
  await using directory = await createProject(
    CASES.replace("name: command", "name: comand").replace("tests", "other"),
  );
  const unknown = await evaluate(directory, [], {});
  assertEquals(unknown.code, 2);
  assertStringIncludes(unknown.messages, 'The case writes has the evaluator "comand"');
  directory.write("cases.yaml", CASES.replace("name: command", "name: safety"));
  const judged = await evaluate(directory, [], {});
  assertEquals(judged.code, 3);
  assertStringIncludes(judged.messages, "Select one with --judge provider/model");
});

Deno.test("swink eval run: --judge scores runs with a model", async () => {
  await using directory = await createProject(
    CASES.slice(0, CASES.indexOf("  - id: writes")) +
      "    evaluators: [{ name: correctness, options: { rubric: Be polite } }]\n",
  );
  const verdict = { blocks: ['{"score": 0.9, "reason": "Polite"}'], inputTokens: 50 };
  const { code, output, messages } = await evaluate(
    directory,
    ["--judge=anthropic/claude-opus-5"],
    { model: [READ, GREET, verdict] },
  );
  assertEquals(code, 0);
  assertStringIncludes(output, "score 0.97");
  // Both with the cost of the judge.
  const readCost = (text: string) => text.match(/\$[\d.]+/)?.[0] ?? "none";
  assertEquals(readCost(messages), readCost(output));

  // The model must not fail because of the key of its judge.
  const refused = {
    status: 401,
    body: '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
  };
  const model = [READ, GREET, refused];
  const rejected = await evaluate(directory, ["--judge=anthropic/claude-opus-5"], { model });
  assertEquals([rejected.code, rejected.host.requests.length], [3, 3]);
  assertStringIncludes(rejected.messages, "invalid x-api-key");
  assertEquals(listRuns(directory), [RUN_1]);
});

Deno.test("swink eval run: --chaos reports the seeds that a case passes", async () => {
  await using directory = await createProject();
  const { code, output } = await evaluate(directory, ["--chaos=1-2,1", "--filter=greets"], {
    model: [{ blocks: ["Bye"] }, { blocks: ["Bye"] }],
  });
  assertEquals(code, 1);
  assertStringIncludes(
    output,
    "greets passes 0 of 2 seeds (95 %: 0.00 to 0.66); repeat the failures with --chaos 1,2 --filter greets\n",
  );
  for (const seeds of ["x", "5-1", "1-2000", "-1", ""]) {
    const invalid = await evaluate(directory, [`--chaos=${seeds}`]);
    assertEquals([invalid.code, seeds], [2, seeds]);
  }
});

Deno.test("swink eval run: an interrupted evaluation is resumed with the missing runs", async () => {
  await using directory = await createProject();
  const host = createFakeHost({
    env: { ANTHROPIC_API_KEY: "sk-ant-test", HOME: directory.path, NO_COLOR: "1" },
    model: ALL,
  });
  host.onMessage((text) => {
    if (text.includes("passed  greets")) host.sendSignal("SIGINT");
  });
  const set = `${directory.path}/cases.yaml`;
  const results = `--results=${directory.path}/results`;
  const options = ["--parallel=1", "--repeat=1", "--effort=high", "--max-turns=7", results];
  const code = await main(["eval", "run", set, ...options], host);
  assertEquals(code, 130);
  const path = `${directory.path}/results/${RUN_1}`;
  // The missing runs need the limits of the others; the results have the selection of cases and models.
  assertStringIncludes(
    host.messages,
    `continue with: swink eval run "${set}" --parallel=1 --max-turns=7 --resume="${path}"\n`,
  );
  assertEquals((await withResults(directory, "gate", RUN_1)).code, 1);

  {
    using _lock = lockFile(`${path}/writer.lock`);
    const second = await run(directory, ["run", set, `--resume=${path}`], {});
    assertEquals([second.code, second.host.requests.length], [2, 0]);
    assertStringIncludes(second.messages, "is being written by another process");
  }
  const resumed = await run(directory, ["run", set, `--resume=${path}`], { model: [WRITE, DONE] });
  assertEquals(resumed.code, 0);
  assertStringIncludes(resumed.output, "2 of 2 runs passed");
  assertEquals(listRuns(directory), [RUN_1]);
  const efforts = [...host.requests, ...resumed.host.requests]
    .map(({ body }) => /"effort":"(\w+)"|"thinking":\{[^}]*\}/.exec(body)?.[0]);
  assertEquals([...new Set(efforts)].length, 1);
  assert(efforts[0] !== undefined, host.requests[0]?.body);
  directory.write("cases.yaml", CASES.replace("Hello Ada", "Hello Bob"));
  const changed = await evaluate(directory, [`--resume=${RUN_1}`], {});
  assertEquals(changed.code, 2);
  assertStringIncludes(changed.messages, "has changed: start another evaluation");
});

Deno.test("swink eval run: an interruption between two models is no success", async () => {
  await using directory = await createProject();
  const host = createFakeHost({
    env: { ANTHROPIC_API_KEY: "sk-ant-test", HOME: directory.path, NO_COLOR: "1" },
    model: ALL,
  });
  host.onMessage((text) => {
    if (text.includes("passed  writes")) host.sendSignal("SIGTERM");
  });
  const models = ["claude-sonnet-5-5", "claude-opus-5"].map((id) => `--model=anthropic/${id}`);
  const set = `${directory.path}/cases.yaml`;
  const options = ["--parallel=1", `--results=${directory.path}/results`, ...models];
  assertEquals(await main(["eval", "run", set, ...options], host), 143);
  assertEquals(listRuns(directory), [RUN_1]);
  assertEquals((await withResults(directory, "gate", RUN_1)).code, 0);
});

Deno.test("swink eval run: on a terminal a live block shows the running cases", async () => {
  await using directory = await createProject();
  const { messages, output } = await evaluate(directory, [], {
    model: ALL,
    terminals: ["output", "messages"],
    columns: 50,
  });
  assertStringIncludes(messages, "░".repeat(24) + "  0 of 2 · 0 passed");
  assertStringIncludes(messages, "█".repeat(12) + "░".repeat(12) + "  1 of 2");
  assertStringIncludes(messages, "\r\u001b[J");
  // The block has the cases that run, and none that has finished.
  const running = messages.split("\r\u001b[J").flatMap((block) =>
    block.includes("1 of 2 ·") ? [block.split("1 of 2 ·")[1] ?? ""] : []
  );
  assert(running.some((block) => block.includes("\n  writes  ")));
  assert(running.every((block) => !block.includes("\n  greets  ")));
  // A line of 50 columns, with the sequences that erase the block before it and move to its start.
  for (const line of messages.split("\n")) assert(line.length < 120, line);
  assertStringIncludes(output, "2 of 2 runs passed");
});

Deno.test("swink eval run: invalid sets and options are usage errors", async () => {
  await using directory = await createProject(CASES.replace("userMessages", "userMessage"));
  const invalid = await evaluate(directory);
  assertEquals(invalid.code, 2);
  assertStringIncludes(invalid.messages, "cases.yaml:6: cases[0].userMessage");
  const missing = await run(directory, ["run", `${directory.path}/none.yaml`]);
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.messages, 'The evaluation set "DIR/none.yaml" does not exist');
  for (
    const option of ["--parallel=0", "--timeout=x", "--html=/none/a.html", "-mx", "--judge=x"]
  ) {
    assertEquals([option, (await evaluate(directory, [option])).code], [option, 2]);
  }
});

Deno.test("swink eval patch: writes the patch of each task as a prediction, and grades it", async () => {
  await using directory = await createTemporaryDirectory({ "project/greeting.txt": "Bye\n" });
  const project = `${directory.path}/project`;
  const git = async (...args: string[]) => {
    const command = new Deno.Command("git", {
      args: ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...args],
      cwd: project,
    });
    assert((await command.output()).success);
  };
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", ".");
  await git("commit", "--quiet", "--message=Base");
  const task = {
    instance_id: "project-1",
    repository: "project",
    base_commit: "main",
    problem_statement: "The greeting is wrong.",
    test_command: "grep -q Hello greeting.txt",
  };
  directory.write("tasks.jsonl", `${JSON.stringify(task)}\n`);
  const patch = (...args: string[]) =>
    run(directory, [
      "patch",
      `${directory.path}/tasks.jsonl`,
      `--predictions=${directory.path}/predictions.jsonl`,
      `--results=${directory.path}/results`,
      ...args,
    ], { model: [WRITE, DONE] });
  const { code, output } = await patch();
  assertStringIncludes(output, "✓  project-1  1 of 1  1.00");
  assertEquals(code, 0);
  // A harness reads one prediction of each task: those of another model would be mixed with them.
  const other = await patch("-m", "anthropic/claude-opus-5");
  assertEquals([other.code, other.messages], [
    2,
    'swink: "DIR/predictions.jsonl" has predictions of "swink anthropic/claude-sonnet-5-5": name another file for those of "swink anthropic/claude-opus-5"\n',
  ]);
  assertEquals(listRuns(directory).length, 1);
  const ungraded = await patch("--no-grade");
  assertEquals(ungraded.code, 0);
  // Compared with a graded patch, it is missing, and not as good.
  const [graded = "", last = ""] = listRuns(directory);
  const changes = await run(directory, [
    ...["compare", graded, last, `--results=${directory.path}/results`],
  ]);
  assertEquals(changes.code, 1);
  assertStringIncludes(changes.output, "removed  project-1  patch");
  const predictions = directory.read("predictions.jsonl").trim().split("\n")
    .map((line) => JSON.parse(line));
  assertEquals(predictions.map(({ model_name_or_path }) => model_name_or_path), [
    "swink anthropic/claude-sonnet-5-5",
  ]);
  assertStringIncludes(predictions[0].model_patch, "-Bye\n+Hello\n");
  assertEquals(directory.read("project/greeting.txt"), "Bye\n");
  directory.write("tasks.jsonl", "{}\n");
  const invalid = await patch();
  assertEquals(invalid.code, 2);
  assertStringIncludes(invalid.messages, "tasks.jsonl:1: instance_id is required");
});

Deno.test("swink eval run: a judge of the provider of the model has its base URL", async () => {
  const cases = `id: judged
cases:
  - id: greets
    userMessages: [Greet me]
    evaluators: [{ name: correctness }]
`;
  await using directory = await createProject(cases);
  const verdict = { blocks: ['{"score":1,"reason":"good"}'], ...TOKENS };
  const models = ["-m=anthropic/claude-sonnet-5-5", "--judge=anthropic/claude-haiku-4-5"];
  const args = [...models, "--base-url=http://127.0.0.1:9/own"];
  const { code, host } = await evaluate(directory, args, { model: [GREET, verdict] });
  assertEquals(code, 0);
  assertEquals(host.requests.map(({ url }) => url.startsWith("http://127.0.0.1:9/own")), [
    true,
    true,
  ]);
});

Deno.test("swink eval run --replay: a damaged list of runs is a usage error, and leaves no evaluation", async () => {
  await using directory = await createProject();
  await evaluate(directory, [`--record=${directory.path}/recording`]);
  const list = "recording/anthropic%2Fclaude-sonnet-5-5/runs.jsonl";
  directory.write(list, `${directory.read(list)}{}\n`);
  const before = listRuns(directory);
  const { code, messages } = await evaluate(directory, [`--replay=${directory.path}/recording`]);
  assertEquals(code, 2);
  assertStringIncludes(messages, "runs.jsonl:3: record the set again");
  assertEquals(listRuns(directory), before);
});

Deno.test("swink eval run: rejects more repetitions than a case may have", async () => {
  await using directory = await createProject();
  const { code, messages } = await evaluate(directory, ["--repeat=1001"]);
  assertEquals([code, messages], [2, "swink: Option --repeat must be at most 1000, not 1001\n"]);
});

Deno.test("swink eval run: finds a misspelled option of an evaluator before the first run", async () => {
  const cases = CASES.replace("options: { command: grep", "options: { timeout: 5, command: grep");
  await using directory = await createProject(cases);
  const { code, messages, host } = await evaluate(directory);
  assertEquals([code, host.requests.length], [2, 0]);
  assertStringIncludes(messages, 'Unknown option "timeout" of the evaluator "command"');
});

Deno.test("swink eval init: writes a set that passes from its recording", async () => {
  await using directory = await createTemporaryDirectory();
  const path = `${directory.path}/evals`;
  const created = await run(directory, ["init", path]);
  assertEquals(created.code, 0);
  assertStringIncludes(
    created.output,
    "swink eval run DIR/evals/cases.yaml --replay DIR/evals/recording",
  );
  const replayed = await run(directory, [
    "run",
    `${path}/cases.yaml`,
    `--replay=${path}/recording`,
    `--results=${directory.path}/results`,
  ], { env: { HOME: directory.path, PATH: Deno.env.get("PATH") ?? "", NO_COLOR: "1" } });
  assertStringIncludes(replayed.output, "3 of 3 runs passed");
  assertEquals(replayed.code, 0);
  const again = await run(directory, ["init", path]);
  assertEquals(again.code, 2);
  assertStringIncludes(again.messages, "exists already");
});

Deno.test("swink eval init: the repair does not pass by skipping tests", async () => {
  await using directory = await createTemporaryDirectory();
  const path = `${directory.path}/evals`;
  await run(directory, ["init", path]);
  const edits = ["three of a kind", "shipping is free"].map((title) => ({
    old_string: `test("${title}`,
    new_string: `test.skip("${title}`,
  }));
  const input = { path: "cart_test.mjs", edits };
  const read = { tool: "read_file", input: { path: "cart_test.mjs" } };
  const { output } = await run(directory, [
    "run",
    `${path}/cases.yaml`,
    "-manthropic/claude-sonnet-5-5",
    "--filter=repairs_the_code",
    `--results=${directory.path}/results`,
  ], {
    model: [{ blocks: [read], ...TOKENS }, {
      blocks: [{ tool: "edit_file", input }],
      ...TOKENS,
    }, DONE],
  });
  assertEquals(output.split("\n").filter((line) => line.startsWith("✗ repairs")), [
    "✗ repairs_the_code: files: cart_test.mjs has another content",
  ]);
});
