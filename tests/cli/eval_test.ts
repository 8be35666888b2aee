/**
 * `swink eval`.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import type { ScriptedReply } from "../../cli/demo/anthropic_frames.ts";
import { createFakeHost, type FakeHost, type FakeHostOptions } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const CASES = `id: greetings
cases:
  - id: greets
    tags: [short]
    fixture: project
    userMessages: [Greet the user in name.txt]
    expectedTrajectory:
      match: exact
      calls: [{ tool: read_file, arguments: { path: name.txt } }]
    expectedResponse: { type: contains, text: Hello Ada }
  - id: writes
    tags: [long]
    userMessages: [Write a greeting]
    expectedFiles: [{ type: contains, path: greeting.txt, text: Hello }]
    evaluators:
      - { name: command, metric: tests, options: { command: grep -q Hello greeting.txt } }
`;

const TOKENS = { inputTokens: 100, outputTokens: 10 };

const READ: ScriptedReply = {
  blocks: [{ tool: "read_file", input: { path: "name.txt" } }],
  ...TOKENS,
};
const GREET: ScriptedReply = { blocks: ["Hello Ada"], ...TOKENS };
const WRITE: ScriptedReply = {
  blocks: [{ tool: "write_file", input: { path: "greeting.txt", content: "Hello\n" } }],
  ...TOKENS,
};
const DONE: ScriptedReply = { blocks: ["Done"], ...TOKENS };

/** The replies with which both cases pass, one after the other. */
const ALL: readonly ScriptedReply[] = [READ, GREET, WRITE, DONE];

/** Creates a directory with a set and its fixture. */
function createProject(cases = CASES): Promise<TemporaryDirectory> {
  return createTemporaryDirectory({ "cases.yaml": cases, "project/name.txt": "Ada\n" });
}

interface Ran {
  readonly code: number;
  readonly output: string;
  readonly messages: string;
  readonly host: FakeHost;
}

/** Runs `swink eval` with the results in the directory, and hides its path and times. */
async function run(
  directory: TemporaryDirectory,
  args: readonly string[],
  options: FakeHostOptions = {},
): Promise<Ran> {
  const env = {
    ANTHROPIC_API_KEY: "sk-ant-test",
    HOME: directory.path,
    PATH: Deno.env.get("PATH") ?? "",
    NO_COLOR: "1",
  };
  const host = createFakeHost({ env, ...options });
  const code = await main(["eval", ...args], host);
  const hide = (text: string) =>
    text.replaceAll(directory.path, "DIR").replaceAll(/\d+\.\d s\b/g, "0.0 s");
  return { code, output: hide(host.output), messages: hide(host.messages), host };
}

function evaluate(
  directory: TemporaryDirectory,
  args: readonly string[] = [],
  options: FakeHostOptions = { model: ALL },
): Promise<Ran> {
  return run(directory, [
    "run",
    `${directory.path}/cases.yaml`,
    "--parallel=1",
    `--results=${directory.path}/results`,
    ...args,
  ], options);
}

const withResults = (directory: TemporaryDirectory, ...args: string[]) =>
  run(directory, [...args, `--results=${directory.path}/results`]);

function listRuns(directory: TemporaryDirectory): string[] {
  return Array.from(Deno.readDirSync(`${directory.path}/results`))
    .filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort();
}

const RUN_1 = "20260102-000000-greetings-claude-sonnet-5-5";

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
    assertStringIncludes(output, "✓  greets  2 of 2");
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
  assertStringIncludes(directory.read("report.claude-sonnet-5-5.xml"), 'failures="0"');
  assertStringIncludes(directory.read("report.claude-opus-5.xml"), 'failures="1"');
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
  assertEquals(listRuns(directory), []);
  const none = await evaluate(directory, ["-m", "anthropik/model"]);
  assertEquals(none.code, 3);
  assertStringIncludes(none.messages, 'Unknown provider "anthropik"');
});

Deno.test("swink eval run: an unknown evaluator, and a judge without a model, are found before a run", async () => {
  await using directory = await createProject(
    CASES.replace("name: command", "name: comand").replace("tests", "other"),
  );
  const unknown = await evaluate(directory, [], {});
  assertEquals(unknown.code, 3);
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
  const { code, output } = await evaluate(
    directory,
    ["--judge=anthropic/claude-opus-5"],
    { model: [READ, GREET, verdict] },
  );
  assertEquals(code, 0);
  assertStringIncludes(output, "score 0.97");
});

Deno.test("swink eval run: --chaos reports the seeds that a case passes", async () => {
  await using directory = await createProject();
  const { code, output } = await evaluate(directory, ["--chaos=1,2", "--filter=greets"], {
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
  const code = await main(["eval", "run", set, "--parallel=1", "--repeat=1", results], host);
  assertEquals(code, 130);
  assertStringIncludes(host.messages, `continue with: swink eval run ${set} --resume ${RUN_1}`);
  assertEquals((await withResults(directory, "gate", RUN_1)).code, 1);

  const resumed = await evaluate(directory, [`--resume=${RUN_1}`], { model: [WRITE, DONE] });
  assertEquals(resumed.code, 0);
  assertStringIncludes(resumed.output, "2 of 2 runs passed");
  assertEquals(listRuns(directory), [RUN_1]);
  directory.write("cases.yaml", CASES.replace("Hello Ada", "Hello Bob"));
  const changed = await evaluate(directory, [`--resume=${RUN_1}`], {});
  assertEquals(changed.code, 2);
  assertStringIncludes(changed.messages, "has changed: start another evaluation");
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
  await patch("--no-grade", "-m", "anthropic/claude-opus-5");
  const predictions = directory.read("predictions.jsonl").trim().split("\n")
    .map((line) => JSON.parse(line));
  assertEquals(predictions.map(({ model_name_or_path }) => model_name_or_path), [
    "swink anthropic/claude-sonnet-5-5",
    "swink anthropic/claude-opus-5",
  ]);
  assertStringIncludes(predictions[0].model_patch, "-Bye\n+Hello\n");
  assertEquals(directory.read("project/greeting.txt"), "Bye\n");
  directory.write("tasks.jsonl", "{}\n");
  const invalid = await patch();
  assertEquals(invalid.code, 2);
  assertStringIncludes(invalid.messages, "tasks.jsonl:1: instance_id is required");
});

Deno.test("swink eval gate: passes and fails by limits, with a code for each decision", async () => {
  await using directory = await createProject();
  await evaluate(directory);
  const gate = async (...args: string[]) => {
    const { code, output } = await withResults(directory, "gate", ...args);
    return [code, output.replaceAll(RUN_1, "RUN")];
  };
  assertEquals(await gate("latest"), [0, "RUN passes\n"]);
  assertEquals(await gate(RUN_1.slice(0, 8), "--max-cost=0.0001"), [
    1,
    "RUN fails\n  The cost of $0.0012 exceeds $0.0001\n",
  ]);
  assertEquals(await gate(`${directory.path}/results/${RUN_1}`, "--min-pass-rate=90"), [
    3,
    "RUN was not checked: a limit or the baseline is invalid\n  minPassRate must be from 0 to 1, not 90\n",
  ]);
  const json = await withResults(directory, "gate", "latest", "-ojson");
  assertEquals(JSON.parse(json.output), { run: RUN_1, type: "pass", reasons: [] });
  const none = await withResults(directory, "gate", "other");
  assertEquals([none.code, none.messages], [
    2,
    'swink: There is no evaluation "other" in DIR/results\nList the evaluations with: swink eval list\n',
  ]);
});

Deno.test("swink eval compare: fails for a regression, which the gate finds, too", async () => {
  await using directory = await createProject();
  await evaluate(directory);
  await evaluate(directory, [], { model: [READ, { blocks: ["Bye"] }, WRITE, DONE] });
  const second = `${RUN_1}-2`;
  const { code, output } = await withResults(directory, "compare", RUN_1, second);
  assertEquals(code, 1);
  assertEquals(
    output,
    `regressed  greets  response  1.00 → 0.00

1 regressed · 0 fixed · 5 same · 0 added · 0 removed
`,
  );
  const back = await withResults(directory, "compare", second, RUN_1, "-ojson");
  assertEquals(back.code, 0);
  assertEquals(
    JSON.parse(back.output).filter(({ change }: { change: string }) => change === "fixed").length,
    1,
  );
  const gated = await withResults(directory, "gate", second, `--baseline=${RUN_1}`);
  assertEquals([gated.code, gated.output], [1, `${second} fails\n  greets: response regressed\n`]);
});

Deno.test("swink eval gate: decides nothing about results that have changed, or with a baseline that shows nothing", async () => {
  await using directory = await createProject();
  await evaluate(directory);
  await evaluate(directory, [], { model: [READ, { blocks: ["Bye"] }, WRITE, DONE] });
  const second = `${RUN_1}-2`;
  const gate = async (...args: string[]) => {
    const { code, output } = await withResults(directory, "gate", ...args);
    return [code, output.trimEnd().split("\n").at(-1)];
  };
  const itself = "  The baseline is the evaluation itself: name another one";
  assertEquals(await gate(second, `--baseline=${second}`), [3, itself]);
  assertEquals(await gate("latest", "--baseline=latest"), [3, itself]);

  // Without the case that failed.
  const header = JSON.parse(directory.read(`results/${second}/run.json`));
  header.set.cases.shift();
  directory.write(`results/${second}/run.json`, JSON.stringify(header));
  const changed = "The hash is not that of the header and the results";
  assertEquals(await gate(second), [1, `  ${changed}`]);
  assertEquals(await gate(RUN_1, `--baseline=${second}`), [
    3,
    `  The baseline cannot be used: ${changed}`,
  ]);

  directory.write(`results/${second}/results.jsonl`, "");
  const missing = `1 of 1 runs of ${second} have no result`;
  assertEquals(await gate(RUN_1, `--baseline=${second}`), [
    3,
    `  The baseline cannot be used: ${missing}`,
  ]);
  const compared = await withResults(directory, "compare", RUN_1, second);
  assertEquals([compared.code, compared.messages], [1, `warning: ${missing}\n`]);
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
  assertEquals([code, host.requests.length], [3, 0]);
  assertStringIncludes(messages, 'Unknown option "timeout" of the evaluator "command"');
});

Deno.test("swink eval report, list and verify: read an evaluation from disk", async () => {
  await using directory = await createProject();
  const { output: table } = await evaluate(directory);
  const report = (...args: string[]) => withResults(directory, "report", "latest", ...args);
  assertEquals((await report()).output, table);
  const files = ["html", "junit", "markdown"].map((name) => `--${name}=${directory.path}/${name}`);
  const written = await report(...files, `--baseline=${RUN_1}`);
  assertEquals([written.code, written.output], [0, ""]);
  assertStringIncludes(written.messages, "Report: DIR/html\n");
  assertStringIncludes(directory.read("html"), "<!DOCTYPE html>");
  assertStringIncludes(directory.read("junit"), 'tests="2"');
  assertStringIncludes(directory.read("markdown"), "No metric has changed.");

  const list = await withResults(directory, "list");
  assertEquals(
    list.output,
    `${RUN_1}  greetings  anthropic/claude-sonnet-5-5  2 of 2 passed  score 1.00  $0.0012\n`,
  );
  assertEquals(JSON.parse((await withResults(directory, "list", "-ojson")).output)[0].passed, 2);

  assertEquals((await withResults(directory, "verify", "latest")).code, 0);
  const results = `results/${RUN_1}/results.jsonl`;
  directory.write(results, directory.read(results).replace("Hello Ada", "Hello Bob"));
  const changed = await withResults(directory, "verify", "latest");
  assertEquals(changed.code, 1);
  assertStringIncludes(changed.output, "results.jsonl:1: the result is damaged");
  assertStringIncludes((await report()).messages, "warning: DIR/results");
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
