/**
 * Limits the warnings about a server.
 *
 * @module
 */

import type { ReportProblem } from "./protocol/repair_message.ts";

/** Maximum number of warnings about a server. */
const MAX_REPORTS = 100;

/** Returns a function that reports each problem once, and no more than the maximum. */
export function limitReports(report: ReportProblem): ReportProblem {
  const reported = new Set<string>();
  return (problem) => {
    if (reported.size >= MAX_REPORTS || reported.has(problem)) return;
    reported.add(problem);
    report(
      reported.size < MAX_REPORTS ? problem : `${problem}; further problems are not reported`,
    );
  };
}
