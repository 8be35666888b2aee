/**
 * What a tool does to a file, as a value: shown before approval, kept after the act.
 *
 * @module
 */

/** One file before and after a change. */
export interface FileChange {
  /** Path of the file, as the tool was given it. */
  readonly path: string;
  /** The text before; `null` when there was no file. */
  readonly before: string | null;
  /** The text after; `null` when the file goes away. */
  readonly after: string | null;
  /** The change as a unified diff, where the tool made one. */
  readonly diff?: string;
}
