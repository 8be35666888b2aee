/**
 * Checks the options of a compaction of untyped callers.
 *
 * @module
 */

import { checkNumber } from "../../core/check_number.ts";
import { checkObject } from "../../core/check_object.ts";
import type { JsonObject } from "../../core/json.ts";

const NUMBERS = [
  "threshold",
  "target",
  "overflowTarget",
  "anchor",
  "keepSteps",
  "maxSummaryTokens",
];

/**
 * Checks the numbers of `slidingWindow()` or `summarize()`.
 *
 * @throws {BadRequestError} If one is not a number of at least 0.
 */
export function checkCompaction(options: object): void {
  checkObject(options, "Pass options such as { contextWindow: 200_000 }");
  const { contextWindow, ...others } = options as JsonObject;
  if (typeof contextWindow !== "function") checkNumber("contextWindow", contextWindow);
  for (const name of NUMBERS) checkNumber(name, others[name]);
}
