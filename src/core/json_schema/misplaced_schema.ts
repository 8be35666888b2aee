/**
 * Finds a schema that was passed in an object, such as `{ schema }`, or properties that were passed as a schema.
 *
 * @module
 */

import { isRecord } from "./json_object.ts";
import { isAssertion } from "./keyword_problem.ts";
import { isApplicator } from "./subschemas.ts";

/** Keywords whose values are data, which may look like a schema. */
const DATA_KEYWORDS: readonly string[] = ["const", "default", "examples"];

/**
 * Returns the property of a value with a schema in it, if the value itself restricts nothing: JSON Schema ignores unknown
 * keywords, so that every answer would be valid. Otherwise returns `undefined`.
 */
export function findMisplacedSchema(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const keys = Object.keys(value);
  if (keys.some((key) => key === "const" || isAssertion(key) || isApplicator(key))) {
    return undefined;
  }
  return keys.find((key) => !DATA_KEYWORDS.includes(key) && looksLikeSchema(value[key]));
}

function looksLikeSchema(value: unknown): boolean {
  return isRecord(value) && ("type" in value || "properties" in value || "~standard" in value);
}
