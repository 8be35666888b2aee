/**
 * The file operations that sessions need.
 *
 * Listing reads the metadata of thousands of files, where synchronous calls are five times as fast. Operations
 * that run while an agent works are asynchronous.
 *
 * @module
 */

import type { LockFileInfo, LockStorage } from "../lock/lock_storage.ts";

/** Metadata of a file. */
export interface FileInfo extends LockFileInfo {
  /** Size in bytes. */
  readonly size: number;
}

/** A file open for appending. */
export interface AppendableFile {
  /** Appends some or all of the bytes; resolves to the number of bytes written. */
  write(bytes: Uint8Array): Promise<number>;
  /** Resolves when everything written would survive a power failure. */
  sync(): Promise<void>;
  /** Reads the metadata. */
  stat(): FileInfo;
  /** Closes the file. */
  close(): void;
}

/** A file open for reading at any offset. */
export interface ReadableFile {
  /** Reads up to `length` bytes from an offset; fewer at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Reads the metadata. */
  stat(): FileInfo;
  /** Closes the file. */
  close(): void;
}

/** The file operations that sessions need. Paths are joined with `/`. Every method may throw the system's errors. */
export interface FileSystem extends LockStorage {
  /** Names of the entries of a directory; empty when it does not exist. */
  listDirectory(path: string): string[];
  /** Reads the metadata of a file; `undefined` when it does not exist. */
  stat(path: string): FileInfo | undefined;
  /** Reads at most `length` bytes from the end of a file. */
  readEnd(path: string, length: number): Uint8Array<ArrayBuffer>;
  /** Opens a file for reading at any offset. */
  openToRead(path: string): Promise<ReadableFile>;
  /** Opens an existing file for appending. */
  openToAppend(path: string): Promise<AppendableFile>;
  /**
   * Replaces or creates a file atomically: writes a temporary file in the same directory and renames it. With
   * `sync` the content survives a power failure.
   */
  replace(path: string, text: string, options: { readonly sync: boolean }): Promise<void>;
  /** Copies a file. */
  copy(from: string, to: string): Promise<void>;
  /** Resolves when the names in a directory would survive a power failure, where the system supports it. */
  syncDirectory(path: string): Promise<void>;
}
