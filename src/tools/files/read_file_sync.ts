/**
 * Synchronous reads of many small files: one open, one read, one close each, without a worker thread.
 *
 * @module
 */

import { getBuiltinModule } from "../../platform/builtin_modules.ts";
import { getDescriptorPath } from "./directory_handle.ts";

/** Size of the reused buffer, which holds nearly every source file. */
const BUFFER_BYTES = 256 * 1024;

let buffer: Uint8Array | undefined;

/** Options for {@linkcode tryReadFileSync}. */
export interface SyncReadOptions {
  /** Maximum size of a file in bytes. */
  readonly maxBytes: number;
  /** Whether to check that the opened file is at the path itself, and not behind a directory replaced by a link. */
  readonly verifyPath: boolean;
}

/**
 * Reads a file; `undefined` when it is too large, missing, unreadable or not a regular file, or fails the check of its
 * path.
 */
export function tryReadFileSync(
  path: string,
  { maxBytes, verifyPath }: SyncReadOptions,
): Uint8Array | undefined {
  const fs = getBuiltinModule("node:fs");
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  let file: number | undefined;
  try {
    // The flags refuse a link and do not block on a pipe in place of the file.
    file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (verifyPath && getDescriptorPath(file) !== path) return undefined;
    buffer ??= new Uint8Array(BUFFER_BYTES);
    const length = fs.readSync(file, buffer, 0, BUFFER_BYTES, null);
    if (length < BUFFER_BYTES) return length <= maxBytes ? buffer.slice(0, length) : undefined;
    return readLargeFile(file, maxBytes);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

function readLargeFile(file: number, maxBytes: number): Uint8Array | undefined {
  const fs = getBuiltinModule("node:fs");
  const stat = fs.fstatSync(file);
  if (!stat.isFile() || stat.size > maxBytes) return undefined;
  const bytes = new Uint8Array(stat.size);
  let length = 0;
  while (length < bytes.length) {
    const read = fs.readSync(file, bytes, length, bytes.length - length, length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}
