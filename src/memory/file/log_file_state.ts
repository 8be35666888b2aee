/**
 * The states of a log file, and the transitions between them.
 *
 * ```text
 * missing ─ create ─> closed ─ open ─> open ─ append, sync ─> open ─ close ─> closed
 * ```
 *
 * @module
 */

import type { AppendableFile, FileInfo } from "./file_system.ts";

/** Text that the file lacks and that must be written before the next entry. */
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
  /** Identity of the file; `null` if it is not known. */
  readonly inode: number | null;
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

/** An append of a prefix with the missing text, and of lines. */
export interface LogAppend {
  /** Ends of the prefix and of each line with its newline, relative to the size before the append, in bytes. */
  readonly ends: readonly number[];
  /** Number of bytes that were written. */
  readonly written: number;
}

/** Creates the tail of a log file of `size` bytes. */
export function createLogTail(
  size: number,
  { hasHeader, isTerminated }: { readonly hasHeader: boolean; readonly isTerminated: boolean },
): LogTail {
  if (hasHeader) return { size, missing: isTerminated ? "nothing" : "newline" };
  return { size, missing: isTerminated ? "header" : "newline_and_header" };
}

/** Returns the state of a file that was loaded. */
export function toLoadedState(tail: LogTail, inode: number | null): ClosedLogFile {
  return { type: "closed", tail, inode, directory: "synced" };
}

/** Returns the state of a file that was created with a header of `headerLength` bytes. */
export function toCreatedState(headerLength: number): ClosedLogFile {
  return {
    type: "closed",
    tail: { size: headerLength, missing: "nothing" },
    inode: null,
    directory: "unsynced",
  };
}

/** Returns the state after the file was opened. */
export function toOpenState({ tail, directory }: ClosedLogFile, file: AppendableFile): OpenLogFile {
  return { type: "open", tail, inode: file.stat().inode, directory, file };
}

/** Returns the state after a complete or partial append. */
export function toAppendedState(state: OpenLogFile, { ends, written }: LogAppend): OpenLogFile {
  const { size, missing } = state.tail;
  if (written === 0) return state;
  const hasHeader = missing === "nothing" || missing === "newline" || written >= (ends[0] ?? 0);
  // Searched from the end, since most appends are complete.
  const isTerminated = ends.lastIndexOf(written) >= 0;
  return { ...state, tail: createLogTail(size + written, { hasHeader, isTerminated }) };
}

/**
 * Returns the offsets of the lines that were written completely; `size` is that of the file before the append, in
 * bytes.
 */
export function getWrittenOffsets({ ends, written }: LogAppend, size: number): number[] {
  const offsets: number[] = [];
  for (let line = 1; line < ends.length; line++) {
    // A line that lacks only its newline is complete: a reader accepts it.
    if ((ends[line] ?? Infinity) - 1 > written) break;
    offsets.push(size + (ends[line - 1] ?? 0));
  }
  return offsets;
}

/** Returns the state after the file and its directory were synced. */
export function toSyncedState(state: OpenLogFile): OpenLogFile {
  return { ...state, directory: "synced" };
}

/** Returns the state after the file was closed. */
export function toClosedState({ tail, inode, directory }: OpenLogFile): ClosedLogFile {
  return { type: "closed", tail, inode, directory };
}

/** A change of a file by another program; `changed`: it has another size. */
export type LogChange = "deleted" | "replaced" | "changed";

/** How a file differs from its last known state; `undefined` if it does not. */
export function findChange(
  { tail, inode }: ClosedLogFile | OpenLogFile,
  current: FileInfo | undefined,
): LogChange | undefined {
  if (!current) return "deleted";
  if (inode !== null && current.inode !== inode) return "replaced";
  return current.size === tail.size ? undefined : "changed";
}
