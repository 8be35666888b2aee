/**
 * Shapes of JSON values, to check what came over the network before it is believed.
 *
 * @module
 */

import { isJsonObject } from "../../src/core/json.ts";

/**
 * Says what is wrong with a value, beginning with the path to it (`.model.modelId must be a text`); `undefined` when
 * nothing is. Members that a shape does not name are not looked at.
 */
export type Validator = (value: unknown) => string | undefined;

/** Any text. */
export const string: Validator = createValidator((value) => typeof value === "string", "be a text");

/** A text that says something. */
export const nonEmptyString: Validator = createValidator(
  (value) => typeof value === "string" && value !== "",
  "be a text that is not empty",
);

/** A finite number. */
export const number: Validator = createValidator(Number.isFinite, "be a number");

/** An amount: a finite number from zero on. */
export const nonNegativeNumber: Validator = createValidator(
  (value) => Number.isFinite(value) && Number(value) >= 0,
  "be a number from 0 on",
);

/** A count: a whole number from zero on. */
export const nonNegativeInteger: Validator = createValidator(
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  "be a whole number from 0 on",
);

/** `true` or `false`. */
export const boolean: Validator = createValidator(
  (value) => typeof value === "boolean",
  "be true or false",
);

/** An object with any members. */
export const object: Validator = createValidator(isJsonObject, "be an object");

/** Whatever JSON can say. */
export const anyValue: Validator = createValidator(() => true, "be there");

/** One of some words. */
export function oneOf(...words: readonly string[]): Validator {
  const known = new Set<unknown>(words);
  return createValidator(
    (value) => known.has(value),
    `be ${words.map((each) => `"${each}"`).join(" or ")}`,
  );
}

/** Either of two shapes. */
export function union(one: Validator, other: Validator): Validator {
  return (value) => {
    const problem = one(value);
    return problem === undefined || other(value) === undefined ? undefined : problem;
  };
}

/** A list. */
export function array(of: Validator): Validator {
  return (value) => {
    if (!Array.isArray(value)) return " must be a list";
    for (const [index, item] of value.entries()) {
      const problem = of(item);
      if (problem !== undefined) return `[${index}]${problem}`;
    }
    return undefined;
  };
}

/** An object whose members all have one shape. */
export function record(of: Validator): Validator {
  return (value) => {
    if (!isJsonObject(value)) return object(value);
    for (const [member, item] of Object.entries(value)) {
      const problem = of(item);
      if (problem !== undefined) return `.${member}${problem}`;
    }
    return undefined;
  };
}

/** An object with members that must be there, and others that may. */
export function objectWith(
  required: Readonly<Record<string, Validator>>,
  optional: Readonly<Record<string, Validator>> = {},
): Validator {
  const must = Object.entries(required);
  const may = Object.entries(optional);
  return (value) => {
    if (!isJsonObject(value)) return object(value);
    for (const [member, shape] of must) {
      const problem = shape(value[member]);
      if (problem !== undefined) return `.${member}${problem}`;
    }
    for (const [member, shape] of may) {
      const problem = value[member] === undefined ? undefined : shape(value[member]);
      if (problem !== undefined) return `.${member}${problem}`;
    }
    return undefined;
  };
}

/** An object whose shape depends on one of its members. */
export function discriminatedUnion(
  tag: string,
  shapes: Readonly<Record<string, Validator>>,
): Validator {
  const problem = `.${tag}${oneOf(...Object.keys(shapes))(undefined)}`;
  return (value) => {
    if (!isJsonObject(value)) return object(value);
    const kind = value[tag];
    if (typeof kind !== "string" || !Object.hasOwn(shapes, kind)) return problem;
    return shapes[kind]?.(value);
  };
}

function createValidator(holds: (value: unknown) => boolean, what: string): Validator {
  const problem = ` must ${what}`;
  return (value) => holds(value) ? undefined : problem;
}
