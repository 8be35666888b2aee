/**
 * The entries of the change log, and their store.
 *
 * @module
 */

/** An entry of the change log. */
export type ChangeLogEntry =
  | ChangeEntry
  | UntrackedEntry
  | UndoStartEntry
  | UndoneEntry
  | RedoneEntry;

/** A change of one file. Contents are SHA-256 hashes in hexadecimal; `null` if the file does not exist. */
export interface LoggedChange {
  /** Canonical path. */
  readonly path: string;
  /** Content before the change. */
  readonly before: string | null;
  /** Content after the change. */
  readonly after: string | null;
}

/** A change of one file that a turn makes. */
export interface ChangeEntry extends LoggedChange {
  readonly type: "change";
  /** Id of the turn that makes the change. */
  readonly turn: string;
  /** Canonical paths of the directories that are made for the file, the deepest first. */
  readonly madeDirectories: readonly string[];
}

/** A reason why changes of a turn are not recorded. */
export interface UntrackedEntry {
  readonly type: "untracked";
  /** Id of the turn. */
  readonly turn: string;
  /** The reason. */
  readonly reason: string;
}

/** Begins the undo of a turn. If the undo is interrupted, no {@linkcode UndoneEntry} follows. */
export interface UndoStartEntry {
  readonly type: "undo_start";
  /** Id of the turn. */
  readonly turn: string;
}

/** Marks a turn as undone: of its earlier entries, only the changes that failed count. */
export interface UndoneEntry {
  readonly type: "undone";
  /** Id of the turn. */
  readonly turn: string;
  /** The changes that were taken back. The store has the contents before and after them. */
  readonly changes: readonly LoggedChange[];
  /** Canonical paths of the files whose changes could not be taken back, but may be later. */
  readonly failed: readonly string[];
  /** Canonical paths of the directories that the undo made. */
  readonly madeDirectories: readonly string[];
}

/** Marks undone changes as made again. */
export interface RedoneEntry {
  readonly type: "redone";
  /** Id of the turn. */
  readonly turn: string;
  /** Canonical paths of the changed files. */
  readonly paths: readonly string[];
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

/** Whether an entry is a change of a file. */
export function isChange(entry: ChangeLogEntry): entry is ChangeEntry {
  return entry.type === "change";
}
