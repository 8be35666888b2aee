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
 * @throws {UsageError} If a pattern matches none: with others it would be a misspelling that omits cases.
 */
export function selectCases(set: EvalSet, { filter, repeat }: CaseSelection): EvalSet {
  const isSelected = ({ id, tags = [] }: EvalCase, pattern: string) =>
    [id, ...tags].some((name) => matches(name, pattern));
  const cases = set.cases.filter((evalCase) =>
    !filter || filter.some((pattern) => isSelected(evalCase, pattern))
  );
  const unused = (filter ?? []).filter((pattern) =>
    !set.cases.some((evalCase) => isSelected(evalCase, pattern))
  );
  if (unused.length > 0) {
    throw new UsageError(
      `No case has an id or a tag that matches ${unused.join(", ")}`,
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

/** Whether a pattern matches a complete name; `*` matches any text. */
function matches(name: string, pattern: string): boolean {
  const [start = "", ...parts] = pattern.split("*");
  const end = parts.pop();
  if (end === undefined) return name === pattern;
  if (!name.startsWith(start)) return false;
  let position = start.length;
  for (const part of parts) {
    const found = name.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return name.length - end.length >= position && name.endsWith(end);
}
