/**
 * Keywords of a schema that are not checked.
 *
 * @module
 */

/** A keyword that is not checked, or a part of a schema that is no schema. */
export interface IgnoredKeyword {
  /** JSON Pointer to it in the schema. */
  readonly path: string;
  /** Whether its value violates the standard (`invalid`) or checking it is not supported (`unsupported`). */
  readonly problem: "invalid" | "unsupported";
  /** The reason, as a fragment: `must be a number`. */
  readonly message: string;
}
