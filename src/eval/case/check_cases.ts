/**
 * Checks the cases of a set that is an object, which a program without types may write in any way.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { compileSchema } from "../../core/schemas/compile_schema.ts";
import { findExpectationProblems } from "./check_expectations.ts";
import type { EvalCase } from "./eval_case.ts";
import { CASE_SCHEMA } from "./eval_set_schema.ts";
import { findSchemaProblems, formatKeys } from "./schema_problems.ts";

/** Number of problems that an error lists. */
const MAX_PROBLEMS = 10;

/**
 * Checks that each case has the properties of a case in a file, and expectations that can be checked: one with a misspelled
 * name or an unknown type would accept every run.
 *
 * @throws {BadRequestError} If one has not.
 */
export async function checkCases(cases: readonly EvalCase[]): Promise<void> {
  const schema = await compileSchema(CASE_SCHEMA);
  const found = cases.flatMap((evalCase, index) =>
    findSchemaProblems(schema, toFileCase(evalCase)).map(({ keys, message }) => ({
      keys: ["cases", `${index}`, ...keys],
      message,
    }))
  );
  const problems = (found.length > 0 ? found : await findExpectationProblems(cases))
    .map(({ keys, message }) => `${formatKeys(keys)} ${message}`);
  if (problems.length === 0) return;
  const shown = problems.slice(0, MAX_PROBLEMS);
  const rest = problems.length - shown.length;
  throw new BadRequestError([...shown, ...rest > 0 ? [`and ${rest} more`] : []].join("\n"));
}

/** Returns a case as a file has it, without the check of a response, which a file cannot have. */
function toFileCase(evalCase: EvalCase): unknown {
  const { expectedResponse, ...others } = evalCase;
  const isCustom = expectedResponse?.type === "custom";
  if (isCustom && typeof expectedResponse.check !== "function") {
    throw new BadRequestError(
      `The expected response of the case "${evalCase.id}" needs a function, check`,
    );
  }
  try {
    return JSON.parse(JSON.stringify(isCustom ? others : evalCase));
  } catch (cause) {
    const reason = getErrorMessage(cause);
    throw new BadRequestError(`The case "${evalCase.id}" is not JSON: ${reason}`, { cause });
  }
}
