/**
 * The entries of the change log, and their store.
 *
 * @module
 */

/** A change of one file. Contents are SHA-256 hashes in hexadecimal; `null` if the file does not exist. */
export interface ChangeLogEntry {
  /** Id of the turn that made the change. */
  readonly turn: string;
  /** Canonical path. Empty in an entry that is not about one file. */
  readonly path: string;
  /** Content before the change. */
  readonly before: string | null;
  /** Content after the change. */
  readonly after: string | null;
  /** Canonical paths of the directories that were made for the file, the deepest first. Default: none. */
  readonly madeDirectories?: readonly string[];
  /** Reason why changes of the turn are not recorded. Such an entry has no path. */
  readonly reason?: string;
  /** Whether an undo of the turn begins: if it was interrupted, no mark follows. Such an entry has no path. */
  readonly isUndoStart?: boolean;
  /** Changes that an undo took back. An entry with none of the other properties marks its turn as undone. */
  readonly undone?: readonly UndoneChange[];
  /** Paths of undone changes that were made again. Such an entry has no path. */
  readonly redone?: readonly string[];
}

/** A change of one file in a turn that was undone. Contents are as in a {@linkcode ChangeLogEntry}, and in the store. */
export interface UndoneChange {
  /** Canonical path. */
  readonly path: string;
  /** Content before the turn, which the undo restored. */
  readonly before: string | null;
  /** Content after the turn. */
  readonly after: string | null;
}

/** Storage of a `ChangeLog`. */
export interface ChangeLogStore {
  /** Saves a content under its hash. Idempotent. */
  saveContent(hash: string, content: Uint8Array): Promise<void>;
  /** Reads the content of a hash; `undefined` if it was not saved. */
  readContent(hash: string): Promise<Uint8Array | undefined>;
  /** Appends an entry. */
  append(entry: ChangeLogEntry): Promise<void>;
  /** Reads all entries in the order they were appended. */
  entries(): Promise<readonly ChangeLogEntry[]>;
}

/** Path of an entry that is not about one file. */
const NO_PATH = "";

/** An entry that is not about one file, without its turn. */
export const NO_CHANGE = { path: NO_PATH, before: null, after: null } as const;

/** Whether an entry is a change of a file. */
export function isChange({ path }: ChangeLogEntry): boolean {
  return path !== NO_PATH;
}

/** Whether an entry marks its turn as undone. */
export function isUndoMark({ path, reason, redone, isUndoStart }: ChangeLogEntry): boolean {
  return path === NO_PATH && reason === undefined && redone === undefined && !isUndoStart;
}
