/**
 * Reports for servers of continuous integration: JUnit XML.
 *
 * @module
 */

import type { EvalCase } from "../case/eval_case.ts";
import type { CaseResult } from "../run/case_result.ts";
import { describeFailures, indexCases, listModels, type ReportRun } from "./report_run.ts";
import { type CaseTotals, summarizeRun } from "./summarize_run.ts";

/** The metric of the run itself: its failure is an error, not a difference from an expectation. */
const RUN_METRIC = "run";

/**
 * Formats an evaluation as JUnit XML, valid by the schemas of Ant and of Jenkins: one test case for each run. A run that
 * did not end with an answer is an error, one that does not meet an expectation a failure. Runs without a result are one
 * error.
 *
 * @example
 * ```ts
 * import { formatJunitReport } from "@swink/agent/eval";
 *
 * formatJunitReport({ setId: "greetings", results: [] }); // "<?xml version=…"
 * ```
 */
export function formatJunitReport(run: ReportRun): string {
  const { setId, results, startedAt = 0 } = run;
  const errors = results.filter(hasError).length;
  const { failed, skipped, missing, durationMs, cases } = summarizeRun(run);
  const missingCases = missing > 0 ? [formatMissing(run, missing)] : [];
  const known = indexCases(run);
  const attributes = formatAttributes({
    id: "0",
    name: setId,
    package: setId,
    timestamp: new Date(startedAt).toISOString().slice(0, 19),
    hostname: "localhost",
    tests: `${results.length + missingCases.length}`,
    failures: `${failed - errors}`,
    errors: `${errors + missingCases.length}`,
    skipped: `${skipped}`,
    time: formatSeconds(durationMs),
  });
  const properties = { model: listModels(run).join(", "), run: run.id ?? "" };
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    `  <testsuite${attributes}>`,
    "    <properties>",
    ...Object.entries(properties).filter(([, value]) => value !== "")
      .map(([name, value]) => `      <property${formatAttributes({ name, value })}/>`),
    "    </properties>",
    ...cases.flatMap((totals) => formatCase(totals, known.get(totals.caseId))),
    ...missingCases,
    "    <system-out></system-out>",
    "    <system-err></system-err>",
    "  </testsuite>",
    "</testsuites>",
  ];
  return `${lines.join("\n")}\n`;
}

/** Formats the runs without a result as one test case, since a report of an interrupted evaluation must not pass. */
function formatMissing({ setId, planned = 0 }: ReportRun, missing: number): string {
  const attributes = formatAttributes({ classname: setId, name: "missing results", time: "0.000" });
  const message = `${missing} of ${planned} runs have no result`;
  const error = `<error${formatAttributes({ message, type: "missing" })}></error>`;
  return `    <testcase${attributes}>\n      ${error}\n    </testcase>`;
}

/** Formats the repetitions of a case. */
function formatCase({ results }: CaseTotals, evalCase: EvalCase | undefined): string[] {
  return results.map((result) => {
    const { caseId, repetition, durationMs } = result;
    const attributes = formatAttributes({
      classname: caseId,
      name: results.length > 1 ? `${caseId} (${repetition})` : caseId,
      time: formatSeconds(durationMs),
    });
    const content = formatOutcome(result, evalCase?.description);
    return content === ""
      ? `    <testcase${attributes}/>`
      : `    <testcase${attributes}>\n${content}\n    </testcase>`;
  });
}

function formatOutcome(result: CaseResult, description: string | undefined): string {
  switch (result.outcome) {
    case "passed":
      return "";
    case "skipped":
      return "      <skipped/>";
    case "failed": {
      const [message = "The run failed", ...others] = describeFailures(result);
      const metrics = result.scores.filter(({ passed }) => !passed).map(({ metric }) => metric);
      const attributes = formatAttributes({ message, type: metrics.join(" ") || RUN_METRIC });
      const details = [
        ...(description === undefined ? [] : [description]),
        message,
        ...others,
        `Answer: ${result.trajectory?.response ?? ""}`,
      ];
      const element = hasError(result) ? "error" : "failure";
      return `      <${element}${attributes}>${escapeXml(details.join("\n"))}</${element}>`;
    }
  }
}

function hasError({ outcome, scores }: CaseResult): boolean {
  return outcome === "failed" &&
    scores.some(({ metric, passed }) => metric === RUN_METRIC && !passed);
}

function formatAttributes(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
    .join("");
}

function formatSeconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
  "\r": "&#13;",
  "\t": "&#9;",
};

/** Escapes a text for XML 1.0, and replaces the characters that it cannot contain. */
function escapeXml(text: string): string {
  return text.toWellFormed()
    .replaceAll(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu, "\ufffd")
    .replaceAll(/[&<>"\n\r\t]/g, (character) => ENTITIES[character] ?? character);
}
