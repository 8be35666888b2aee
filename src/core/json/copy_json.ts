/**
 * Copies of values of unknown origin.
 *
 * @module
 */

import { toJsonValue } from "./json.ts";

/**
 * Returns a copy of a value as JSON, which shares nothing with it.
 *
 * @throws {TypeError} If the value is not JSON, or is nested too deeply.
 */
export function copyJson<Value>(value: Value): Value {
  const copy = toJsonValue(value);
  if ("problem" in copy) throw new TypeError(copy.problem);
  return copy.value as Value;
}
