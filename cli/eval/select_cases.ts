/**
 * Selects cases by id or tag.
 *
 * @module
 */

import type { EvalCase, EvalSet } from "../../src/eval/mod.ts";
import { UsageError } from "../host/cli_error.ts";

/** The selection. */
export interface CaseSelection {
  /** Patterns of ids and tags, of which one must match; `*` matches any text. Default: all cases. */
  readonly filter: readonly string[] | undefined;
  /** Number of runs of each case. Default: that of the case. */
  readonly repeat: number | undefined;
}

/**
 * Returns the set with the selected cases.
 *
 * @throws {UsageError} If there is none.
 */
export function selectCases(set: EvalSet, { filter, repeat }: CaseSelection): EvalSet {
  const patterns = filter?.map(toPattern);
  const isSelected = ({ id, tags = [] }: EvalCase) =>
    !patterns || patterns.some((pattern) => [id, ...tags].some((name) => pattern.test(name)));
  const cases = set.cases.filter(isSelected);
  if (cases.length === 0) {
    throw new UsageError(
      `No case has an id or a tag that matches ${(filter ?? []).join(", ")}`,
      `Cases: ${set.cases.map(({ id }) => id).join(", ")}`,
    );
  }
  return {
    ...set,
    cases: repeat === undefined ? cases : cases.map((evalCase) => ({
      ...evalCase,
      repetitions: repeat,
    })),
  };
}

/** Returns the set with the cases and the repetitions of another one; cases that it does not have are missing. */
export function selectSameCases(set: EvalSet, other: EvalSet): EvalSet {
  const known = new Map(set.cases.map((evalCase) => [evalCase.id, evalCase]));
  const cases = other.cases.flatMap(({ id, repetitions }) => {
    const evalCase = known.get(id);
    if (!evalCase) return [];
    return [repetitions === undefined ? evalCase : { ...evalCase, repetitions }];
  });
  return { ...set, cases };
}

/** A star is the only special character, so that the time of the match is limited by few of them. */
function toPattern(text: string): RegExp {
  const parts = text.split(/\*+/).map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*?")}$`, "s");
}
