/**
 * Compares values as JSON.
 *
 * @module
 */

import { isJsonObject } from "./json.ts";

/**
 * Whether two values are identical or serialize to the same JSON, in any order of properties. Values that cannot be
 * serialized are equal only if identical.
 */
export function isJsonEqual(left: unknown, right: unknown): boolean {
  try {
    return areEqual(left, right);
  } catch {
    return false;
  }
}

function areEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length &&
      left.every((item, index) => areEqual(item, right[index]));
  }
  if (isPlainData(left) && isPlainData(right)) {
    const names = Object.keys(left).filter((name) => left[name] !== undefined);
    return names.length === Object.values(right).filter((value) => value !== undefined).length &&
      names.every((name) => Object.hasOwn(right, name) && areEqual(left[name], right[name]));
  }
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Whether a value is an object that serializes as its properties. */
function isPlainData(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && typeof value["toJSON"] !== "function";
}
