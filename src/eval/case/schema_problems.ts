/**
 * The problems that a schema finds in a set.
 *
 * @module
 */

import { runCompiled } from "../../core/schemas/compile_schema.ts";
import type { CompiledSchema } from "../../core/schemas/schema.ts";
import type { KeyProblem } from "./check_expectations.ts";

/** The error of a condition follows those of the values that it is about. */
const CONDITION_ERROR = /^must match "then" schema$/;

/** Finds the problems of a value. */
export function findSchemaProblems(schema: CompiledSchema, value: unknown): KeyProblem[] {
  return runCompiled(schema, value).filter(({ message }) => !CONDITION_ERROR.test(message))
    .map(({ path, message }) => ({ keys: parsePointer(path), message }));
}

function parsePointer(pointer: string): string[] {
  return pointer.split("/").slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Formats `["cases", "0", "id"]` as `cases[0].id`. */
export function formatKeys(keys: readonly string[]): string {
  if (keys.length === 0) return "the set";
  return keys.map((key, index) => {
    if (/^\d+$/.test(key)) return `[${key}]`;
    return index === 0 ? key : `.${key}`;
  }).join("");
}
