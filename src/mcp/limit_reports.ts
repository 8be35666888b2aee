/**
 * Limits the warnings about a server.
 *
 * @module
 */

import type { ReportProblem } from "./protocol/repair_message.ts";

/** Maximum number of warnings about a server. */
const MAX_REPORTS = 100;

/** Maximum number of characters of a warning. */
const MAX_LENGTH = 1_000;

/** Returns a function that reports each problem once, cut to the maximum length, and no more than the maximum number. */
export function limitReports(report: ReportProblem): ReportProblem {
  const reported = new Set<string>();
  return (text) => {
    const problem = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
    if (reported.size >= MAX_REPORTS || reported.has(problem)) return;
    reported.add(problem);
    report(
      reported.size < MAX_REPORTS ? problem : `${problem}; further problems are not reported`,
    );
  };
}
