/**
 * A log as lines, with the place of each.
 *
 * @module
 */

import type { ReadableFile } from "./file_system.ts";

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** What stands for bytes that are no UTF-8. */
const REPLACEMENT_CHARACTER = "\ufffd";

/** Four times as fast as one that refuses what is no UTF-8. */
const decoder = new TextDecoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true });

/** One line of a log. */
export interface LogLine {
  /** Its text, without the end; `undefined` where it is no UTF-8. */
  readonly text: string | undefined;
  /** Its length in bytes, without the end. */
  readonly length: number;
  /** Where it begins, in bytes. */
  readonly offset: number;
  /** Whether it has an end; only the last line may have none. */
  readonly isTerminated: boolean;
}

/** Reads the lines from an offset on, many at a time. */
export async function* readLines(file: ReadableFile, from = 0): AsyncGenerator<LogLine[]> {
  let rest: Uint8Array<ArrayBuffer> = new Uint8Array();
  let offset = from;
  for (;;) {
    const chunk = await file.read(offset + rest.length, Math.max(CHUNK_BYTES, rest.length));
    const bytes = concatBytes(rest, chunk);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end > 0) yield splitLines(bytes.subarray(0, end), offset);
    rest = bytes.subarray(end);
    offset += end;
    if (chunk.length > 0) continue;
    if (rest.length > 0) yield splitLines(rest, offset);
    return;
  }
}

/** The lines of some bytes; the last one may have no end. */
export function splitLines(bytes: Uint8Array, offset: number): LogLine[] {
  const whole = decoder.decode(bytes);
  // One line that is no UTF-8 does not spoil the others.
  const texts = whole.includes(REPLACEMENT_CHARACTER) ? undefined : whole.split("\n");
  const isAscii = whole.length === bytes.length;
  const lines: LogLine[] = [];
  let start = 0;
  while (start < bytes.length) {
    const known = texts?.[lines.length];
    const end = isAscii && known !== undefined ? start + known.length : findLineEnd(bytes, start);
    const text = texts ? known : decodeStrict(bytes.subarray(start, end));
    lines.push({
      text,
      offset: offset + start,
      length: end - start,
      isTerminated: end < bytes.length,
    });
    start = end + 1;
  }
  return lines;
}

function findLineEnd(bytes: Uint8Array, start: number): number {
  const newline = bytes.indexOf(NEWLINE, start);
  return newline < 0 ? bytes.length : newline;
}

function decodeStrict(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function concatBytes(
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
