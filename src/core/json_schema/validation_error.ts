/**
 * Violations of schemas.
 *
 * @module
 */

/** A violation of a schema. */
export interface ValidationError {
  /** JSON Pointer to the invalid value; empty for the root. */
  readonly path: string;
  /** The expectation that failed, such as `"must be string"`. */
  readonly message: string;
}

/** Escapes a key for a JSON Pointer (RFC 6901). */
export function escapeKey(key: string | number): string {
  return String(key).replaceAll("~", "~0").replaceAll("/", "~1");
}
