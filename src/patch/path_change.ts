/**
 * The state of a path before and after a run.
 *
 * @module
 */

/** File mode as git writes it: a file, an executable file or a symbolic link. */
export type GitMode = "100644" | "100755" | "120000";

/** A file or link. */
export interface PathState {
  /** Mode of the file or link. */
  readonly mode: GitMode;
  /** Bytes of a file, or the target of a link as UTF-8. */
  readonly content: Uint8Array;
}

/** A changed path. */
export interface PathChange {
  /** Path relative to the root of the work tree, with `/`. */
  readonly path: string;
  /** State before the run; `null` if the path did not exist. */
  readonly before: PathState | null;
  /** Current state; `null` if the path does not exist. */
  readonly after: PathState | null;
}
