/**
 * Compares values as JSON.
 *
 * @module
 */

/** Whether two values are identical or serialize to the same JSON. Values that cannot be serialized are equal only if identical. */
export function isJsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length &&
      left.every((item, index) => isJsonEqual(item, right[index]));
  }
  try {
    return JSON.stringify(left) === JSON.stringify(right);
  } catch {
    return false;
  }
}
