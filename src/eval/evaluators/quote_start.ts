/**
 * Expected values in reasons.
 *
 * @module
 */

/** Characters of a value. */
const MAX_LENGTH = 200;

/** Returns a value as JSON, of a long one the start. */
export function quoteStart(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length > MAX_LENGTH ? `${json.slice(0, MAX_LENGTH).toWellFormed()}…` : json;
}
