/**
 * Patterns of ignore files.
 *
 * @module
 */

/** Returns the pattern for one path; characters that a pattern cannot express match any. */
export function toIgnorePattern(path: string): string {
  return `/${path.replace(/[\\*?[\]\s!#]/g, "\\$&").replace(/\\?\n|\ufffd+/g, "*")}`;
}
