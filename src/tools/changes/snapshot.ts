/**
 * Snapshots of a work tree, and the changes between two of them.
 *
 * @module
 */

/** A change between two snapshots. */
export interface SnapshotChange {
  /** Path relative to the root, with `/`. */
  readonly path: string;
  /** Content before; `null` if the file did not exist. */
  readonly before: Uint8Array | null;
  /** Content after; `null` if the file does not exist, or a link has taken its place. */
  readonly after: Uint8Array | null;
}

/** Changes between two snapshots. */
export interface SnapshotChanges {
  /** The changes of regular files. */
  readonly changes: readonly SnapshotChange[];
  /**
   * Files that only the later snapshot has, but which are older, such as an ignored file that was moved, or may be made of
   * files that are gone, such as an archive. To remove them would remove their only copy.
   */
  readonly older: readonly string[];
  /**
   * Paths whose change cannot be undone, or not all of it: links, modes, nested repositories and names that are not UTF-8.
   */
  readonly others: readonly string[];
  /** Ignored files, files with secrets, and directories with only such files, in which files changed or which are gone. */
  readonly ignored: readonly string[];
  /** The directories of the earlier snapshot, relative to the root. */
  readonly directories: ReadonlySet<string>;
}

/** A snapshot, or the reason why none was taken this time. */
export type Snapshot =
  | TakenSnapshot
  | { readonly type: "refused"; readonly reason: string };

/** A snapshot. */
export interface TakenSnapshot {
  readonly type: "taken";
  /** Id of its tree. */
  readonly id: string;
  /** When it was taken, by the clock of the file system; `null` when that is not known. */
  readonly time: Date | null;
  /** The files that it leaves out. */
  readonly omitted: OmittedFiles;
  /** Path of a file that is as old as the snapshot. */
  readonly marker: string;
}

/** Paths of files and directories that a snapshot leaves out, relative to the root. */
export interface OmittedFiles {
  /** The files over 20 MB. */
  readonly large: readonly string[];
  /** The directories of nested repositories, from which git would read more than the files of the work tree. */
  readonly repositories: readonly string[];
  /** The other ones: ignored files and those with secrets; directories of only such files end with `/`. */
  readonly ignored: readonly string[];
}
