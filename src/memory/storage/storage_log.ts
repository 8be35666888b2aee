/**
 * The log of one session in a storage.
 *
 * @module
 */

import type { SessionDamage, SessionSummary } from "../../core/sessions/session.ts";
import type { SessionEntry, SessionHeader } from "../../core/sessions/session_entry.ts";
import type { EncodedEntry } from "../store/entry_encoder.ts";
import type { AppendResult, EntryLog } from "../store/entry_log.ts";
import { type DecodedLine, decodeLine } from "../store/jsonl.ts";
import { restoreLines } from "../store/restore_lines.ts";
import { startPauses } from "../store/run_other_tasks.ts";
import { SummaryBuilder } from "../store/summary.ts";
import type { EntryStorage, StoredEntry } from "./entry_storage.ts";
import type { LoadedTree } from "./load_tree.ts";
import type { WriterLease } from "./writer_lease.ts";

/**
 * Number of entries that are read at a time. A storage may block the thread while it reads, as SQLite does for some 30 ms; for
 * one that is elsewhere, each read takes the time of a request.
 */
const READ_BATCH_SIZE = 1_024;

/**
 * Maximum length of the entries of one append, in UTF-16 code units; a single entry may be longer. Databases limit a
 * statement to some hundred megabytes, which the copy of a session with many documents may exceed.
 */
const MAX_APPEND_LENGTH = 64 * 1024 * 1024;

/** Options for {@linkcode StorageLog}. */
export interface StorageLogOptions extends LoadedTree {
  /** The storage. */
  readonly storage: EntryStorage;
  /** The header. */
  readonly header: SessionHeader;
  /** The summary of the stored entries. */
  readonly summary: SessionSummary;
  /** The lease of the writer. Default: none; the log is read-only. */
  readonly lease?: WriterLease | undefined;
}

/** A log in a storage. */
export class StorageLog implements EntryLog {
  readonly #options: StorageLogOptions;
  #summary: SessionSummary;
  #nextPosition: number;

  constructor(options: StorageLogOptions) {
    this.#options = options;
    this.#summary = options.summary;
    this.#nextPosition = options.nextPosition;
  }

  async append(entries: readonly EncodedEntry[]): Promise<AppendResult> {
    let kept = 0;
    while (kept < entries.length) {
      const part = entries.slice(kept, findPartEnd(entries, kept));
      const { error } = await this.#appendPart(part);
      if (error !== undefined) return { kept, error };
      kept += part.length;
    }
    return { kept };
  }

  async #appendPart(entries: readonly EncodedEntry[]): Promise<AppendResult> {
    const { storage, header, positions, lease } = this.#options;
    const position = this.#nextPosition;
    const stored = entries.map(toStoredEntry);
    try {
      if (this.#summary.problem !== undefined) this.#summary = await this.#rebuildSummary();
      const builder = new SummaryBuilder(this.#summary);
      for (const { entry } of entries) builder.add(entry);
      const summary = builder.build(0);
      await lease?.use((token) =>
        storage.append(header.id, { header, entries: stored, position, summary, token })
      );
      this.#summary = summary;
    } catch (error) {
      return { kept: 0, error };
    }
    this.#nextPosition += entries.length;
    for (let next = position; next < this.#nextPosition; next++) positions.push(next);
    return { kept: entries.length };
  }

  async sync(): Promise<void> {
    const { storage, header } = this.#options;
    await storage.sync?.(header.id);
  }

  async read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]> {
    const { tree } = this.#options;
    return await restoreLines(
      await this.#readLines(positions),
      (ids) => this.#readLines(ids.map((id) => tree.findPosition(id))),
    );
  }

  locate(position: number): Pick<SessionDamage, "offset" | "length"> {
    return { offset: this.#options.positions[position] ?? -1, length: 0 };
  }

  async close(): Promise<void> {
    await this.#options.lease?.release();
  }

  /** Builds the summary from the stored entries, since the stored summary is damaged. */
  async #rebuildSummary(): Promise<SessionSummary> {
    const { header, positions } = this.#options;
    const builder = SummaryBuilder.from(header);
    for (let from = 0; from < positions.length; from += READ_BATCH_SIZE) {
      const length = Math.min(READ_BATCH_SIZE, positions.length - from);
      const entries = await this.read(Array.from({ length }, (_, index) => from + index));
      for (const entry of entries) if (entry) builder.add(entry);
    }
    return { ...builder.build(0), entries: this.#nextPosition };
  }

  /** Reads lines, many of them some at a time: other tasks run in between. */
  async #readLines(positions: readonly number[]): Promise<readonly DecodedLine[]> {
    const { storage, header } = this.#options;
    const stored = positions.map((position) => this.#options.positions[position] ?? -1);
    const known = [...new Set(stored)].filter((position) => position >= 0)
      .toSorted((left, right) => left - right);
    const lines = new Map<number, DecodedLine>();
    const pause = startPauses();
    for (let from = 0; from < known.length; from += READ_BATCH_SIZE) {
      const batch = known.slice(from, from + READ_BATCH_SIZE);
      const read = await storage.readLines(header.id, batch);
      batch.forEach((position, index) => lines.set(position, decodeLine(read[index] ?? "")));
      if (batch.length === READ_BATCH_SIZE) await pause();
    }
    return stored.map((position) => lines.get(position));
  }
}

/** Returns the position after the last entry of the append that begins at a position. */
function findPartEnd(entries: readonly EncodedEntry[], from: number): number {
  let length = 0;
  const end = entries.findIndex(({ line }, index) => {
    if (index < from) return false;
    length += line.length;
    return index > from && length > MAX_APPEND_LENGTH;
  });
  return end < 0 ? entries.length : end;
}

function toStoredEntry({ entry, line, searchText }: EncodedEntry): StoredEntry {
  const { type, id, parentId, timestamp } = entry;
  return { type, id, parentId, timestamp, line, searchText };
}
