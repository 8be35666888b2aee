/**
 * Splits a log into lines with their offsets.
 *
 * @module
 */

import { concatBytes } from "./bytes.ts";
import type { ReadableFile } from "./file_system.ts";

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** Character with which a decoder replaces invalid UTF-8. */
const REPLACEMENT_CHARACTER = "\ufffd";

/** Replaces invalid UTF-8, which is four times as fast as rejecting it. */
const decoder = new TextDecoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true });

/** One line of a log. */
export interface LogLine {
  /** Text without the newline; `undefined` if it is not valid UTF-8. */
  readonly text: string | undefined;
  /** Length without the newline, in bytes. */
  readonly length: number;
  /** Offset in the file, in bytes. */
  readonly offset: number;
  /** Whether it ends with a newline; only the last line may have none. */
  readonly isTerminated: boolean;
}

/** Reads the lines that begin at or after an offset, in batches. */
export async function* readLines(file: ReadableFile, from = 0): AsyncGenerator<LogLine[]> {
  let remainder: Uint8Array<ArrayBuffer> = new Uint8Array();
  let offset = from;
  for (;;) {
    const chunk = await file.read(
      offset + remainder.length,
      Math.max(CHUNK_BYTES, remainder.length),
    );
    const bytes = concatBytes([remainder, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end > 0) yield splitLines(bytes.subarray(0, end), offset);
    remainder = bytes.subarray(end);
    offset += end;
    if (chunk.length > 0) continue;
    if (remainder.length > 0) yield splitLines(remainder, offset);
    return;
  }
}

/** Splits bytes that begin at an offset of the file into lines. */
export function splitLines(bytes: Uint8Array, offset: number): LogLine[] {
  const decoded = decoder.decode(bytes);
  // With invalid UTF-8 in one line, each line is decoded separately.
  const texts = decoded.includes(REPLACEMENT_CHARACTER) ? undefined : decoded.split("\n");
  const isAscii = decoded.length === bytes.length;
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
