import { assertEquals } from "@std/assert";
import { isJsonEqual } from "./json_equal.ts";

const cycle = (): unknown => {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
};
const same = cycle();
const date = new Date(0);

const EQUAL: readonly (readonly [string, unknown, unknown])[] = [
  ["equal texts", "a", "a"],
  ["two undefined values", undefined, undefined],
  ["objects in another order", { a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }],
  ["members that are undefined and missing", { a: 1, b: undefined }, { a: 1 }],
  ["missing members and others that are undefined", { a: 1 }, { a: 1, b: undefined }],
  ["a number that JSON cannot have and null", NaN, null],
  ["an object and its toJSON() result", { at: date }, { at: date.toJSON() }],
  ["identical values that cannot be serialized", same, same],
];

const DIFFERENT: readonly (readonly [string, unknown, unknown])[] = [
  ["a text and a number", "1", 1],
  ["lists of different lengths", [1], [1, 2]],
  ["a longer list and a shorter one", [1, 2], [1]],
  ["lists in another order", [1, 2], [2, 1]],
  ["a list and an object", [1], { 0: 1 }],
  ["objects with another value", { a: 1 }, { a: 2 }],
  ["objects with another name", { a: 1 }, { b: 1 }],
  ["an object with a further member", { a: 1 }, { a: 1, b: 2 }],
  ["an object with a missing member", { a: 1, b: 2 }, { a: 1 }],
  ["an inherited member", { constructor: Object }, { a: 1 }],
  ["null and an object", null, {}],
  ["equal values that cannot be serialized", cycle(), cycle()],
  ["values with a BigInt", [1n, 2], [2n, 2]],
];

for (const [name, left, right] of EQUAL) {
  Deno.test(`isJsonEqual() is true for ${name}`, () =>
    assertEquals(isJsonEqual(left, right), true));
}

for (const [name, left, right] of DIFFERENT) {
  Deno.test(`isJsonEqual() is false for ${name}`, () =>
    assertEquals(isJsonEqual(left, right), false));
}
