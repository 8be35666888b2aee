/**
 * Validation with ajv, for schemas and values of any origin.
 *
 * ajv takes 40 ms to load, so this module is only imported dynamically, when it is needed first.
 *
 * @module
 */

import * as ajvModule from "ajv/dist/2020.js";
import { toCanonicalText } from "./canonical_text.ts";
import type { IgnoredKeyword } from "./ignored_keyword.ts";
import { escapeKey, type JsonRecord } from "./json_object.ts";
import type { NormalizedSchema } from "./normalize_schema.ts";
import { canCreateMatchers, createMatcher, loadMatchers, type Matcher } from "./pattern.ts";
import { getSubschemas, REFERENCE_COUNTER } from "./subschemas.ts";
import { TextCache } from "./text_cache.ts";
import type { ValidationError } from "./validation_error.ts";

/** A schema that ajv compiled. */
export interface AjvSchema {
  /** Returns the violations by a value; none if it is valid. */
  readonly validate: (value: unknown) => readonly ValidationError[];
  /** The keywords that are not checked, in addition to those of the normalized schema. */
  readonly ignored: readonly IgnoredKeyword[];
}

/** The part of ajv's interface that is used here. */
interface Ajv {
  compile(schema: object): AjvValidateFunction;
  removeKeyword(keyword: string): unknown;
  addKeyword(definition: object): unknown;
}
interface AjvValidateFunction {
  (value: unknown): unknown;
  errors?: readonly AjvError[] | null;
}
interface AjvError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}
type AjvClass = new (options: object) => Ajv;

/** The class of ajv, a CommonJS module: bundles that are split into chunks have only its default export. */
const Ajv2020 = ((ajvModule as { readonly Ajv2020?: unknown }).Ajv2020 ??
  ajvModule.default) as AjvClass;

/** Maximum number of schemas in one, each of which takes about 0.1 ms to compile. */
const MAX_SUBSCHEMAS = 10_000;

const compiledTexts = new TextCache<AjvSchema>();

/**
 * Compiles a schema; returns a promise if RE2 must be loaded first. Schemas with the same text share the result.
 *
 * @throws {RangeError} If the schema has too many subschemas.
 */
export function compileWithAjv(schema: NormalizedSchema): AjvSchema | Promise<AjvSchema> {
  const text = JSON.stringify(schema.schema);
  const finish = (): AjvSchema => {
    if (countSchemas(schema.schema, MAX_SUBSCHEMAS) > MAX_SUBSCHEMAS) {
      throw new RangeError(`it has more than ${MAX_SUBSCHEMAS} subschemas`);
    }
    const compiled = compile(schema);
    compiledTexts.set(text, compiled);
    return compiled;
  };
  const patterns = [...schema.patterns.keys()];
  return compiledTexts.get(text) ??
    (canCreateMatchers(patterns) ? finish() : loadMatchers(patterns).then(finish));
}

/** Counts a schema and those in it, up to a limit. */
function countSchemas(root: JsonRecord, limit: number): number {
  const schemas = [root];
  for (const schema of schemas) {
    if (schemas.length <= limit) schemas.push(...getSubschemas(schema));
  }
  return schemas.length;
}

/** Maximum number of errors; the model corrects the first ones first. */
const MAX_ERRORS = 100;

function compile({ schema, patterns, hasIds }: NormalizedSchema): AjvSchema {
  const matchers = new Map<string, Matcher>();
  const ignored = [...patterns].flatMap(([source, path]): IgnoredKeyword[] => {
    try {
      matchers.set(source, createMatcher(source));
      return [];
    } catch (thrown) {
      const message = `cannot be checked: ${(thrown as Error).message}`;
      return [{ path, problem: "unsupported", message }];
    }
  });
  // Identifiers of two schemas may be the same.
  const ajv = hasIds ? createAjv() : getSharedAjv();
  const check = withMatchers(matchers, () => ajv.compile(schema));
  const validate = (value: unknown): readonly ValidationError[] => {
    references = 0;
    try {
      return check(value) ? [] : (check.errors ?? []).slice(0, MAX_ERRORS).map(toValidationError);
    } catch (thrown) {
      // Too many references, or references without end, which overflow the stack.
      if (thrown instanceof RangeError) return [TOO_COMPLEX];
      throw thrown;
    }
  };
  return { validate, ignored };
}

const TOO_COMPLEX: ValidationError = { path: "", message: "is too complex to be validated" };

/** An instance keeps traces of every schema that it compiled, and so is replaced from time to time. */
const COMPILATIONS_PER_AJV = 200;
let shared: { readonly ajv: Ajv; compilations: number } | undefined;

function getSharedAjv(): Ajv {
  if (!shared || shared.compilations >= COMPILATIONS_PER_AJV) {
    shared = { ajv: createAjv(), compilations: 0 };
  }
  shared.compilations++;
  return shared.ajv;
}

function createAjv(): Ajv {
  const ajv = new Ajv2020(AJV_OPTIONS);
  for (const definition of [CONST, ENUM, UNIQUE_ITEMS]) {
    ajv.removeKeyword(definition.keyword);
    ajv.addKeyword(definition);
  }
  ajv.addKeyword(COUNT_REFERENCE);
  return ajv;
}

/** The matchers of the schema that is compiled. */
let currentMatchers: ReadonlyMap<string, Matcher> = new Map();

function withMatchers<Result>(
  matchers: ReadonlyMap<string, Matcher>,
  compileSchema: () => Result,
): Result {
  currentMatchers = matchers;
  try {
    return compileSchema();
  } finally {
    currentMatchers = new Map();
  }
}

/** Accepts every text, for a pattern that cannot be checked. */
const ANY_TEXT: Matcher = { test: () => true };

const regExp = Object.assign(
  (source: string): Matcher => currentMatchers.get(source) ?? ANY_TEXT,
  { code: "new RegExp" },
);

const AJV_OPTIONS = {
  allErrors: true,
  strict: false,
  // Part of `strict`: neither NaN nor Infinity is a number.
  strictNumbers: true,
  // The schema was checked before; its meta-schema takes nine tenths of the time of the first compilation.
  meta: false,
  validateSchema: false,
  validateFormats: false,
  // Tolerates the rounding of binary fractions: 1.1 is a multiple of 0.1.
  multipleOfPrecision: 10,
  // An optional property may be named "constructor".
  ownProperties: true,
  logger: false,
  // The time of the optimizer grows with the square of the code: 3 s for 3,000 properties.
  code: { regExp, optimize: false },
};

/** A function that reports its errors as a property, as those of ajv do. */
type Compare<Expected> = { (expected: Expected, value: unknown): boolean; errors?: object[] };

const isAllowed: Compare<readonly unknown[]> = (allowedValues, value) => {
  isAllowed.errors = [{ keyword: "enum", params: { allowedValues } }];
  return allowedValues.some((allowed) => isEqual(allowed, value));
};

const isExpected: Compare<unknown> = (allowedValue, value) => {
  isExpected.errors = [{ keyword: "const", params: { allowedValue } }];
  return isEqual(allowedValue, value);
};

/** The keywords of ajv call methods of objects, which are data in a value such as `{ "toString": 1 }`. */
const CONST = { keyword: "const", validate: isExpected };
const ENUM = { keyword: "enum", schemaType: "array", validate: isAllowed };

function isEqual(expected: unknown, value: unknown): boolean {
  if (typeof expected !== "object" || typeof value !== "object") return expected === value;
  return toCanonicalText(expected) === toCanonicalText(value);
}

/** The keyword of ajv compares all pairs of items. */
const UNIQUE_ITEMS = {
  keyword: "uniqueItems",
  type: "array",
  schemaType: "boolean",
  errors: false,
  error: { message: "must NOT have duplicate items" },
  validate: (isUnique: boolean, items: readonly unknown[]): boolean =>
    !isUnique || new Set(items.map(toCanonicalText)).size === items.length,
};

/**
 * Maximum number of references that one validation follows, each about 1 µs. References can multiply the work: thirty
 * definitions that each refer twice to the next one apply a billion schemas.
 */
const MAX_REFERENCES = 200_000;

/** Number of references that the current validation has followed. */
let references = 0;

/** A keyword next to every `$ref`, which ends validations that take too long. */
const COUNT_REFERENCE = {
  keyword: REFERENCE_COUNTER,
  schemaType: "boolean",
  errors: false,
  validate: (): boolean => {
    if (++references > MAX_REFERENCES) throw new RangeError("Too many references");
    return true;
  },
};

function toValidationError(error: AjvError): ValidationError {
  const { instancePath, params, message = "is invalid" } = error;
  switch (error.keyword) {
    case "required":
      return { path: appendKey(instancePath, params["missingProperty"]), message: "is required" };
    case "dependentRequired":
    case "dependencies": {
      const path = appendKey(instancePath, params["missingProperty"]);
      return { path, message: `is required together with ${JSON.stringify(params["property"])}` };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = params["additionalProperty"] ?? params["unevaluatedProperty"];
      return { path: appendKey(instancePath, name), message: "is not a known property" };
    }
    case "type":
      return { path: instancePath, message: `must be ${formatTypes(params["type"])}` };
    case "false schema":
      return { path: instancePath, message: "is not allowed" };
    case "enum":
      return {
        path: instancePath,
        message: `must be one of ${formatValues(params["allowedValues"])}`,
      };
    case "const":
      return { path: instancePath, message: `must be ${JSON.stringify(params["allowedValue"])}` };
    default:
      return { path: instancePath, message };
  }
}

function appendKey(path: string, key: unknown): string {
  return `${path}/${escapeKey(String(key))}`;
}

function formatTypes(types: unknown): string {
  return Array.isArray(types) ? types.join(" or ") : String(types);
}

/** Maximum number of values in a message. */
const MAX_LISTED_VALUES = 50;

function formatValues(values: unknown): string {
  if (!Array.isArray(values)) return String(values);
  const listed = values.slice(0, MAX_LISTED_VALUES).map((value) => JSON.stringify(value));
  return [...listed, ...(values.length > MAX_LISTED_VALUES ? ["…"] : [])].join(", ");
}
