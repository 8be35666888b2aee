/**
 * Recognizes plainly valid values without ajv.
 *
 * ajv takes 40 ms to load, and 1 ms to compile a schema into code of 4 KB, which Deno does not free. Most schemas of tools have
 * only the keywords below, and most calls are valid, so that neither is needed for them. Everything else is left to
 * ajv: its verdict is the only one that can be negative, and all errors have its words.
 *
 * @module
 */

import { isRecord } from "./json_object.ts";
import type { NormalizedSchema } from "./normalize_schema.ts";

/** Whether a value is plainly valid; `false` does not mean that it is invalid. */
export type PlainCheck = (value: unknown) => boolean;

/** Keywords without an effect on the result; ajv does not check formats either. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  "$comment",
  "default",
  "deprecated",
  "description",
  "examples",
  "format",
  "readOnly",
  "title",
  "writeOnly",
]);

const knownChecks = new WeakMap<NormalizedSchema, PlainCheck | false>();

/** Returns the check of a schema; `undefined` if it has a keyword that needs ajv, or ajv cannot compile anything. */
export function getPlainCheck(normalized: NormalizedSchema): PlainCheck | undefined {
  let check = knownChecks.get(normalized);
  if (check === undefined) {
    check = canEval() && createPlainCheck(normalized.schema) || false;
    knownChecks.set(normalized, check);
  }
  return check || undefined;
}

let evalAllowed: boolean | undefined;

/**
 * Whether the runtime allows `eval`. Where it does not, every call that ajv would check must fail, rather than only the
 * invalid ones.
 */
export function canEval(): boolean {
  if (evalAllowed !== undefined) return evalAllowed;
  try {
    new Function("");
    return evalAllowed = true;
  } catch {
    return evalAllowed = false;
  }
}

/** Creates the check of a normalized schema; `undefined` if it has a keyword that needs ajv. */
function createPlainCheck(schema: unknown): PlainCheck | undefined {
  if (schema === true) return () => true;
  if (!isRecord(schema)) return undefined;
  const { properties = {}, additionalProperties = true, ...others } = schema;
  const checks: (PlainCheck | undefined)[] = Object.entries(others)
    .filter(([keyword]) => !ANNOTATIONS.has(keyword))
    .map(([keyword, value]) => createKeywordCheck(keyword, value));
  if (schema["properties"] !== undefined || schema["additionalProperties"] !== undefined) {
    checks.push(createMembersCheck(properties, additionalProperties));
  }
  if (!checks.every((check) => check !== undefined)) return undefined;
  const [first] = checks;
  if (first && checks.length === 1) return first;
  return (value) => checks.every((check) => check(value));
}

function createKeywordCheck(keyword: string, expected: unknown): PlainCheck | undefined {
  // Not with Number(), which calls methods that the value of another keyword may have replaced by data.
  const limit = typeof expected === "number" ? expected : NaN;
  switch (keyword) {
    case "type": {
      if (!Array.isArray(expected)) return (value) => hasType(value, expected);
      const names: readonly unknown[] = [...expected];
      return (value) => names.some((name) => hasType(value, name));
    }
    case "const":
      return isScalar(expected) ? (value) => value === expected : undefined;
    case "enum":
      if (!Array.isArray(expected) || !expected.every(isScalar)) return undefined;
      return (value) => expected.includes(value);
    case "required": {
      const names = expected as readonly string[];
      return (value) => isRecord(value) && names.every((name) => hasMember(value, name));
    }
    case "items": {
      const check = createPlainCheck(expected);
      return check && ((value) => Array.isArray(value) && value.every(check));
    }
    case "minimum":
      return (value) => typeof value === "number" && value >= limit;
    case "maximum":
      return (value) => typeof value === "number" && value <= limit;
    case "exclusiveMinimum":
      return (value) => typeof value === "number" && value > limit;
    case "exclusiveMaximum":
      return (value) => typeof value === "number" && value < limit;
    case "minLength":
      // Characters are counted, each of at most two code units.
      return (value) => typeof value === "string" && [...value.slice(0, 2 * limit)].length >= limit;
    case "maxLength":
      return (value) => typeof value === "string" && value.length <= limit;
    case "minItems":
      return (value) => Array.isArray(value) && value.length >= limit;
    case "maxItems":
      return (value) => Array.isArray(value) && value.length <= limit;
    default:
      return undefined;
  }
}

function createMembersCheck(properties: unknown, others: unknown): PlainCheck | undefined {
  if (!isRecord(properties)) return undefined;
  const checks = new Map<string, PlainCheck>();
  for (const [name, schema] of Object.entries(properties)) {
    // ajv takes a property of this name for an unknown one.
    const check = name === "__proto__" ? undefined : createPlainCheck(schema);
    if (!check) return undefined;
    checks.set(name, check);
  }
  const checkOthers = others === false ? () => false : createPlainCheck(others);
  if (!checkOthers) return undefined;
  return (value) =>
    isRecord(value) &&
    Object.keys(value).every((name) => (checks.get(name) ?? checkOthers)(value[name]));
}

function hasType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    case "string":
      return typeof value === "string";
    default:
      return type === "boolean" && typeof value === "boolean";
  }
}

function hasMember(value: object, name: string): boolean {
  return Object.hasOwn(value, name) && (value as Record<string, unknown>)[name] !== undefined;
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== "object";
}
