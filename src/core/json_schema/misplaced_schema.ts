/**
 * Finds a schema that was passed in an object, such as `{ schema }`, or properties that were passed as a schema.
 *
 * @module
 */

import { isRecord, type JsonRecord } from "./json_object.ts";

/** Keywords that restrict a value; a list of its own, since this module is loaded later than the validation. */
const RESTRICTIONS = new RegExp(
  "^(\\$ref|\\$dynamicRef|\\$defs|type|enum|const|format|pattern|multipleOf|definitions|not|if|then|else|" +
    "(all|any|one)Of|(prefix|unevaluated|additional)?Items|items|contains|required|propertyNames|" +
    "(pattern|additional|unevaluated)?Properties|properties|uniqueItems|dependen\\w+|" +
    "exclusiveM(in|ax)imum|(min|max)\\w+)$",
);

/** Keywords whose values are data, which may look like a schema. */
const DATA_KEYWORDS: readonly string[] = ["const", "default", "examples"];

/**
 * Returns the property of a value with a schema in it, if the value itself restricts nothing: JSON Schema ignores unknown
 * keywords, so that every answer would be valid. Otherwise returns `undefined`.
 */
export function findMisplacedSchema(value: JsonRecord): string | undefined {
  const keys = Object.keys(value);
  if (keys.some((key) => RESTRICTIONS.test(key))) {
    return undefined;
  }
  return keys.find((key) => !DATA_KEYWORDS.includes(key) && looksLikeSchema(value[key]));
}

function looksLikeSchema(value: unknown): boolean {
  return isRecord(value) && ("type" in value || "properties" in value);
}
