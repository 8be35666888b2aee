/**
 * Reading many small files: one open, one read, one close each, without a thread in between.
 *
 * @module
 */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Large enough for nearly every source file; kept for the next one. */
const BUFFER_BYTES = 256 * 1024;

let buffer: Uint8Array | undefined;

/** Never follows a link in the file's place, never waits for a pipe in the file's place. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads a file; `undefined` when it is larger than `maxBytes`, gone, unreadable, or no regular file. */
export function readQuickly(path: string, maxBytes: number): Uint8Array | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, FLAGS);
    buffer ??= new Uint8Array(BUFFER_BYTES);
    const length = readSync(file, buffer, 0, BUFFER_BYTES, null);
    if (length < BUFFER_BYTES) return length <= maxBytes ? buffer.slice(0, length) : undefined;
    return readLarge(file, maxBytes);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readLarge(file: number, maxBytes: number): Uint8Array | undefined {
  const stat = fstatSync(file);
  if (!stat.isFile() || stat.size > maxBytes) return undefined;
  const bytes = new Uint8Array(stat.size);
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(file, bytes, length, bytes.length - length, length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}
