/**
 * The change of a file by a tool, for approvals and the change log.
 *
 * @module
 */

/** The content of a file before and after a change. */
export interface FileChange {
  /** Path of the file, as passed to the tool. */
  readonly path: string;
  /** The text before the change; `null` if the file did not exist. */
  readonly before: string | null;
  /** The text after the change; `null` if the file is deleted. */
  readonly after: string | null;
  /** The change as a unified diff, if the tool created one. */
  readonly diff?: string;
}
