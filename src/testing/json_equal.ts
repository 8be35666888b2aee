/**
 * Whether two values are the same as JSON.
 *
 * @module
 */

/** Compares by identity, then as JSON; values that JSON cannot carry are only compared by identity. */
export function isJsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, at) => isJsonEqual(item, right[at]));
  }
  try {
    return JSON.stringify(left) === JSON.stringify(right);
  } catch {
    return false;
  }
}
