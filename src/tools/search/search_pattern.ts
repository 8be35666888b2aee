/**
 * The pattern of a search.
 *
 * @module
 */

/** A pattern as a tool call gives it. */
export interface SearchPattern {
  /** The regular expression. */
  readonly source: string;
  /** Whether to ignore case. */
  readonly ignoreCase: boolean;
  /** Whether a match may span lines. */
  readonly multiline: boolean;
}
