/**
 * The diff of a file as data.
 *
 * @module
 */

/** A line of a hunk, without its mark and its line break. */
export interface DiffLine {
  /** Kind of line. `note`: git's `\ No newline at end of file`. */
  readonly type: "context" | "added" | "removed" | "note";
  /** The text. */
  readonly text: string;
}

/** Adjacent changes of a file with the lines around them. */
export interface DiffHunk {
  /** Number of the first line before the change, from 1. */
  readonly beforeStart: number;
  /** Number of the first line after the change, from 1. */
  readonly afterStart: number;
  /** Text behind the second `@@`, such as the name of the function. */
  readonly section: string;
  /** The lines. */
  readonly lines: readonly DiffLine[];
}

/** The change of a file. */
export interface FileDiff {
  /** Path after the change; before it, if the file is deleted. */
  readonly path: string;
  /** Path before the change, if the file is renamed. */
  readonly previousPath?: string;
  /** Kind of change. */
  readonly kind: "changed" | "created" | "deleted" | "renamed" | "copied";
  /** Changes that lines do not show, such as `mode 100644 to 100755` or `binary file`. */
  readonly notes: readonly string[];
  /** The hunks, in order. */
  readonly hunks: readonly DiffHunk[];
}

/** Order of the lines: removed above added, or next to each other. */
export type DiffLayout = "unified" | "side_by_side";
