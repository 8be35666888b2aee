/**
 * The state of a log file that is written to, and its transitions.
 *
 * ```text
 * missing ─ create ─> closed ─ open ─> open ─ append, sync ─> open ─ close ─> closed
 * ```
 *
 * @module
 */

import type { AppendableFile } from "./file_system.ts";

/** Text that must precede the next entry, because the file lacks it. */
export type MissingText = "nothing" | "newline" | "header" | "newline_and_header";

/** The end of an existing log file. */
export interface LogTail {
  /** Size of the file, in bytes. */
  readonly size: number;
  /**
   * `newline`: the last line is not terminated. `header`: the file has no readable header, and the next line
   * will be one.
   */
  readonly missing: MissingText;
}

/** State of an existing log file. */
interface ExistingLogFile {
  readonly tail: LogTail;
  /** `unsynced`: the file was created by this process, and a power failure may lose its name. */
  readonly directory: "synced" | "unsynced";
}

/** A log file that exists and is not open for writing. */
export interface ClosedLogFile extends ExistingLogFile {
  readonly type: "closed";
}

/** A log file that is open for writing. */
export interface OpenLogFile extends ExistingLogFile {
  readonly type: "open";
  readonly file: AppendableFile;
}

/** State of a log file. `missing`: the file will be created, with its header, before the first append. */
export type LogFileState = { readonly type: "missing" } | ClosedLogFile | OpenLogFile;

/** An append: a prefix with the missing text, and lines. */
export interface LogAppend {
  /** Length of the prefix, in bytes. */
  readonly prefixLength: number;
  /** Lengths of the lines with their newlines, in bytes. */
  readonly lineLengths: readonly number[];
  /** How much of both was written, in bytes. */
  readonly written: number;
}

/** Describes the end of a log file from two facts about it. */
export function createLogTail(
  size: number,
  { hasHeader, isTerminated }: { readonly hasHeader: boolean; readonly isTerminated: boolean },
): LogTail {
  if (hasHeader) return { size, missing: isTerminated ? "nothing" : "newline" };
  return { size, missing: isTerminated ? "header" : "newline_and_header" };
}

/** The file exists and was loaded. */
export function toLoadedState(tail: LogTail): ClosedLogFile {
  return { type: "closed", tail, directory: "synced" };
}

/** The file was created with a header of `headerLength` bytes. */
export function toCreatedState(headerLength: number): ClosedLogFile {
  return {
    type: "closed",
    tail: { size: headerLength, missing: "nothing" },
    directory: "unsynced",
  };
}

/** The file was opened. */
export function toOpenState({ tail, directory }: ClosedLogFile, file: AppendableFile): OpenLogFile {
  return { type: "open", tail, directory, file };
}

/** Something was appended, possibly only in part. */
export function toAppendedState(state: OpenLogFile, append: LogAppend): OpenLogFile {
  const { size, missing } = state.tail;
  if (append.written === 0) return state;
  const hasHeader = missing === "nothing" || missing === "newline" ||
    append.written >= append.prefixLength;
  const isTerminated = getLineEnds(append).includes(append.written);
  return { ...state, tail: createLogTail(size + append.written, { hasHeader, isTerminated }) };
}

/** Returns the offsets of the lines that were written, relative to the size before the append. */
export function getWrittenOffsets(append: LogAppend): number[] {
  const ends = getLineEnds(append);
  // A line that lacks only its newline is complete: a reader accepts it.
  return ends.slice(0, -1).filter((_, line) => (ends[line + 1] ?? Infinity) - 1 <= append.written);
}

/** The file and its directory were synced. */
export function toSyncedState(state: OpenLogFile): OpenLogFile {
  return { ...state, directory: "synced" };
}

/** The handle was closed. */
export function toClosedState({ tail, directory }: OpenLogFile): ClosedLogFile {
  return { type: "closed", tail, directory };
}

/** Ends of the prefix and of each line, relative to the size before the append, in bytes. */
function getLineEnds({ prefixLength, lineLengths }: LogAppend): number[] {
  let end = prefixLength;
  return [prefixLength, ...lineLengths.map((length) => end += length)];
}
