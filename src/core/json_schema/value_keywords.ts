/**
 * The keywords for scalars.
 *
 * @module
 */

import { Pattern } from "../pattern/pattern.ts";
import type { Check } from "./evaluation.ts";
import { isRecord, toCanonicalText } from "./json_object.ts";
import {
  expectCount,
  expectList,
  expectNumber,
  formatCount,
  type Keyword,
  KeywordError,
} from "./keyword.ts";

const TYPE_TESTS: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map([
  ["array", Array.isArray],
  ["boolean", (value: unknown) => typeof value === "boolean"],
  ["integer", Number.isInteger],
  ["null", (value: unknown) => value === null],
  ["number", (value: unknown) => typeof value === "number"],
  ["object", isRecord],
  ["string", (value: unknown) => typeof value === "string"],
]);

/** Maximum number of values in a message. */
const MAX_LISTED_VALUES = 50;

/** Includes `nullable` of OpenAPI. */
const type: Keyword = (value, { schema: { nullable } }) => {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  const accepted = nullable === true ? [...names, "null"] : names;
  const tests = accepted.map((name) => {
    const test = TYPE_TESTS.get(name);
    if (test) return test;
    const known = [...TYPE_TESTS.keys()].join(", ");
    throw new KeywordError("invalid", `must be one of ${known}, not ${JSON.stringify(name)}`);
  });
  const message = `must be ${accepted.join(" or ")}`;
  return (evaluation) => {
    if (!tests.some((test) => test(evaluation.value))) evaluation.report(message);
  };
};

/** The keyword `enum`. */
const enumeration: Keyword = (value) => {
  const allowed = expectList(value);
  const more = allowed.length > MAX_LISTED_VALUES ? ", …" : "";
  const listed = allowed.slice(0, MAX_LISTED_VALUES).map(toCanonicalText).join(", ");
  return checkEquality(allowed, `must be one of ${listed}${more}`);
};

/** The keyword `const`. */
const constant: Keyword = (value) => checkEquality([value], `must be ${toCanonicalText(value)}`);

/** Includes `exclusiveMinimum: true` of draft 4. */
const minimum: Keyword = (value, { schema }) => {
  const limit = expectNumber(value);
  return schema["exclusiveMinimum"] === true
    ? checkNumber((number) => number > limit, `must be > ${limit}`)
    : checkNumber((number) => number >= limit, `must be >= ${limit}`);
};

/** Includes `exclusiveMaximum: true` of draft 4. */
const maximum: Keyword = (value, { schema }) => {
  const limit = expectNumber(value);
  return schema["exclusiveMaximum"] === true
    ? checkNumber((number) => number < limit, `must be < ${limit}`)
    : checkNumber((number) => number <= limit, `must be <= ${limit}`);
};

const exclusiveMinimum: Keyword = (value) => {
  if (typeof value === "boolean") return;
  const limit = expectNumber(value);
  return checkNumber((number) => number > limit, `must be > ${limit}`);
};

const exclusiveMaximum: Keyword = (value) => {
  if (typeof value === "boolean") return;
  const limit = expectNumber(value);
  return checkNumber((number) => number < limit, `must be < ${limit}`);
};

/** The keyword `multipleOf`. */
const multiple: Keyword = (value) => {
  const divisor = expectNumber(value);
  if (!(divisor > 0)) throw new KeywordError("invalid", "must be a number above 0");
  return checkNumber((number) => isMultiple(number, divisor), `must be a multiple of ${divisor}`);
};

const minLength: Keyword = (value) => {
  const limit = expectCount(value);
  return checkString(
    // A character has at most two code units.
    (text) => text.length >= limit * 2 || countCharacters(text) >= limit,
    `must have at least ${formatCount(limit, "character")}`,
  );
};

const maxLength: Keyword = (value) => {
  const limit = expectCount(value);
  return checkString(
    (text) => text.length <= limit || countCharacters(text) <= limit,
    `must have at most ${formatCount(limit, "character")}`,
  );
};

const pattern: Keyword = (value) => {
  const compiled = compilePattern(value);
  const message = `must match the pattern ${JSON.stringify(value)}`;
  return (evaluation) => {
    const { value: text } = evaluation;
    if (typeof text === "string" && !evaluation.matches(compiled, text)) evaluation.report(message);
  };
};

/** The keywords for scalars. */
export const VALUE_KEYWORDS: readonly (readonly [name: string, keyword: Keyword])[] = [
  ["type", type],
  ["enum", enumeration],
  ["const", constant],
  ["minimum", minimum],
  ["maximum", maximum],
  ["exclusiveMinimum", exclusiveMinimum],
  ["exclusiveMaximum", exclusiveMaximum],
  ["multipleOf", multiple],
  ["minLength", minLength],
  ["maxLength", maxLength],
  ["pattern", pattern],
];

/** Compiles a regular expression; throws a {@linkcode KeywordError} if that is not possible. */
export function compilePattern(source: unknown): Pattern {
  if (typeof source !== "string") throw new KeywordError("invalid", "must be a string");
  try {
    return new Pattern(source);
  } catch (cause) {
    throw new KeywordError("unsupported", `cannot be checked: ${(cause as Error).message}`);
  }
}

/** Compares a value with scalars directly, and with arrays and objects by their canonical text. */
function checkEquality(allowed: readonly unknown[], message: string): Check {
  const scalars = new Set(allowed.filter((item) => typeof item !== "object" || item === null));
  const texts = new Set(allowed.filter((item) => !scalars.has(item)).map(toCanonicalText));
  return (evaluation) => {
    const { value } = evaluation;
    const isEqual = typeof value === "object" && value !== null
      ? texts.size > 0 && texts.has(evaluation.serialize(value))
      : scalars.has(value);
    if (!isEqual) evaluation.report(message);
  };
}

function checkNumber(isValid: (value: number) => boolean, message: string): Check {
  return (evaluation) => {
    if (typeof evaluation.value === "number" && !isValid(evaluation.value)) {
      evaluation.report(message);
    }
  };
}

function checkString(isValid: (value: string) => boolean, message: string): Check {
  return (evaluation) => {
    if (typeof evaluation.value === "string" && !isValid(evaluation.value)) {
      evaluation.report(message);
    }
  };
}

/** Tolerates the rounding of binary fractions: 1.1 is a multiple of 0.1. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.abs(quotient);
}

/** Counts characters, which may have two code units. */
function countCharacters(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}
