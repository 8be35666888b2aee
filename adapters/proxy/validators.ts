/**
 * Validators for JSON values that were received over the network.
 *
 * @module
 */

import { isJsonObject } from "../../src/core/json/json.ts";

/**
 * Returns the problem of a value, starting with its path (`.model.modelId must be a string`), or `undefined` for a
 * valid value. Unknown members of objects are ignored.
 */
export type Validator = (value: unknown) => string | undefined;

/** Accepts a string. */
export const string: Validator = createValidator((value) => typeof value === "string", "a string");

/** Accepts a non-empty string. */
export const nonEmptyString: Validator = createValidator(
  (value) => typeof value === "string" && value !== "",
  "a non-empty string",
);

/** Accepts a finite number. */
export const number: Validator = createValidator(Number.isFinite, "a number");

/** Accepts a finite number that is not negative. */
export const nonNegativeNumber: Validator = createValidator(
  (value) => Number.isFinite(value) && Number(value) >= 0,
  "a non-negative number",
);

/** Accepts a safe integer that is not negative. */
export const nonNegativeInteger: Validator = createValidator(
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  "a non-negative integer",
);

/** Accepts `true` and `false`. */
export const boolean: Validator = createValidator(
  (value) => typeof value === "boolean",
  "true or false",
);

/** Accepts `null`. */
export const nullValue: Validator = createValidator((value) => value === null, "null");

/** Accepts an object with any members. */
export const object: Validator = createValidator(isJsonObject, "an object");

/** Accepts any value. */
export const anyValue: Validator = (): undefined => undefined;

/** Accepts the given strings. */
export function oneOf(...strings: readonly string[]): Validator {
  const known = new Set<unknown>(strings);
  return createValidator(
    (value) => known.has(value),
    strings.map((each) => `"${each}"`).join(" or "),
  );
}

/** Accepts a value that satisfies either of two validators; the problem is that of the first. */
export function union(first: Validator, second: Validator): Validator {
  return (value) => {
    const problem = first(value);
    return problem === undefined || second(value) === undefined ? undefined : problem;
  };
}

/** Accepts an array of valid items. */
export function array(validateItem: Validator): Validator {
  return (value) => {
    if (!Array.isArray(value)) return " must be an array";
    for (const [index, item] of value.entries()) {
      const problem = validateItem(item);
      if (problem !== undefined) return `[${index}]${problem}`;
    }
    return undefined;
  };
}

/** Accepts an object whose members all satisfy one validator. */
export function record(validateMember: Validator): Validator {
  return (value) => {
    if (!isJsonObject(value)) return object(value);
    for (const [name, member] of Object.entries(value)) {
      const problem = validateMember(member);
      if (problem !== undefined) return `.${name}${problem}`;
    }
    return undefined;
  };
}

/** Accepts an object with required and optional members. */
export function objectWith(
  required: Readonly<Record<string, Validator>>,
  optional: Readonly<Record<string, Validator>> = {},
): Validator {
  const requiredMembers = Object.entries(required);
  const optionalMembers = Object.entries(optional);
  return (value) => {
    if (!isJsonObject(value)) return object(value);
    for (const [name, validate] of requiredMembers) {
      const problem = validate(value[name]);
      if (problem !== undefined) return `.${name}${problem}`;
    }
    for (const [name, validate] of optionalMembers) {
      const problem = value[name] === undefined ? undefined : validate(value[name]);
      if (problem !== undefined) return `.${name}${problem}`;
    }
    return undefined;
  };
}

/** Accepts an object whose member `tag` selects the validator. */
export function discriminatedUnion(
  tag: string,
  validators: Readonly<Record<string, Validator>>,
): Validator {
  const problem = `.${tag}${oneOf(...Object.keys(validators))(undefined)}`;
  return (value) => {
    if (!isJsonObject(value)) return object(value);
    const kind = value[tag];
    if (typeof kind !== "string" || !Object.hasOwn(validators, kind)) return problem;
    return validators[kind]?.(value);
  };
}

/** Accepts an object like `discriminatedUnion()`, and one whose member `tag` is another text. */
export function openUnion(
  tag: string,
  validators: Readonly<Record<string, Validator>>,
): Validator {
  const validateKnown = discriminatedUnion(tag, validators);
  return (value) => {
    const kind = isJsonObject(value) ? value[tag] : undefined;
    const isOther = typeof kind === "string" && !Object.hasOwn(validators, kind);
    return isOther ? undefined : validateKnown(value);
  };
}

function createValidator(isValid: (value: unknown) => boolean, requirement: string): Validator {
  const problem = ` must be ${requirement}`;
  return (value) => isValid(value) ? undefined : problem;
}
