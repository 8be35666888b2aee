/**
 * Compares the answer of a run with the expected one.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import type { JsonSchema } from "../../core/json/json.ts";
import { runCompiled } from "../../core/schemas/compile_schema.ts";
import { compileExpectedSchema, compilePattern } from "../case/compile_expectation.ts";
import type { ResponseCriteria } from "../case/eval_case.ts";
import type { Evaluator } from "./evaluator.ts";
import { quoteStart } from "./quote_start.ts";
import { createBinaryScore, type Score } from "./score.ts";

const METRIC = "response";

/** Creates the evaluator `response`, which applies to cases with an `expectedResponse`. */
export function createResponseEvaluator(): Evaluator {
  return {
    name: METRIC,
    optionNames: [],
    evaluate: ({ evalCase: { expectedResponse }, trajectory }) =>
      expectedResponse && scoreResponse(trajectory.response, expectedResponse),
  };
}

/** Scores an answer. An invalid pattern or schema, and a check that throws, score 0 with the error as the reason. */
export async function scoreResponse(text: string, criteria: ResponseCriteria): Promise<Score> {
  try {
    return await compare(text, criteria);
  } catch (error) {
    return createBinaryScore(METRIC, false, getErrorMessage(error));
  }
}

async function compare(text: string, criteria: ResponseCriteria): Promise<Score> {
  switch (criteria.type) {
    case "exact":
      return createScore(text === criteria.text, `The answer is not ${quoteStart(criteria.text)}`);
    case "contains":
      return createScore(
        text.includes(criteria.text),
        `The answer does not contain ${quoteStart(criteria.text)}`,
      );
    case "regex": {
      const matches = (await compilePattern(criteria.pattern)).test(text);
      return createScore(matches, `The answer does not match /${criteria.pattern}/`);
    }
    case "schema":
      return await compareWithSchema(text, criteria.schema);
    case "custom":
      return toScore(await criteria.check(text));
  }
}

function createScore(passed: boolean, reason: string): Score {
  return createBinaryScore(METRIC, passed, passed ? undefined : reason);
}

async function compareWithSchema(text: string, schema: JsonSchema): Promise<Score> {
  const compiled = await compileExpectedSchema(schema);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return createScore(false, "The answer is not JSON");
  }
  const [error] = runCompiled(compiled, value);
  return createScore(!error, `The answer is invalid: ${error?.path} ${error?.message}`);
}

function toScore(result: boolean | number): Score {
  if (typeof result === "boolean") return createScore(result, "The check rejects the answer");
  if (!(result >= 0 && result <= 1)) {
    throw new RangeError(`The check returned ${result}, which is not between 0 and 1`);
  }
  return { metric: METRIC, value: result, passed: result === 1 };
}
