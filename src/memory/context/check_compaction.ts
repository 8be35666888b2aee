/**
 * Checks the options of a compaction of untyped callers.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { checkNumber } from "../../core/checks/check_number.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { refusePromise } from "../../core/errors/refuse_promise.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { CompactionOptions } from "./compaction.ts";

/** The names of the options of `slidingWindow()`. With a misspelt one, the window would be unknown. */
export const COMPACTION_OPTIONS: Readonly<Record<keyof CompactionOptions, true>> = {
  contextWindow: true,
  threshold: true,
  target: true,
  overflowTarget: true,
  anchor: true,
  keepSteps: true,
  pin: true,
  countTokens: true,
};

const NUMBERS = [
  "threshold",
  "target",
  "overflowTarget",
  "anchor",
  "keepSteps",
  "maxSummaryTokens",
  "summaryWindow",
  "timeoutMs",
];

/**
 * Checks the names and numbers of the options of a function.
 *
 * @throws {BadRequestError} If an option is unknown, or a number is not at least 0.
 */
export function checkCompaction(
  options: object,
  known: Readonly<Record<string, true>>,
  subject: string,
): void {
  checkObject(options, "Pass options such as { contextWindow: 200_000 }");
  checkNames(options, Object.keys(known), subject);
  const { contextWindow, ...others } = options as JsonObject;
  if (typeof contextWindow !== "function") checkNumber("contextWindow", contextWindow);
  for (const name of NUMBERS) checkNumber(name, others[name]);
}

/** Returns a callback that throws if it returns a promise, as one of untyped code may. */
export function refuseAsync<Input extends unknown[], Value>(
  name: string,
  callback: (...input: Input) => Value,
): (...input: Input) => Value {
  return (...input) => {
    const value = callback(...input);
    refusePromise(value, name);
    return value;
  };
}
