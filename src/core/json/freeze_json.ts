/**
 * Freezes JSON values.
 *
 * @module
 */

/** Freezes a value of JSON and all that it contains, which must not be nested too deeply; returns it. */
export function freezeJson<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) freezeJson(member);
  return Object.freeze(value);
}
