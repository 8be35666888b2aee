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
  const allowed = expectList(value).map(toCanonicalText);
  const texts = new Set(allowed);
  const more = allowed.length > MAX_LISTED_VALUES ? ", …" : "";
  const message = `must be one of ${allowed.slice(0, MAX_LISTED_VALUES).join(", ")}${more}`;
  return (evaluation) => {
    if (!texts.has(toCanonicalText(evaluation.value))) evaluation.report(message);
  };
};

/** The keyword `const`. */
const constant: Keyword = (value) => {
  const text = toCanonicalText(value);
  return (evaluation) => {
    if (toCanonicalText(evaluation.value) !== text) evaluation.report(`must be ${text}`);
  };
};

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
  return (evaluation) => {
    if (typeof evaluation.value !== "string") return;
    const verdict = compiled.test(evaluation.value);
    if (verdict === "no_match") {
      evaluation.report(`must match the pattern ${JSON.stringify(value)}`);
    }
    if (verdict === "too_long") {
      evaluation.report(`is too long for the pattern ${JSON.stringify(value)}`);
    }
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
