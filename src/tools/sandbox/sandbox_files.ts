/**
 * The file system as tools see it.
 *
 * @module
 */

import type { FileAccess } from "../files/file_rules.ts";
import type { EntryKind } from "../files/file_stat.ts";

/** An entry of a directory. */
export interface DirectoryEntry {
  /** Name without the path. */
  readonly name: string;
  /** Kind of the entry. */
  readonly kind: EntryKind;
}

/**
 * The files of a sandbox. Paths are absolute or relative to the root; every method but `toDisplayPath()` rejects with
 * a `BadRequestError` when a path may not be used.
 */
export interface SandboxFiles {
  /** Resolves a path to its canonical form. */
  resolve(path: string, access: FileAccess): Promise<string>;
  /** Formats a canonical path for display: relative, with `/`, if it is below the root. */
  toDisplayPath(path: string): string;
  /** Reads a file; `undefined` when it does not exist. @throws {BadRequestError} When it has more than `maxBytes`. */
  readIfExists(
    path: string,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array | undefined>;
  /**
   * Writes a file atomically and creates missing directories.
   *
   * @param options `mode` sets the permission bits of a new file; an existing file keeps its mode. `signal` cancels a write
   * that waits for something, such as an editor.
   */
  write(
    path: string,
    bytes: Uint8Array,
    options?: { readonly mode?: number; readonly signal?: AbortSignal },
  ): Promise<void>;
  /** Removes a file; does nothing when it does not exist. */
  remove(path: string): Promise<void>;
  /** Removes a directory and returns `true`; does nothing and returns `false` unless it exists and is empty. */
  removeDirectory?(path: string): Promise<boolean>;
  /** Lists a directory, sorted by name, without protected entries. */
  readDirectory(path: string): Promise<DirectoryEntry[]>;
  /** Returns the kind of an entry; `undefined` when it does not exist. */
  getKind(path: string): Promise<EntryKind | undefined>;
}
