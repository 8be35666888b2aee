/**
 * The log of one session as a file of JSON lines. Lines are appended; nothing that was written changes.
 *
 * @module
 */

import type { SessionDamage } from "../../core/sessions/session.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import type { WriterLock } from "../lock/writer_lock.ts";
import type { EncodedEntry } from "../store/entry_encoder.ts";
import type { AppendResult, EntryLog } from "../store/entry_log.ts";
import { restoreLines } from "../store/restore_lines.ts";
import { SummaryBuilder } from "../store/summary.ts";
import type { FileSystem } from "./file_system.ts";
import { type IndexedPart, IndexWriter } from "./index_writer.ts";
import type { LogFileState } from "./log_file_state.ts";
import { LogReader } from "./log_reader.ts";
import type { LogState } from "./log_scanner.ts";
import { LogWriter, type LogWriteResult } from "./log_writer.ts";
import type { SessionPaths } from "./session_paths.ts";

const encoder = new TextEncoder();

/** Options for {@linkcode FileLog}. */
export interface FileLogOptions {
  /** The file system. */
  readonly files: FileSystem;
  /** Paths of the session. */
  readonly paths: SessionPaths;
  /** Content of the log. The session shares its tree and adds entries to it. */
  readonly state: LogState;
  /** State of the log file. */
  readonly file: LogFileState;
  /** The part of the log that its index has. Default: none; the index is rewritten. */
  readonly indexed?: IndexedPart | undefined;
  /** The lock of the writer. Default: none; the log is read-only. */
  readonly lock?: WriterLock | undefined;
}

/** A log in a file. The file is created or opened on first use. */
export class FileLog implements EntryLog {
  readonly #files: FileSystem;
  readonly #paths: SessionPaths;
  readonly #state: LogState;
  readonly #summary: SummaryBuilder;
  readonly #lock: WriterLock | undefined;
  readonly #writer: LogWriter;
  readonly #reader: LogReader;
  readonly #index: IndexWriter;
  #isIndexOutdated = false;
  /** Size of the part of the file whose entries have offsets, in bytes. */
  #size: number;

  constructor({ files, paths, state, file, indexed, lock }: FileLogOptions) {
    this.#files = files;
    this.#paths = paths;
    this.#state = state;
    this.#summary = new SummaryBuilder(state.summary);
    this.#size = state.summary.bytes;
    this.#lock = lock;
    this.#writer = new LogWriter({ files, paths, header: state.header, state: file });
    this.#reader = new LogReader(files, paths.log, state.offsets);
    this.#index = new IndexWriter(files, paths, { size: state.summary.bytes, indexed });
  }

  async append(entries: readonly EncodedEntry[]): Promise<AppendResult> {
    const lines = entries.map(({ line }) => encoder.encode(line + "\n"));
    const { offsets, error } = await this.#write(lines);
    offsets.forEach((offset, number) => {
      const encoded = entries[number];
      const line = lines[number];
      if (!encoded || !line) return;
      this.#state.offsets.add(offset, line.length - 1);
      this.#summary.add(encoded.entry);
    });
    this.#size = this.#writer.size;
    this.#isIndexOutdated ||= offsets.length > 0;
    return { kept: offsets.length, error };
  }

  async sync(): Promise<void> {
    await this.#writer.sync();
    if (this.#index.isDue(this.#size)) await this.#writeIndex();
  }

  async read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]> {
    const lines = await this.#reader.read(positions);
    return await restoreLines(
      lines,
      (sources) => this.#reader.read(sources.map((id) => this.#state.tree.findPosition(id))),
    );
  }

  locate(position: number): Pick<SessionDamage, "offset" | "length"> {
    const { offsets } = this.#state;
    return { offset: offsets.offsetAt(position), length: offsets.lengthAt(position) };
  }

  async close(): Promise<void> {
    try {
      // A flush may still write the index, which the next owner of the lock may write, or delete.
      await this.#index.finish();
      if (this.#isIndexOutdated && this.#lock?.isHeld()) await this.#writeIndex();
    } finally {
      this.#writer.close();
      this.#lock?.release();
    }
  }

  /**
   * Writes the entries of a new session. If they cannot be written, there is no session, since it would lack some of them.
   *
   * @throws The error of the write.
   */
  async writeFirst(entries: readonly EncodedEntry[]): Promise<void> {
    try {
      const { error } = await this.append(entries);
      if (error !== undefined) throw error;
      await this.sync();
    } catch (error) {
      this.#discard();
      throw error;
    }
  }

  /** Removes the file; that of another program, or of the next owner of the lock, stays. */
  #discard(): void {
    this.#writer.close();
    try {
      this.#assertWritable();
      this.#writer.assertUnchanged();
      this.#files.remove(this.#paths.log);
    } catch {
      // The error of the write is reported.
    }
  }

  async #write(lines: readonly Uint8Array<ArrayBuffer>[]): Promise<LogWriteResult> {
    try {
      this.#assertWritable();
      await this.#writer.open();
      // Opens the file again if a sync has closed it meanwhile.
      return await this.#writer.append(lines);
    } catch (error) {
      return { offsets: [], error };
    }
  }

  #assertWritable(): void {
    if (this.#lock?.isHeld()) return;
    // With the directory, the lock is deleted too.
    if (this.#writer.isDeleted()) this.#writer.assertUnchanged();
    this.#lock?.assertHeld();
  }

  async #writeIndex(): Promise<void> {
    this.#isIndexOutdated = false;
    const summary = this.#summary.build(this.#size);
    await this.#index.write({ ...this.#state, summary });
  }
}
