/**
 * Checks of expectations that the schema of a set cannot make.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import type { JsonSchema } from "../../core/json/json.ts";
import type { Matcher } from "../../core/json_schema/pattern.ts";
import { compileExpectedSchema, compilePattern } from "./compile_expectation.ts";
import type { EvalCase } from "./eval_case.ts";
import { isOuterPath } from "./outer_path.ts";

/** A problem of a value in a set. */
export interface KeyProblem {
  /** Keys and indices of the value. */
  readonly keys: readonly string[];
  /** Description as a fragment after the keys. */
  readonly message: string;
}

/** A part of an expectation that is compiled. */
interface Expression {
  readonly keys: readonly string[];
  readonly pattern?: string;
  readonly schema?: JsonSchema;
  /** Whether it is that of the answer, which each run has; patterns of files and arguments also expect that there is one. */
  readonly isOfAnswer?: boolean;
}

/** Finds expectations that cannot be checked, or that each run would meet, so that an evaluation does not start with them. */
export async function findExpectationProblems(cases: readonly EvalCase[]): Promise<KeyProblem[]> {
  return [
    ...await findExpressionProblems(cases),
    ...cases.flatMap((evalCase, index) =>
      [...findPathProblems(evalCase), ...findArgumentProblems(evalCase)]
        .map(({ keys, message }) => ({ keys: ["cases", `${index}`, ...keys], message }))
    ),
  ];
}

/** No run has a file outside of its directory, so that it would always be missing. */
function findPathProblems({ expectedFiles = [] }: EvalCase): KeyProblem[] {
  return expectedFiles.flatMap(({ path }, index) =>
    isOuterPath(path)
      ? [{
        keys: ["expectedFiles", `${index}`, "path"],
        message: "must be a relative path inside of the directory of the run",
      }]
      : []
  );
}

/** Of two expectations of an argument only one would be checked. */
function findArgumentProblems({ expectedTrajectory }: EvalCase): KeyProblem[] {
  return (expectedTrajectory?.calls ?? []).flatMap((
    { arguments: args = {}, matchers = {} },
    index,
  ) =>
    Object.keys(matchers).filter((name) => Object.hasOwn(args, name)).map((name) => ({
      keys: ["expectedTrajectory", "calls", `${index}`, "matchers", name],
      message: "is an argument that arguments has, too: remove one of them",
    }))
  );
}

/** All characters of ASCII that can be printed, and some others, of which a pattern such as `^[^<>]*$` excludes some. */
const CHARACTERS = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index)) +
  "\u00e9\u4e2d\u{1f600}";

/** Texts that have nothing in common: a pattern that matches each of them, such as `.*`, matches any text. */
const PROBES = ["", "\u0000", "\n\n", " a\n", "Z9_\u2603", CHARACTERS];

/** Excludes texts, such as `^(?!.*sorry)`, which none of the probes may be. */
const NEGATIVE_LOOKAROUND = /\(\?<?!/;

function matchesAnyText(pattern: string, matcher: Matcher): boolean {
  return !NEGATIVE_LOOKAROUND.test(pattern) && PROBES.every((text) => matcher.test(text));
}

async function findExpressionProblems(cases: readonly EvalCase[]): Promise<KeyProblem[]> {
  const expressions = cases.flatMap((evalCase, index) =>
    listExpressions(evalCase).map((expression) => ({
      ...expression,
      keys: ["cases", `${index}`, ...expression.keys],
    }))
  );
  const problems: KeyProblem[] = [];
  for (const { keys, pattern, schema, isOfAnswer } of expressions) {
    try {
      if (pattern !== undefined) {
        const matcher = await compilePattern(pattern);
        if (isOfAnswer && matchesAnyText(pattern, matcher)) {
          problems.push({ keys, message: "matches any text, so that each run would meet it" });
        }
      }
      if (schema !== undefined) await compileExpectedSchema(schema);
    } catch (error) {
      problems.push({ keys, message: `is invalid: ${getErrorMessage(error)}` });
    }
  }
  return problems;
}

function listExpressions(
  { expectedResponse, expectedTrajectory, expectedFiles }: EvalCase,
): Expression[] {
  const matchers = (expectedTrajectory?.calls ?? []).flatMap(({ matchers = {} }, index) =>
    Object.entries(matchers).flatMap(([name, matcher]) =>
      toExpression(matcher, ["expectedTrajectory", "calls", `${index}`, "matchers", name])
    )
  );
  const files = (expectedFiles ?? []).flatMap((file, index) =>
    toExpression(file, ["expectedFiles", `${index}`])
  );
  const response = expectedResponse ? toExpression(expectedResponse, ["expectedResponse"]) : [];
  return [
    ...response.map((expression) => ({ ...expression, isOfAnswer: true })),
    ...matchers,
    ...files,
  ];
}

function toExpression(
  criteria: { readonly type: string; readonly pattern?: string; readonly schema?: JsonSchema },
  keys: readonly string[],
): Expression[] {
  const { pattern, schema } = criteria;
  if (pattern !== undefined) return [{ keys: [...keys, "pattern"], pattern }];
  return schema === undefined ? [] : [{ keys: [...keys, "schema"], schema }];
}
