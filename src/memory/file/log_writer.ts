/**
 * Appends lines to a log file.
 *
 * The file is open from an append to the next sync. Editors and tools that sync files replace them instead of changing
 * them; an open file would then still accept lines, which no later process could read. So the file at the path is compared
 * with the last known state whenever it is opened or synced.
 *
 * @module
 */

import type { SessionHeader } from "../../core/sessions/session_entry.ts";
import { encodeHeader } from "../store/jsonl.ts";
import { createLogChangedError } from "../store/session_errors.ts";
import { concatBytes } from "./bytes.ts";
import type { AppendableFile, FileSystem } from "./file_system.ts";
import {
  findChange,
  getWrittenOffsets,
  type LogChange,
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
  readonly #sessionId: string;
  #state: LogFileState;
  #isAppending = false;
  /** Whether lines were written since the file was last compared with its known state. */
  #isUnchecked = false;
  /** Whether lines were written since the last sync began, which may not have them. */
  #isUnsynced = false;
  /** Number of syncs under way. */
  #syncs = 0;

  constructor({ files, paths, header, state }: LogWriterOptions) {
    this.#files = files;
    this.#paths = paths;
    this.#sessionId = header.id;
    this.#headerLine = encodeHeader(header) + "\n";
    this.#state = state;
  }

  /** Size of the file, in bytes. */
  get size(): number {
    return this.#state.type === "missing" ? 0 : this.#state.tail.size;
  }

  /**
   * Opens the file. A new file is created with its header, so that it is never empty.
   *
   * @throws {SessionError} If another program has changed the file.
   */
  async open(): Promise<OpenLogFile> {
    if (this.#state.type === "open") return this.#state;
    if (this.#state.type === "missing") {
      await this.#files.replace(this.#paths.log, this.#headerLine, { sync: true });
      this.#state = toCreatedState(encoder.encode(this.#headerLine).length);
    }
    this.assertUnchanged();
    const file = await this.#files.openToAppend(this.#paths.log);
    this.#state = toOpenState(this.#state, file);
    return this.#state;
  }

  /** Whether another program has deleted the file. */
  isDeleted(): boolean {
    return this.#state.type !== "missing" && !this.#files.stat(this.#paths.log);
  }

  /**
   * Checks that the file at the path is the one that was loaded or written.
   *
   * @throws {SessionError} If another program has changed it.
   */
  assertUnchanged(): void {
    this.#assertNot("deleted", "replaced", "changed");
  }

  #assertNot(...refused: readonly LogChange[]): void {
    if (this.#state.type === "missing") return;
    const path = this.#paths.log;
    const change = findChange(this.#state, this.#files.stat(path));
    if (change && refused.includes(change)) {
      throw createLogChangedError(this.#sessionId, { path, change });
    }
  }

  /** Appends lines that end with a newline. Rejects only if the file cannot be opened. */
  async append(lines: readonly Uint8Array<ArrayBuffer>[]): Promise<LogWriteResult> {
    // From here on, a sync that ends meanwhile leaves the file open.
    this.#isAppending = true;
    try {
      const state = await this.open();
      const prefix = encoder.encode(this.#createPrefix(state));
      this.#isUnchecked = true;
      const { written, error } = await writeAll(state.file, concatBytes([prefix, ...lines]));
      this.#isUnsynced ||= written > 0;
      const ends = [prefix.length];
      for (const { length } of lines) ends.push((ends.at(-1) ?? 0) + length);
      const append = { ends, written };
      this.#transition((current) => toAppendedState(current, append));
      return { offsets: getWrittenOffsets(append, state.tail.size), error };
    } finally {
      this.#isAppending = false;
    }
  }

  /**
   * Resolves when everything written would survive a power failure, and closes the file. With lines that are written
   * meanwhile, it stays open for the sync that follows them.
   *
   * @throws {SessionError} If another program has changed the file.
   */
  async sync(): Promise<void> {
    if (this.#state.type === "open") await this.#syncFile(this.#state);
    if (!this.#isUnchecked) return;
    // The size is not known while lines are written.
    if (this.#isAppending) return this.#assertNot("deleted", "replaced");
    const isInUse = this.#isUnsynced || this.#syncs > 0;
    if (!isInUse) this.close();
    this.assertUnchanged();
    this.#isUnchecked = isInUse;
  }

  async #syncFile({ file, directory }: OpenLogFile): Promise<void> {
    this.#isUnsynced = false;
    this.#syncs++;
    try {
      await file.sync();
      if (directory === "unsynced") await this.#files.syncDirectory(this.#paths.directory);
      this.#transition(toSyncedState);
    } finally {
      this.#syncs--;
    }
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
