/**
 * Checks of the values of keywords.
 *
 * ajv could check a schema against the meta-schema, but that takes nine tenths of the time of the first compilation.
 *
 * @module
 */

import { isRecord } from "./json_object.ts";

/** Returns what the value of a keyword must be, as a fragment, or `undefined` if it is valid. */
type FindProblem = (value: unknown) => string | undefined;

const TYPES: readonly unknown[] = [
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string",
];

const type: FindProblem = (value) => {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  const unknown = names.find((name) => !TYPES.includes(name));
  if (names.length > 0 && unknown === undefined) return undefined;
  return `must be one of ${TYPES.join(", ")}, not ${JSON.stringify(unknown)}`;
};

const number: FindProblem = (value) => typeof value === "number" ? undefined : "must be a number";

const limit: FindProblem = (value) => typeof value === "boolean" ? undefined : number(value);

const divisor: FindProblem = (value) =>
  typeof value === "number" && value > 0 ? undefined : "must be a number above 0";

const count: FindProblem = (value) =>
  typeof value === "number" && value >= 0 ? undefined : "must be a number of at least 0";

const list: FindProblem = (value) => Array.isArray(value) ? undefined : "must be a list";

const schemas: FindProblem = (value) =>
  Array.isArray(value) && value.length > 0 ? undefined : "must be a list of schemas";

const names: FindProblem = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string")
    ? undefined
    : "must be a list of property names";

const object: FindProblem = (value) => isRecord(value) ? undefined : "must be an object";

const text: FindProblem = (value) => typeof value === "string" ? undefined : "must be a string";

const flag: FindProblem = (value) =>
  typeof value === "boolean" ? undefined : "must be true or false";

const required: FindProblem = (value) =>
  isRecord(value) && Object.values(value).every((item) => !names(item))
    ? undefined
    : "must be an object of lists of property names";

const async: FindProblem = (value) =>
  value === true ? "is not part of JSON Schema: remove it" : undefined;

const PROBLEMS: ReadonlyMap<string, FindProblem> = new Map([
  ["$async", async],
  ["$defs", object],
  ["$ref", text],
  ["allOf", schemas],
  ["anyOf", schemas],
  ["definitions", object],
  ["dependencies", object],
  ["dependentRequired", required],
  ["dependentSchemas", object],
  ["enum", list],
  ["exclusiveMaximum", limit],
  ["exclusiveMinimum", limit],
  ["maxContains", count],
  ["maxItems", count],
  ["maxLength", count],
  ["maxProperties", count],
  ["maximum", number],
  ["minContains", count],
  ["minItems", count],
  ["minLength", count],
  ["minProperties", count],
  ["minimum", number],
  ["multipleOf", divisor],
  ["oneOf", schemas],
  ["pattern", text],
  ["patternProperties", object],
  ["prefixItems", schemas],
  ["properties", object],
  ["required", names],
  ["type", type],
  ["uniqueItems", flag],
]);

/** Returns what the value of a keyword must be, as a fragment; `undefined` if it is valid, or the keyword is unknown. */
export function findKeywordProblem(keyword: string, value: unknown): string | undefined {
  return PROBLEMS.get(keyword)?.(value);
}
