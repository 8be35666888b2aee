/**
 * The log of one session as a file of JSON lines, to which lines are appended and nothing else is ever done.
 *
 * @module
 */

import type { SessionDamage } from "../../core/session.ts";
import type { SessionEntry, SessionHeader } from "../../core/session_entry.ts";
import type { AppendResult, EntryLog } from "../store/entry_log.ts";
import { createLockLostError } from "../store/session_errors.ts";
import { encodeIndex } from "./file_index.ts";
import type { AppendableFile, FileSystem, ReadableFile } from "./file_system.ts";
import { JournalDeduplicator } from "../store/journal_deduplicator.ts";
import {
  type DecodedLine,
  decodeLine,
  encodeEntry,
  encodeHeader,
  restoreDuplicates,
} from "../store/jsonl.ts";
import type { LineOffsets } from "./line_offsets.ts";
import type { LogState } from "./log_scanner.ts";
import { splitLines } from "./read_lines.ts";
import type { SessionTree } from "../store/session_tree.ts";
import { SummaryBuilder } from "../store/summary.ts";
import type { WriterLock } from "./writer_lock.ts";

/** So much of a log may be missing in its index before the index is written, in bytes. */
const INDEX_INTERVAL_BYTES = 1024 * 1024;
/** Lines that stand closer than this are read together, in bytes. */
const MAX_GAP_BYTES = 16 * 1024;
/** So much is read at a time, in bytes; a single line may be longer. */
const MAX_READ_BYTES = 1024 * 1024;

/** The files of one session. */
export interface SessionPaths {
  /** The folder of all sessions. */
  readonly directory: string;
  /** The log. */
  readonly log: string;
  /** Its side index. */
  readonly index: string;
  /** The lock of its writer. */
  readonly lock: string;
}

/** What a {@linkcode FileLog} is made of. */
export interface FileLogOptions {
  /** The disk. */
  readonly files: FileSystem;
  /** Where the session is. */
  readonly paths: SessionPaths;
  /** What the log holds; shared with the session, which adds to the tree. */
  readonly state: LogState;
  /** Whether there is no file yet. */
  readonly isNew: boolean;
  /** Whether the header is still to be written, because there is none that can be read. */
  readonly needsHeader: boolean;
  /** Whether the last line of the file has no end. */
  readonly lacksNewline: boolean;
  /** How many entries the index holds; 0 when it is to be made anew. */
  readonly indexedEntries: number;
  /** How much damage the index holds. */
  readonly indexedDamage: number;
  /** The right to write; without it the log is only read. */
  readonly lock?: WriterLock;
}

/** A log in a file. */
export class FileLog implements EntryLog {
  readonly #files: FileSystem;
  readonly #paths: SessionPaths;
  readonly #header: SessionHeader;
  readonly #tree: SessionTree;
  readonly #offsets: LineOffsets;
  readonly #damage: SessionDamage[];
  readonly #summary: SummaryBuilder;
  readonly #lock: WriterLock | undefined;
  readonly #deduplicator = new JournalDeduplicator();
  #isNew: boolean;
  #isDirectorySynced: boolean;
  #needsHeader: boolean;
  #lacksNewline: boolean;
  #bytes: number;
  #indexedEntries: number;
  #indexedDamage: number;
  #indexedBytes: number;
  #appendHandle: AppendableFile | undefined;
  #readHandle: ReadableFile | undefined;

  /** Opens the log; the file itself is opened when it is needed. */
  constructor(parts: FileLogOptions) {
    this.#files = parts.files;
    this.#paths = parts.paths;
    this.#header = parts.state.header;
    this.#tree = parts.state.tree;
    this.#offsets = parts.state.offsets;
    this.#damage = parts.state.damage;
    this.#summary = new SummaryBuilder(parts.state.summary);
    this.#lock = parts.lock;
    this.#isNew = parts.isNew;
    this.#isDirectorySynced = !parts.isNew;
    this.#needsHeader = parts.needsHeader;
    this.#lacksNewline = parts.lacksNewline;
    this.#bytes = parts.state.summary.bytes;
    this.#indexedEntries = parts.indexedEntries;
    this.#indexedDamage = parts.indexedDamage;
    this.#indexedBytes = parts.indexedEntries === 0 ? 0 : this.#bytes;
  }

  async append(entries: readonly SessionEntry[]): Promise<AppendResult> {
    try {
      this.#assertLockHeld();
      this.#appendHandle ??= await this.#openForAppend();
    } catch (error) {
      return { kept: 0, error };
    }
    const text = new TextEncoder();
    const prefix = text.encode(this.#createPrefix());
    const lines = entries.map((entry) =>
      text.encode(encodeEntry(entry, this.#deduplicator.findOriginal(entry)) + "\n")
    );
    const { written, error } = await writeAll(this.#appendHandle, concatBytes([prefix, ...lines]));
    const kept = this.#recordWrite(entries, { prefix, lines, written });
    this.#deduplicator.forget(entries.slice(kept));
    return { kept, error };
  }

  async sync(): Promise<void> {
    if (!this.#appendHandle) return;
    await this.#appendHandle.sync();
    if (!this.#isDirectorySynced) await this.#files.syncDirectory(this.#paths.directory);
    this.#isDirectorySynced = true;
    if (this.#bytes - this.#indexedBytes > INDEX_INTERVAL_BYTES) await this.#writeIndex();
  }

  async read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]> {
    const lines = await this.#readLines(positions);
    return await restoreDuplicates(
      lines,
      (sources) => this.#readLines(sources.map((id) => this.#tree.positionOf(id))),
    );
  }

  async close(): Promise<void> {
    try {
      if (this.#appendHandle && this.#lock?.isHeld()) await this.#writeIndex();
    } finally {
      this.#appendHandle?.close();
      this.#readHandle?.close();
      this.#appendHandle = undefined;
      this.#readHandle = undefined;
      this.#lock?.release();
    }
  }

  /** A new file comes into being with its header in it, so that there is no moment at which it is empty. */
  async #openForAppend(): Promise<AppendableFile> {
    if (this.#isNew) {
      const header = encodeHeader(this.#header) + "\n";
      await this.#files.replace(this.#paths.log, header, { sync: true });
      this.#bytes = new TextEncoder().encode(header).length;
      this.#isNew = false;
      this.#needsHeader = false;
    }
    return await this.#files.openToAppend(this.#paths.log);
  }

  #assertLockHeld(): void {
    if (!this.#lock || this.#lock.isHeld()) return;
    throw createLockLostError(this.#header.id, this.#lock.currentOwner());
  }

  /** What must stand before the next line. */
  #createPrefix(): string {
    const end = this.#lacksNewline ? "\n" : "";
    return this.#needsHeader ? `${end}${encodeHeader(this.#header)}\n` : end;
  }

  /** Takes note of what went into the file, and says how many entries did. */
  #recordWrite(
    entries: readonly SessionEntry[],
    { prefix, lines, written }: {
      readonly prefix: Uint8Array;
      readonly lines: readonly Uint8Array[];
      readonly written: number;
    },
  ): number {
    let end = prefix.length;
    let kept = 0;
    for (const line of lines) {
      // A line that lacks nothing but its end is read as whole.
      if (end + line.length - 1 > written) break;
      const entry = entries[kept];
      if (entry) this.#summary.add(entry);
      this.#offsets.add(this.#bytes + end, line.length - 1);
      end += line.length;
      kept++;
    }
    if (written >= prefix.length) this.#needsHeader = false;
    this.#lacksNewline = written > 0 ? written !== end : this.#lacksNewline;
    this.#bytes += written;
    return kept;
  }

  /** Reads lines, those that stand close to each other together. */
  async #readLines(positions: readonly number[]): Promise<DecodedLine[]> {
    if (positions.length === 0) return [];
    this.#readHandle ??= await this.#files.openToRead(this.#paths.log);
    const lines: DecodedLine[] = [];
    for (let from = 0; from < positions.length;) {
      const to = findGroupEnd(this.#offsets, positions, from);
      const group = positions.slice(from, to);
      for (const line of await readGroup(this.#readHandle, this.#offsets, group)) lines.push(line);
      from = to;
    }
    return lines;
  }

  /** Brings the index up to date. It is a cache: when it cannot be written, it is made anew later. */
  async #writeIndex(): Promise<void> {
    try {
      const { modified } = this.#files.stat(this.#paths.log) ?? { modified: 0 };
      const known: LogState = {
        header: this.#header,
        tree: this.#tree,
        offsets: this.#offsets,
        damage: this.#damage,
        summary: this.#summary.build(this.#bytes),
      };
      const from = this.#indexedEntries;
      const text = encodeIndex({ state: known, from, damageFrom: this.#indexedDamage, modified });
      if (from === 0) await this.#files.replace(this.#paths.index, text, { sync: false });
      else await appendText(this.#files, this.#paths.index, text);
      this.#indexedEntries = this.#offsets.count;
      this.#indexedDamage = this.#damage.length;
      this.#indexedBytes = this.#bytes;
    } catch {
      this.#indexedEntries = 0;
      this.#indexedDamage = 0;
    }
  }
}

/** How far the lines stand close to each other, counted from the first of them. */
function findGroupEnd(places: LineOffsets, positions: readonly number[], from: number): number {
  const start = places.offsetAt(positions[from] ?? -1);
  let to = from + 1;
  while (to < positions.length) {
    const [before = -1, next = -1] = [positions[to - 1], positions[to]];
    const gap = places.offsetAt(next) - places.endAt(before);
    const isNear = gap >= 0 && gap <= MAX_GAP_BYTES &&
      places.endAt(next) - start <= MAX_READ_BYTES;
    if (!isNear) break;
    to++;
  }
  return to;
}

async function readGroup(
  file: ReadableFile,
  places: LineOffsets,
  group: readonly number[],
): Promise<DecodedLine[]> {
  const first = places.offsetAt(group[0] ?? -1);
  if (first < 0) return group.map(() => undefined);
  const length = places.endAt(group.at(-1) ?? -1) - first;
  const lines = splitLines(await file.read(first, length), first);
  let next = 0;
  return group.map((position) => {
    while ((lines[next]?.offset ?? Infinity) < places.offsetAt(position)) next++;
    // One that is broken was changed by somebody else since it was indexed.
    return decodeLine(lines[next]?.text ?? "");
  });
}

/** Writes until everything is written or the disk refuses, and says how much was. */
async function writeAll(
  file: AppendableFile,
  bytes: Uint8Array,
): Promise<{ written: number; error?: unknown }> {
  let written = 0;
  try {
    while (written < bytes.length) written += await file.write(bytes.subarray(written));
    return { written };
  } catch (error) {
    return { written, error };
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

function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
