import {
  assertEquals,
  assertExists,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import { validateXML } from "xmllint-wasm";
import {
  formatHtmlReport,
  formatJunitReport,
  formatMarkdownReport,
  summarizeRun,
} from "../../src/eval/mod.ts";
import { startThreadTimer } from "../thread_time.ts";
import schema from "./junit.xsd" with { type: "text" };
import { createResult, createRun, HOSTILE, MIXED_RUN } from "./report_run.ts";

/** Returns the errors of a report by the schema. */
async function validate(contents: string): Promise<string[]> {
  const { errors } = await validateXML({
    xml: [{ fileName: "report.xml", contents }],
    schema: [{ fileName: "junit.xsd", contents: schema }],
  });
  return errors.map(({ rawMessage }) => rawMessage);
}

const EMPTY = { setId: "empty", results: [] };

Deno.test("summarizeRun: adds up the runs, and those of each case", () => {
  const { passed, failed, skipped, missing, cost, tokens, durationMs, score, cases } = summarizeRun(
    { ...MIXED_RUN, planned: 7 },
  );
  assertEquals([passed, failed, skipped, missing], [2, 2, 1, 2]);
  assertEquals([cost, tokens, durationMs], [0.008, 4_936, 8_500]);
  assertEquals(score, 5.25 / 7);
  assertEquals(cases.map(({ caseId, passed, failed }) => [caseId, passed, failed]), [
    ["hello", 1, 0],
    ["goodbye", 0, 1],
    ["again", 1, 1],
    ["later", 0, 0],
  ]);
  assertEquals(summarizeRun(EMPTY).score, undefined);
});

Deno.test("formatJunitReport: is valid by the schema, with hostile texts and without results", async () => {
  for (const run of [MIXED_RUN, EMPTY, createRun([createResult("a", "passed")])]) {
    assertEquals(await validate(formatJunitReport(run)), []);
  }
  assertEquals((await validate("<testsuites/>")).length > 0, true);
});

Deno.test("formatJunitReport: distinguishes failures, errors and skipped runs", () => {
  const report = formatJunitReport(MIXED_RUN);
  assertStringIncludes(
    report,
    'tests="5" failures="1" errors="1" skipped="1" time="8.500"',
  );
  assertStringIncludes(report, '<testcase classname="hello" name="hello" time="1.700"/>');
  assertStringIncludes(report, '<failure message="response: The answer does not contain');
  assertStringIncludes(report, 'name="again (2)"');
  assertStringIncludes(report, '<error message="run: The run failed: no key" type="run">');
  assertStringIncludes(report, 'timestamp="2026-08-22T10:15:00"');
});

Deno.test("formatJunitReport: runs without a result are an error, so that an interrupted evaluation does not pass", async () => {
  const interrupted = createRun([createResult("a", "passed")], { planned: 3 });
  const report = formatJunitReport(interrupted);
  assertEquals(await validate(report), []);
  assertStringIncludes(report, 'tests="2" failures="0" errors="1" skipped="0"');
  assertStringIncludes(report, '<error message="2 of 3 runs have no result" type="missing">');
});

Deno.test("formatMarkdownReport: has totals, cases, changes and failures", () => {
  const baseline = createRun([
    createResult("goodbye", "passed"),
    createResult("hello", "failed"),
  ], { id: "run-0" });
  const lines = formatMarkdownReport(MIXED_RUN, { baseline }).split("\n");
  assertEquals(lines[0], "# Evaluation of greetings");
  assertStringIncludes(lines[2] ?? "", "**2 passed, 2 failed, 1 skipped** · score 0.75");
  assertEquals(lines.includes("## Changes since run-0"), true);
  assertEquals(lines.includes("| goodbye | response | regressed | 1.00 | 0.00 | – |"), true);
  assertEquals(lines.includes("| hello | response | fixed | 0.00 | 1.00 | – |"), true);
  assertEquals(lines.includes("### again (2, seed 7)"), true);
});

Deno.test("formatMarkdownReport: repeated cases have the confidence interval of their rate", () => {
  const report = formatMarkdownReport(MIXED_RUN);
  assertStringIncludes(report, "| 1 of 2 (95 %: 9–91 %) |");
  assertStringIncludes(report, "| 1 of 1 |");
});

Deno.test("formatMarkdownReport: fits into a comment on GitHub, with the failed cases first", () => {
  const cases = Array.from({ length: 1_000 }, (_, index) => `case_${index}`);
  const create = (failed: number) =>
    createRun(cases.map((id, index) => createResult(id, index >= failed ? "failed" : "passed")));
  const report = formatMarkdownReport(create(990), { baseline: create(10) });
  assertEquals(report.length < 65_536, true, `${report.length} characters`);
  const rows = report.split("\n").filter((line) => /^\| [❌✅]/u.test(line));
  assertEquals(rows.slice(0, 11).map((row) => row[2]), [...Array(10).fill("❌"), "✅"]);
  assertStringIncludes(report, `… and ${1_000 - rows.length} more cases; the web page has all.`);
  assertMatch(report, /… and \d+ more changes; the web page has all\./);
  const { length } = report.match(/^### /gm) ?? [];
  const failures = length === 10 ? "" : `… and ${10 - (length ?? 0)} more failures`;
  assertStringIncludes(report, failures);
});

Deno.test("formatMarkdownReport: texts of models do not leave their cell or their code block", () => {
  const report = formatMarkdownReport(MIXED_RUN);
  let fence: string | undefined;
  for (const line of report.split("\n")) {
    const [, marker] = /^(`{3,})/.exec(line) ?? [];
    if (fence === undefined && marker) fence = marker;
    else if (fence !== undefined && line === fence) fence = undefined;
    if (fence !== undefined) continue;
    assertNotMatch(line, /<script|<img/);
    if (line.startsWith("|")) assertEquals(line.split(/(?<!\\)\|/).length, 8, line);
  }
  assertEquals(fence, undefined);
  assertNotMatch(report.replaceAll("\n", ""), /\p{Cc}/u);
});

Deno.test("formatHtmlReport: escapes the texts of models, and loads nothing", () => {
  const report = formatHtmlReport(MIXED_RUN, { history: [createRun([], { id: "run-0" })] });
  const forbidden = /<script|<img|<link|<iframe|javascript:|https?:\/\/|\p{Cc}|\p{Cs}/u;
  assertEquals(forbidden.exec(report.replaceAll("\n", ""))?.[0], undefined);
  assertEquals(report.includes("default-src 'none'; style-src 'unsafe-inline'"), true);
  assertEquals(report.includes("&lt;script&gt;"), true);
  assertEquals(report.includes("passed 1 of 2 (95 %: 9–91 %)"), true);
});

Deno.test("formatHtmlReport: cuts long texts", () => {
  const long = createResult("long", "passed");
  const trajectory = long.trajectory && {
    ...long.trajectory,
    calls: long.trajectory.calls.map((call) => ({ ...call, result: "x".repeat(1_000_000) })),
  };
  const report = formatHtmlReport(createRun([{ ...long, trajectory }]));
  assertStringIncludes(report, "980,000 more characters");
  assertEquals(report.length < 200_000, true);
});

Deno.test("formatHtmlReport: the texts of a run with many long calls are shorter", () => {
  const long = createResult("a", "failed");
  const [call] = long.trajectory?.calls ?? [];
  assertExists(call);
  const result = "x".repeat(30_000);
  const nested = Array.from({ length: 1_000 }, () => ({ ...call, arguments: {}, result }));
  const calls = [...nested, { ...call, result, calls: nested }];
  const trajectory = long.trajectory && { ...long.trajectory, calls };
  const report = formatHtmlReport(createRun([{ ...long, trajectory }]));
  assertEquals(report.length < 12_000_000, true, `${report.length}`);
  assertMatch(report, /25,\d\d\d more characters/);
});

Deno.test("formatHtmlReport: a page that would be too long omits runs that passed", () => {
  const createLong = (id: string, outcome: "passed" | "failed") => {
    const result = createResult(id, outcome);
    const [call] = result.trajectory?.calls ?? [];
    const calls = Array.from(
      { length: 300 },
      () => call && { ...call, result: "x".repeat(20_000) },
    );
    return {
      ...result,
      trajectory: result.trajectory && {
        ...result.trajectory,
        calls: calls.flatMap((made) => made ?? []),
      },
    };
  };
  const passed = Array.from({ length: 11 }, (_, index) => createLong(`case_${index}`, "passed"));
  const report = formatHtmlReport(createRun([...passed, createLong("last", "failed")]));
  const parts = report.split('<details class="case ').slice(1);
  const isOmitted = (part: string) => part.includes("The run is omitted");
  assertEquals(parts.map((part) => /id="case-(\w+)"/.exec(part)?.[1]), [
    ...passed.map(({ caseId }) => caseId),
    "last",
  ]);
  assertEquals(parts.map(isOmitted).lastIndexOf(false), 11);
  assertEquals(parts.map(isOmitted).indexOf(true), 8);
});

Deno.test("reports: take linear time for many calls and many cases", () => {
  const [call] = createResult("a", "passed").trajectory?.calls ?? [];
  const [reply] = createResult("a", "passed").trajectory?.replies ?? [];
  if (!call || !reply) throw new Error("The result has a call and a reply");
  const turns = Array.from({ length: 20_000 }, (_, index) => index + 1);
  const long = createResult("long", "passed");
  const trajectory = long.trajectory && {
    ...long.trajectory,
    calls: turns.map((turn) => ({ ...call, turn, arguments: {}, result: "" })),
    replies: turns.map((turn) => ({ ...reply, turn, text: "" })),
  };
  const many = turns.slice(0, 5_000).map((turn) =>
    createResult(`case_${turn}`, "failed", { trajectory: undefined })
  );
  const getThreadTime = startThreadTimer();
  formatHtmlReport(createRun([{ ...long, trajectory }]));
  const run = createRun(many);
  for (const format of [formatHtmlReport, formatJunitReport, formatMarkdownReport]) format(run);
  const elapsed = getThreadTime();
  assertEquals(elapsed < 30_000, true, `${elapsed} ms`);
});

Deno.test("formatHtmlReport: lists changes since a baseline", () => {
  const report = formatHtmlReport(MIXED_RUN, { baseline: { ...MIXED_RUN, id: "run-0" } });
  assertStringIncludes(report, "No metric has changed.");
  const fixed = createRun([createResult("goodbye", "passed")]);
  assertStringIncludes(
    formatHtmlReport(fixed, { baseline: MIXED_RUN }),
    '<td class="fixed">fixed</td>',
  );
});

Deno.test("reports: work for results that were never written to disk", async () => {
  const { setId, results } = MIXED_RUN;
  assertEquals(await validate(formatJunitReport({ setId, results })), []);
  assertStringIncludes(formatMarkdownReport({ setId, results }), "anthropic/claude-sonnet-5-5");
  assertStringIncludes(formatHtmlReport({ setId, results }), "Evaluation of greetings");
  assertEquals(HOSTILE.length > 100, true);
});

Deno.test("formatHtmlReport: the charts have the measures of the evaluation", () => {
  const passed = createRun([createResult("a", "passed")], { id: "run-2" });
  const half = createRun([createResult("a", "passed"), createResult("b", "failed")], {
    id: "run-3",
  });
  const report = formatHtmlReport(half, { history: [passed] });
  for (
    const text of [
      "Runs that passed: 50 %",
      "Mean score: 0.81",
      "Cost: $0.0040",
      "Time: 3.4 s",
      "run-2, 2026-08-22 10:15:00 UTC: 100 %",
    ]
  ) {
    assertStringIncludes(report, text);
  }
  const unknown = formatHtmlReport(createRun([], { id: "run-4" }), { history: [passed] });
  assertStringIncludes(unknown, "Mean score: unknown");
});
