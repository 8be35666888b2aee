/**
 * Synchronous reads of many small files: one open, one status, one read, one close each, without a worker thread. A
 * regular file cannot block them, and everything else is refused.
 *
 * @module
 */

import { getBuiltinModule } from "./builtin_modules.ts";
import { getDescriptorPath } from "./descriptor_path.ts";
import { system } from "./system.ts";
import { getReadFlags } from "./untrusted_file.ts";

/** Maximum size of a small file, which is read within a millisecond. */
export const MAX_SMALL_FILE_BYTES: number = 1024 * 1024;

/** Options for {@linkcode readSmallFile}. */
export interface SmallFileOptions {
  /** Maximum size of the file in bytes. Default and upper bound: {@linkcode MAX_SMALL_FILE_BYTES}. */
  readonly maxBytes?: number;
  /** Whether to check that the opened file is at the path itself, and not behind a directory replaced by a link. */
  readonly verifyPath: boolean;
  /**
   * Memory for the content, which is then valid until the next read into it. A file that does not fit gets new memory.
   * Default: new memory, which the system clears: that takes as long as reading a file several times.
   */
  readonly buffer?: Uint8Array | undefined;
}

/**
 * Reads a file that another program could have made; `undefined` when it is too large, missing, unreadable, a link or
 * not a regular file, or fails the check of its path.
 */
export function readSmallFile(
  path: string,
  { maxBytes = MAX_SMALL_FILE_BYTES, verifyPath, buffer }: SmallFileOptions,
): Uint8Array | undefined {
  const fs = getBuiltinModule("node:fs");
  let file: number | undefined;
  try {
    file = fs.openSync(path, getReadFlags());
    if (verifyPath && !isAtPath(file, path)) return undefined;
    const stat = fs.fstatSync(file);
    if (!stat.isFile() || stat.size > Math.min(maxBytes, MAX_SMALL_FILE_BYTES)) return undefined;
    const fits = buffer !== undefined && stat.size <= buffer.length;
    const bytes = fits ? buffer.subarray(0, stat.size) : new Uint8Array(stat.size);
    let length = 0;
    while (length < bytes.length) {
      const read = fs.readSync(file, bytes, length, bytes.length - length, length);
      if (read === 0) break;
      length += read;
    }
    return length === bytes.length ? bytes : bytes.subarray(0, length);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

function isAtPath(descriptor: number, path: string): boolean {
  const actual = getDescriptorPath(descriptor);
  return actual === undefined ? system.realPathSync(path) === path : actual === path;
}
