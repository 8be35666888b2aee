/**
 * Appends lines to a log file.
 *
 * @module
 */

import type { SessionHeader } from "../../core/session_entry.ts";
import { encodeHeader } from "../store/jsonl.ts";
import { concatBytes } from "./bytes.ts";
import type { AppendableFile, FileSystem } from "./file_system.ts";
import {
  getWrittenOffsets,
  type LogFileState,
  type OpenLogFile,
  toAppendedState,
  toClosedState,
  toCreatedState,
  toOpenState,
  toSyncedState,
} from "./log_file_state.ts";
import type { SessionPaths } from "./session_paths.ts";

const encoder = new TextEncoder();

/** Options for {@linkcode LogWriter}. */
export interface LogWriterOptions {
  /** The file system. */
  readonly files: FileSystem;
  /** Paths of the session. */
  readonly paths: SessionPaths;
  /** Header to write into a file that has none. */
  readonly header: SessionHeader;
  /** State of the file. */
  readonly state: LogFileState;
}

/** Result of an append. */
export interface LogWriteResult {
  /** Offsets in the file of the lines that were written completely. */
  readonly offsets: readonly number[];
  /** The error, if not all lines were written. */
  readonly error?: unknown;
}

/** Appends lines to a log file, which is created or opened on first use. */
export class LogWriter {
  readonly #files: FileSystem;
  readonly #paths: SessionPaths;
  readonly #headerLine: string;
  #state: LogFileState;

  constructor({ files, paths, header, state }: LogWriterOptions) {
    this.#files = files;
    this.#paths = paths;
    this.#headerLine = encodeHeader(header) + "\n";
    this.#state = state;
  }

  /** Size of the file, in bytes. */
  get size(): number {
    return this.#state.type === "missing" ? 0 : this.#state.tail.size;
  }

  /** Whether the file is open. */
  get isOpen(): boolean {
    return this.#state.type === "open";
  }

  /** Opens the file. A new file is created with its header, so that it is never empty. */
  async open(): Promise<OpenLogFile> {
    if (this.#state.type === "open") return this.#state;
    if (this.#state.type === "missing") {
      await this.#files.replace(this.#paths.log, this.#headerLine, { sync: true });
      this.#state = toCreatedState(encoder.encode(this.#headerLine).length);
    }
    const file = await this.#files.openToAppend(this.#paths.log);
    this.#state = toOpenState(this.#state, file);
    return this.#state;
  }

  /** Appends lines that end with a newline. Rejects only if the file cannot be opened. */
  async append(lines: readonly Uint8Array<ArrayBuffer>[]): Promise<LogWriteResult> {
    const state = this.#state.type === "open" ? this.#state : await this.open();
    const prefix = encoder.encode(this.#createPrefix(state));
    const { written, error } = await writeAll(state.file, concatBytes([prefix, ...lines]));
    const ends = [prefix.length];
    for (const { length } of lines) ends.push((ends.at(-1) ?? 0) + length);
    const append = { ends, written };
    this.#transition((current) => toAppendedState(current, append));
    return { offsets: getWrittenOffsets(append, state.tail.size), error };
  }

  /** Resolves when everything written would survive a power failure. Does nothing while the file is not open. */
  async sync(): Promise<void> {
    if (this.#state.type !== "open") return;
    const { file, directory } = this.#state;
    await file.sync();
    if (directory === "unsynced") await this.#files.syncDirectory(this.#paths.directory);
    this.#transition(toSyncedState);
  }

  /** Closes the file. */
  close(): void {
    if (this.#state.type !== "open") return;
    this.#state.file.close();
    this.#state = toClosedState(this.#state);
  }

  /** Changes the current state, which may differ from that before an `await`: an append and a sync may overlap. */
  #transition(change: (state: OpenLogFile) => OpenLogFile): void {
    if (this.#state.type === "open") this.#state = change(this.#state);
  }

  #createPrefix({ tail: { missing } }: OpenLogFile): string {
    switch (missing) {
      case "nothing":
        return "";
      case "newline":
        return "\n";
      case "header":
        return this.#headerLine;
      case "newline_and_header":
        return `\n${this.#headerLine}`;
    }
  }
}

/** Writes all bytes; resolves to the number of bytes written and the error, if writing fails. */
export async function writeAll(
  file: AppendableFile,
  bytes: Uint8Array,
): Promise<{ readonly written: number; readonly error?: unknown }> {
  let written = 0;
  try {
    while (written < bytes.length) written += await file.write(bytes.subarray(written));
    return { written };
  } catch (error) {
    return { written, error };
  }
}
