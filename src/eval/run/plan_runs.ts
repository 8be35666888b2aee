/**
 * The runs of a set.
 *
 * @module
 */

import { checkObject } from "../../core/checks/check_object.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { hashText } from "../../core/text/hash_text.ts";
import type { EvalCase, EvalSet } from "../case/eval_case.ts";
import { CASE_ID_PATTERN } from "../case/eval_set_schema.ts";
import type { PlannedRun } from "./run_case.ts";

/** Seeds of the runs. */
export interface SeedOptions {
  /** Seed from which the seed of each run is derived. Default: 0. */
  readonly seed?: number | undefined;
  /** The seeds of the repetitions of each case. Default: derived. */
  readonly seeds?: readonly number[] | undefined;
}

/**
 * Returns the runs of a set, in their order.
 *
 * @throws {BadRequestError} If a case or a seed is invalid, or two cases have the same id.
 */
export function planRuns(set: EvalSet, { seed = 0, seeds }: SeedOptions): PlannedRun[] {
  checkObject(set, 'Pass a set with cases, such as { id: "set", cases: [] }');
  if (!Array.isArray(set.cases)) throw new BadRequestError("The set needs a list of cases");
  checkSeeds(seeds);
  const ids = new Set<string>();
  return set.cases.flatMap((evalCase) => {
    checkCase(evalCase, ids);
    const { id, repetitions = 1 } = evalCase;
    const derived = Array.from(
      { length: repetitions },
      (_, index) => hashText(`${seed} ${id} ${index + 1}`),
    );
    return (seeds ?? derived).map((seed, index) => ({ evalCase, repetition: index + 1, seed }));
  });
}

/** Refuses an empty list of seeds: an evaluation without runs could not fail. */
function checkSeeds(seeds: readonly number[] | undefined): void {
  if (seeds === undefined) return;
  if (Array.isArray(seeds) && seeds.length > 0 && seeds.every(Number.isFinite)) return;
  throw new BadRequestError("The seeds must be a list of at least one number");
}

function checkCase({ id, userMessages, repetitions = 1 }: EvalCase, ids: Set<string>): void {
  if (typeof id !== "string" || !CASE_ID_PATTERN.test(id)) {
    throw new BadRequestError(
      `The id ${
        describeValue(id)
      } of a case must begin with a letter or a digit, and have at most 200 of letters, digits, ".", "_" and "-"`,
    );
  }
  // Ids are names of files, whose case some systems ignore.
  if (ids.has(id.toLowerCase())) throw new BadRequestError(`Two cases have the id "${id}"`);
  ids.add(id.toLowerCase());
  if (!Array.isArray(userMessages) || userMessages.length === 0) {
    throw new BadRequestError(`The case "${id}" needs at least one message of the user`);
  }
  checkCount(`The repetitions of the case "${id}"`, repetitions);
}

/** More runs than any evaluation has; a wrong number must not exhaust the memory. */
const MAX_COUNT = 100_000;

/**
 * Checks a number of runs.
 *
 * @throws {BadRequestError} If it is not a whole number from 1 to 100,000.
 */
export function checkCount(subject: string, value: unknown): void {
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_COUNT) return;
  throw new BadRequestError(
    `${subject} must be a whole number of at least 1, and at most ${MAX_COUNT}, not ${
      describeValue(value)
    }`,
  );
}
