/**
 * `swink eval gate`, `compare`, `report`, `list` and `verify`.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import {
  ALL,
  createProject,
  DONE,
  evaluate,
  listRuns,
  READ,
  RUN_1,
  withResults,
  WRITE,
} from "./evaluations.ts";
import { createFakeHost } from "./fake_host.ts";

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
    "RUN was not checked: a limit or the baseline is invalid\n  --min-pass-rate must be from 0 to 1, not 90\n",
  ]);
  const json = await withResults(directory, "gate", "latest", "-ojson");
  assertEquals(JSON.parse(json.output), { run: RUN_1, type: "pass", reasons: [] });
  const none = await withResults(directory, "gate", "other");
  assertEquals([none.code, none.messages], [
    2,
    'swink: There is no evaluation "other" in DIR/results\nList the evaluations with: swink eval list\n',
  ]);
});

Deno.test("swink eval run: evaluations that start at the same time have directories of their own", async () => {
  await using directory = await createProject();
  const runs = await Promise.all([evaluate(directory), evaluate(directory), evaluate(directory)]);
  assertEquals(runs.map(({ code }) => code), [0, 0, 0]);
  assertEquals(listRuns(directory), [RUN_1, `${RUN_1}-2`, `${RUN_1}-3`]);
  for (const name of listRuns(directory)) {
    assertEquals(directory.read(`results/${name}/results.jsonl`).trim().split("\n").length, 2);
    assertEquals((await withResults(directory, "verify", name)).code, 0);
  }
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

Deno.test("swink eval compare: fails if cases that passed are missing", async () => {
  await using directory = await createProject();
  await evaluate(directory);
  await evaluate(directory, ["--filter=writes"], { model: [WRITE, DONE] });
  const second = `${RUN_1}-2`;
  const { code, output } = await withResults(directory, "compare", RUN_1, second);
  assertStringIncludes(output, "removed  greets  response");
  assertEquals(code, 1);
  assertEquals((await withResults(directory, "compare", second, RUN_1)).code, 0);
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

Deno.test("swink eval gate: each of several evaluations must pass", async () => {
  await using directory = await createProject();
  await evaluate(directory);
  await evaluate(directory, [], { model: [READ, { blocks: ["Bye"] }, WRITE, DONE] });
  const second = `${RUN_1}-2`;
  const gate = (...args: string[]) => withResults(directory, "gate", ...args);
  const failed = `${second} fails\n  1 of 2 runs passed; the minimum is 100 %\n`;
  const first = await gate(second, RUN_1);
  assertEquals([first.code, first.output], [1, `${failed}${RUN_1} passes\n`]);
  const last = await gate(RUN_1, second);
  assertEquals([last.code, last.output], [1, `${RUN_1} passes\n${failed}`]);
  assertEquals((await gate(second, RUN_1, `--baseline=${RUN_1}`)).code, 3);
  const json = await gate(second, RUN_1, "-ojson");
  const decisions = json.output.trim().split("\n").map((line) => JSON.parse(line).type);
  assertEquals([json.code, decisions], [1, ["fail", "pass"]]);
  assertEquals((await gate()).code, 2);
});

Deno.test("swink eval gate: latest is no earlier evaluation if the last one cannot be read", async () => {
  await using directory = await createProject();
  await evaluate(directory);
  await evaluate(directory);
  const file = `results/${RUN_1}-2/run.json`;
  const header = JSON.parse(directory.read(file));
  for (const text of ["", '{"version":1', JSON.stringify({ ...header, version: 2 })]) {
    directory.write(file, text);
    const { code, output, messages } = await withResults(directory, "gate", "latest");
    assertEquals([code, output], [2, ""]);
    assertStringIncludes(messages, `is unknown, since ${RUN_1}-2 cannot be read`);
    assertEquals((await withResults(directory, "gate", RUN_1)).code, 0);
  }
  await Deno.remove(`${directory.path}/${file}`);
  assertEquals((await withResults(directory, "gate", "latest")).code, 0);
});

Deno.test("swink eval gate: latest is no evaluation that starts in the future, as after the clock was set back", async () => {
  await using directory = await createProject();
  await evaluate(directory, [], { model: ALL, now: () => Date.UTC(2026, 0, 3) });
  await evaluate(directory, [], { model: [READ, { blocks: ["Bye"] }, WRITE, DONE] });
  const { code, messages } = await withResults(directory, "gate", "latest");
  assertEquals(code, 2);
  assertStringIncludes(messages, "is unknown, since the start of 20260103-000000-greetings");
  assertEquals((await withResults(directory, "gate", RUN_1)).code, 1);
});

Deno.test("swink eval gate: a copy of an evaluation is no baseline of it, and another one with its name is", async () => {
  await using directory = await createProject();
  await evaluate(directory, [], { model: [READ, { blocks: ["Bye"] }, WRITE, DONE] });
  const path = `${directory.path}/results/${RUN_1}`;
  const copy = `${directory.path}/copy`;
  await Deno.mkdir(copy);
  for (const name of ["run.json", "results.jsonl", "audit.json"]) {
    await Deno.copyFile(`${path}/${name}`, `${copy}/${name}`);
  }
  const copied = await withResults(directory, "gate", RUN_1, `--baseline=${copy}`);
  assertEquals(copied.code, 3);
  assertStringIncludes(copied.output, "The baseline is the evaluation itself");
  // The results of a release and of a branch can be in two directories.
  const other = `--results=${directory.path}/other`;
  await evaluate(directory, [other]);
  const baseline = `--baseline=${directory.path}/other/${RUN_1}`;
  const { code, output } = await withResults(directory, "gate", RUN_1, baseline);
  assertEquals([code, output], [1, `${RUN_1} fails\n  greets: response regressed\n`]);
});

Deno.test("swink eval gate: warns of cases that have other expectations than in the baseline", async () => {
  await using directory = await createProject();
  await evaluate(directory);
  const cases = directory.read("cases.yaml");
  directory.write("cases.yaml", cases.replace("tags: [short]", "tags: [tiny]"));
  await evaluate(directory);
  directory.write("cases.yaml", cases.replace("text: Hello Ada", "text: Hello"));
  await evaluate(directory);
  const gate = async (name: string) =>
    (await withResults(directory, "gate", name, `--baseline=${RUN_1}`)).messages;
  const warning =
    `warning: ${RUN_1}-3 has other definitions or fixtures of cases than ${RUN_1}: greets\n`;
  assertEquals([await gate(`${RUN_1}-2`), await gate(`${RUN_1}-3`)], ["", warning]);
  const compared = await withResults(directory, "compare", RUN_1, `${RUN_1}-3`);
  assertEquals([compared.code, compared.messages], [0, warning]);
  directory.write("cases.yaml", cases);
  directory.write("project/tests.txt", "");
  await evaluate(directory);
  assertEquals(
    await gate(`${RUN_1}-4`),
    `warning: ${RUN_1}-4 has other definitions or fixtures of cases than ${RUN_1}: greets\n`,
  );
});

Deno.test("swink eval compare: warns of evaluations of different sets", async () => {
  await using directory = await createProject();
  await evaluate(directory, [], { model: [READ, { blocks: ["Bye"] }, WRITE, DONE] });
  const id = RUN_1.replace("greetings", "others");
  const cases = directory.read("cases.yaml").replace("id: greetings", "id: others");
  directory.write("cases.yaml", cases);
  await evaluate(directory);
  const { messages } = await withResults(directory, "compare", RUN_1, id);
  const warning = `${id} has results of the set "others", and ${RUN_1} of "greetings"`;
  assertEquals(messages, `warning: ${warning}\n`);
});

Deno.test("swink eval gate: warns of faults that the baseline does not have", async () => {
  await using directory = await createProject();
  await evaluate(directory);
  for (const seeds of ["1-2", "1,2", "2,3"]) {
    const model = [...ALL, ...ALL, ...ALL, ...ALL];
    await evaluate(directory, [`--chaos=${seeds}`], { model });
  }
  const warn = async (...args: string[]) => (await withResults(directory, ...args)).messages;
  const [none, faults, same, others] = [RUN_1, `${RUN_1}-2`, `${RUN_1}-3`, `${RUN_1}-4`];
  assertEquals(
    await warn("gate", none, `--baseline=${faults}`),
    `warning: ${faults} has faults, and ${none} has none\n`,
  );
  assertEquals(await warn("compare", faults, same), "");
  assertEquals(
    await warn("compare", none, faults),
    `warning: ${faults} has faults, and ${none} has none\n`,
  );
  assertEquals(
    await warn("compare", faults, others),
    `warning: ${others} has the faults of other seeds than ${faults}\n`,
  );
});

Deno.test("swink eval: an output that cannot be written is no success", async () => {
  await using directory = await createProject();
  await evaluate(directory);
  await evaluate(directory);
  const results = `--results=${directory.path}/results`;
  const runs = [RUN_1, `${RUN_1}-2`];
  for (
    const args of [
      ["compare", ...runs],
      ["compare", ...runs, "-ojson"],
      ["gate", RUN_1],
      ["gate", RUN_1, "-ojson"],
      ["report", RUN_1],
      ["list"],
      ["list", "-ojson"],
      ["verify", RUN_1],
    ]
  ) {
    const host = createFakeHost({ env: { HOME: directory.path, NO_COLOR: "1" } });
    const write = () => Promise.reject(new Deno.errors.WriteZero("disk is full"));
    const terminal = { ...host.terminal, output: { ...host.terminal.output, write } };
    assertEquals(await main(["eval", ...args, results], { ...host, terminal }), 1, args.join(" "));
    assertStringIncludes(host.messages, "disk is full");
  }
});

Deno.test("swink eval list --html: an evaluation that cannot be read does not hide the others", async () => {
  await using directory = await createProject();
  await evaluate(directory);
  await evaluate(directory);
  const file = `${directory.path}/results/${RUN_1}/results.jsonl`;
  await Deno.remove(file);
  await Deno.mkdir(file);
  const { code, output, messages } = await withResults(directory, "list");
  assertEquals([code, output.trimEnd().split("\n").length], [0, 1]);
  assertStringIncludes(output, `${RUN_1}-2`);
  assertStringIncludes(messages, `warning: ${RUN_1}: `);
  assertEquals((await evaluate(directory, [`--html=${directory.path}/report.html`])).code, 0);
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
  // Also evaluations that started at the same time are charted.
  await evaluate(directory, [`--html=${directory.path}/second.html`]);
  assertStringIncludes(directory.read("second.html"), "Over 2 evaluations");
  await Deno.remove(`${directory.path}/results/${RUN_1}-2`, { recursive: true });
  for (const option of ["--effort=high", "--chaos=1"]) {
    await evaluate(directory, [`--html=${directory.path}/other.html`, option]);
    const page = directory.read("other.html");
    assertEquals(page.includes("Over "), false, option);
    const [name = ""] = listRuns(directory).filter((run) => run !== RUN_1);
    await Deno.remove(`${directory.path}/results/${name}`, { recursive: true });
  }
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
