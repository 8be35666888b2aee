/**
 * The file operations that locks need.
 *
 * @module
 */

/** Metadata of a lock file. */
export interface LockFileInfo {
  /** Time of the last modification, in milliseconds since the epoch. */
  readonly modified: number;
  /** Identity of the file; `null` where the system has none. */
  readonly inode: number | null;
}

/** A file that one process can lock. The system releases the lock when that process ends, however it ends. */
export interface LockableFile {
  /** Locks the file and replaces its content by a record; returns `false` if another process holds the lock. */
  tryLock(record: string): boolean;
  /** Whether this process still has the lock: where the system has none, another one may have claimed the file, too. */
  isLocked(): boolean;
  /** Reads the content. */
  read(): string;
  /** Sets the modification time, in milliseconds since the epoch. */
  touch(time: number): void;
  /** Reads the metadata. */
  stat(): LockFileInfo;
  /** Closes the file and releases the lock. */
  close(): void;
}

/** The storage of lock files. Paths are joined with `/`. Every method may throw errors of the system. */
export interface LockStorage {
  /** Creates a directory and its parents. */
  makeDirectory(path: string): void;
  /** Reads the metadata of a file; `undefined` if it does not exist. */
  stat(path: string): LockFileInfo | undefined;
  /** Opens a file for locking; creates it if it does not exist. */
  openToLock(path: string): LockableFile;
  /** Renames a file; replaces the target if it exists. */
  rename(from: string, to: string): void;
  /** Removes a file if it exists. */
  remove(path: string): void;
  /** Resolves after a time, in milliseconds. */
  wait(milliseconds: number): Promise<void>;
  /** Id of this process. */
  readonly processId: number;
}
