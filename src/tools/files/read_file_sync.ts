/**
 * Reading many small files: one open, one read, one close each, without a thread in between.
 *
 * @module
 */

import { getDescriptorPath } from "./directory_handle.ts";
import type { NodeFs } from "./node_fs.ts";

/** Large enough for nearly every source file; kept for the next one. */
const BUFFER_BYTES = 256 * 1024;

let buffer: Uint8Array | undefined;

/** What {@linkcode tryReadFileSync} is told. */
export interface SyncReadOptions {
  /** Larger files are not read. */
  readonly maxBytes: number;
  /** Whether what was opened must lie at the path itself, and not behind a folder that was swapped for a link. */
  readonly verifyPath: boolean;
}

/**
 * Reads a file; `undefined` when it is too large, gone, unreadable, or no regular file, and when it should be verified
 * and cannot be.
 */
export function tryReadFileSync(
  { sync }: NodeFs,
  path: string,
  { maxBytes, verifyPath: verified }: SyncReadOptions,
): Uint8Array | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = sync.constants;
  let file: number | undefined;
  try {
    // Neither follows a link in the file's place nor waits for a pipe in the file's place.
    file = sync.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (verified && getDescriptorPath(file) !== path) return undefined;
    buffer ??= new Uint8Array(BUFFER_BYTES);
    const length = sync.readSync(file, buffer, 0, BUFFER_BYTES, null);
    if (length < BUFFER_BYTES) return length <= maxBytes ? buffer.slice(0, length) : undefined;
    return readLargeFile({ sync, file }, maxBytes);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) sync.closeSync(file);
  }
}

function readLargeFile(
  { sync, file }: Pick<NodeFs, "sync"> & { readonly file: number },
  maxBytes: number,
): Uint8Array | undefined {
  const stat = sync.fstatSync(file);
  if (!stat.isFile() || stat.size > maxBytes) return undefined;
  const bytes = new Uint8Array(stat.size);
  let length = 0;
  while (length < bytes.length) {
    const read = sync.readSync(file, bytes, length, bytes.length - length, length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}
