/**
 * Parses JSON of any origin.
 *
 * @module
 */

/** Parses a text as JSON; `undefined` if it is none. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
