/**
 * Checks of patterns and schemas in expectations, which the schema of a set cannot make.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors.ts";
import type { JsonSchema } from "../../core/json.ts";
import { compileExpectedSchema, compilePattern } from "./compile_expectation.ts";
import type { EvalCase } from "./eval_case.ts";

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
}

/** Finds patterns and schemas that cannot be compiled, so that an evaluation does not start with them. */
export async function findExpressionProblems(cases: readonly EvalCase[]): Promise<KeyProblem[]> {
  const expressions = cases.flatMap((evalCase, index) =>
    listExpressions(evalCase).map((expression) => ({
      ...expression,
      keys: ["cases", `${index}`, ...expression.keys],
    }))
  );
  const problems: KeyProblem[] = [];
  for (const { keys, pattern, schema } of expressions) {
    try {
      if (pattern !== undefined) await compilePattern(pattern);
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
  return [...response, ...matchers, ...files];
}

function toExpression(
  criteria: { readonly type: string; readonly pattern?: string; readonly schema?: JsonSchema },
  keys: readonly string[],
): Expression[] {
  const { pattern, schema } = criteria;
  if (pattern !== undefined) return [{ keys: [...keys, "pattern"], pattern }];
  return schema === undefined ? [] : [{ keys: [...keys, "schema"], schema }];
}
