/**
 * A path before and after a run, as a value.
 *
 * @module
 */

/** What git tells apart: a file, a file that can be run, a symbolic link. */
export type GitMode = "100644" | "100755" | "120000";

/** What is at a path. */
export interface PathState {
  /** Its kind, as git writes it. */
  readonly mode: GitMode;
  /** The bytes of a file; the target of a link. */
  readonly content: Uint8Array;
}

/** A path whose state changed; `null` stands for nothing. */
export interface PathChange {
  /** The path, with `/`. */
  readonly path: string;
  /** What was there. */
  readonly before: PathState | null;
  /** What is there now. */
  readonly after: PathState | null;
}
