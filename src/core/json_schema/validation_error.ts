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
