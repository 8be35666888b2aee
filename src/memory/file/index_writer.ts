/**
 * Keeps the index of an open log up to date.
 *
 * @module
 */

import { encodeIndex } from "./file_index.ts";
import type { FileSystem } from "./file_system.ts";
import type { LogState } from "./log_scanner.ts";
import { writeAll } from "./log_writer.ts";
import type { SessionPaths } from "./session_paths.ts";

/** Growth of a log after which its index is written, in bytes. */
const INDEX_INTERVAL_BYTES = 1024 * 1024;

/** The part of a log that its index has. */
export interface IndexedPart {
  /** Number of entries. */
  readonly entries: number;
  /** Number of damaged lines. */
  readonly damage: number;
}

/** State of an index file. `outdated`: the next write replaces the file. */
type IndexState =
  | { readonly type: "outdated" }
  | { readonly type: "valid"; readonly indexed: IndexedPart };

/** Writes the index of an open log. The index is a cache: a failed write is repaired by a later one. */
export class IndexWriter {
  readonly #files: FileSystem;
  readonly #paths: SessionPaths;
  #state: IndexState;
  /** Size of the log when the index was written, in bytes. */
  #writtenAt: number;
  /** The write that is under way. Another one at the same time would append the same entries. */
  #pendingWrite: Promise<void> | undefined;

  constructor(
    files: FileSystem,
    paths: SessionPaths,
    log: { readonly size: number; readonly indexed: IndexedPart | undefined },
  ) {
    this.#files = files;
    this.#paths = paths;
    const { size, indexed } = log;
    this.#state = indexed ? { type: "valid", indexed } : { type: "outdated" };
    this.#writtenAt = indexed ? size : 0;
  }

  /** Whether a log of this size, in bytes, has grown enough for its index to be written, and it is not being written. */
  isDue(size: number): boolean {
    return !this.#pendingWrite && size - this.#writtenAt > INDEX_INTERVAL_BYTES;
  }

  /** Appends the missing entries to the index, or replaces it if it is outdated. Never rejects. */
  async write(log: LogState): Promise<void> {
    while (this.#pendingWrite) await this.#pendingWrite;
    this.#pendingWrite = this.#write(log);
    await this.#pendingWrite;
    this.#pendingWrite = undefined;
  }

  /** Resolves when the write that is under way has ended. Never rejects. */
  async finish(): Promise<void> {
    await this.#pendingWrite;
  }

  async #write(log: LogState): Promise<void> {
    try {
      const { modified } = this.#files.stat(this.#paths.log) ?? { modified: 0 };
      const { entries: from, damage: damageFrom } = this.#state.type === "valid"
        ? this.#state.indexed
        : { entries: 0, damage: 0 };
      const text = encodeIndex({ state: log, from, damageFrom, modified });
      // The log may grow while the index is written.
      const indexed = { entries: log.offsets.count, damage: log.damage.length };
      if (this.#state.type === "valid") await appendText(this.#files, this.#paths.index, text);
      else await this.#files.replace(this.#paths.index, text, { sync: false });
      this.#state = { type: "valid", indexed };
      this.#writtenAt = log.summary.bytes;
    } catch {
      this.#state = { type: "outdated" };
    }
  }
}

async function appendText(files: FileSystem, path: string, text: string): Promise<void> {
  const file = await files.openToAppend(path);
  try {
    const { error } = await writeAll(file, new TextEncoder().encode(text));
    if (error !== undefined) throw error;
  } finally {
    file.close();
  }
}
