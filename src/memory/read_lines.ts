/**
 * A log as lines, with the place of each.
 *
 * @module
 */

import type { ReadableFile } from "./file_system.ts";

const CHUNK_BYTES = 4 * 1024 * 1024;
const NEWLINE = 10;

/** One line of a log. */
export interface LogLine {
  /** Its bytes, without the end. */
  readonly bytes: Uint8Array;
  /** Where it begins, in bytes. */
  readonly offset: number;
  /** Whether it has an end; only the last line may have none. */
  readonly isEnded: boolean;
}

/** Reads the lines from an offset on, many at a time. */
export async function* readLines(file: ReadableFile, from = 0): AsyncGenerator<LogLine[]> {
  let rest = new Uint8Array();
  let offset = from;
  for (;;) {
    const chunk = await file.read(offset + rest.length, Math.max(CHUNK_BYTES, rest.length));
    const isLast = chunk.length === 0;
    const bytes = joined(rest, chunk);
    const { lines, end } = splitLines(bytes, offset);
    if (lines.length > 0) yield lines;
    rest = bytes.subarray(end);
    offset += end;
    if (!isLast) continue;
    if (rest.length > 0) yield [{ bytes: rest, offset, isEnded: false }];
    return;
  }
}

/** The ended lines of some bytes, and where the last of them ends. */
export function splitLines(bytes: Uint8Array, offset: number): { lines: LogLine[]; end: number } {
  const lines: LogLine[] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    lines.push({ bytes: bytes.subarray(start, end), offset: offset + start, isEnded: true });
    start = end + 1;
  }
  return { lines, end: start };
}

function joined(
  left: Uint8Array<ArrayBuffer>,
  right: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  if (left.length === 0) return right;
  if (right.length === 0) return left;
  const bytes = new Uint8Array(left.length + right.length);
  bytes.set(left);
  bytes.set(right, left.length);
  return bytes;
}
