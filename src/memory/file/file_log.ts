/**
 * The log of one session as a file of JSON lines, to which lines are appended and nothing else is ever done.
 *
 * @module
 */

import type { SessionDamage } from "../../core/session.ts";
import type { SessionEntry, SessionHeader } from "../../core/session_entry.ts";
import type { AppendOutcome, EntryLog } from "../store/entry_log.ts";
import { lockLost } from "../store/failure.ts";
import { encodeIndex } from "./file_index.ts";
import type { FileSystem, GrowingFile, ReadableFile } from "./file_system.ts";
import { JournalEchoes } from "../store/journal_echo.ts";
import {
  type DecodedLine,
  decodeLine,
  encodeEntry,
  encodeHeader,
  fillEchoes,
} from "../store/jsonl.ts";
import type { LinePlaces } from "./line_places.ts";
import type { KnownLog } from "./log_scan.ts";
import { linesIn } from "./read_lines.ts";
import type { SessionTree } from "../store/session_tree.ts";
import { SummaryDraft } from "../store/summary.ts";
import type { WriterLock } from "./writer_lock.ts";

/** So much of a log may be missing in its index before the index is written, in bytes. */
const INDEX_EVERY_BYTES = 1024 * 1024;
/** Lines that stand closer than this are read together, in bytes. */
const READ_TOGETHER_BYTES = 16 * 1024;
/** So much is read at a time, in bytes; a single line may be longer. */
const READ_AT_MOST_BYTES = 1024 * 1024;

/** The files of one session. */
export interface SessionPaths {
  /** The folder of all sessions. */
  readonly folder: string;
  /** The log. */
  readonly log: string;
  /** Its side index. */
  readonly index: string;
  /** The lock of its writer. */
  readonly lock: string;
}

/** What a {@linkcode FileLog} is made of. */
export interface FileLogParts {
  /** The disk. */
  readonly files: FileSystem;
  /** Where the session is. */
  readonly paths: SessionPaths;
  /** What the log holds; shared with the session, which adds to the tree. */
  readonly known: KnownLog;
  /** Whether there is no file yet. */
  readonly isNew: boolean;
  /** Whether the header is still to be written, because there is none that can be read. */
  readonly needsHeader: boolean;
  /** Whether the last line of the file has no end. */
  readonly endsOpen: boolean;
  /** How many entries the index holds; 0 when it is to be made anew. */
  readonly indexed: number;
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
  readonly #places: LinePlaces;
  readonly #damage: SessionDamage[];
  readonly #summary: SummaryDraft;
  readonly #lock: WriterLock | undefined;
  readonly #echoes = new JournalEchoes();
  #isNew: boolean;
  #isFolderSynced: boolean;
  #needsHeader: boolean;
  #endsOpen: boolean;
  #bytes: number;
  #indexed: number;
  #indexedDamage: number;
  #indexedBytes: number;
  #growing: GrowingFile | undefined;
  #readable: ReadableFile | undefined;

  /** Opens the log; the file itself is opened when it is needed. */
  constructor(parts: FileLogParts) {
    this.#files = parts.files;
    this.#paths = parts.paths;
    this.#header = parts.known.header;
    this.#tree = parts.known.tree;
    this.#places = parts.known.places;
    this.#damage = parts.known.damage;
    this.#summary = new SummaryDraft(parts.known.summary);
    this.#lock = parts.lock;
    this.#isNew = parts.isNew;
    this.#isFolderSynced = !parts.isNew;
    this.#needsHeader = parts.needsHeader;
    this.#endsOpen = parts.endsOpen;
    this.#bytes = parts.known.summary.bytes;
    this.#indexed = parts.indexed;
    this.#indexedDamage = parts.indexedDamage;
    this.#indexedBytes = parts.indexed === 0 ? 0 : this.#bytes;
  }

  async append(entries: readonly SessionEntry[]): Promise<AppendOutcome> {
    try {
      this.#mustBeOurs();
      this.#growing ??= await this.#open();
    } catch (error) {
      return { kept: 0, error };
    }
    const text = new TextEncoder();
    const prefix = text.encode(this.#prefix());
    const lines = entries.map((entry) =>
      text.encode(encodeEntry(entry, this.#echoes.take(entry)) + "\n")
    );
    const { written, error } = await writeAll(this.#growing, concatenated([prefix, ...lines]));
    const kept = this.#account(entries, { prefix, lines, written });
    this.#echoes.forget(entries.slice(kept));
    return { kept, error };
  }

  async sync(): Promise<void> {
    if (!this.#growing) return;
    await this.#growing.sync();
    if (!this.#isFolderSynced) await this.#files.syncFolder(this.#paths.folder);
    this.#isFolderSynced = true;
    if (this.#bytes - this.#indexedBytes > INDEX_EVERY_BYTES) await this.#writeIndex();
  }

  async read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]> {
    const lines = await this.#readLines(positions);
    return await fillEchoes(
      lines,
      (sources) => this.#readLines(sources.map((id) => this.#tree.positionOf(id))),
    );
  }

  async close(): Promise<void> {
    try {
      if (this.#growing && this.#lock?.isHeld()) await this.#writeIndex();
    } finally {
      this.#growing?.close();
      this.#readable?.close();
      this.#growing = undefined;
      this.#readable = undefined;
      this.#lock?.release();
    }
  }

  /** A new file comes into being with its header in it, so that there is no moment at which it is empty. */
  async #open(): Promise<GrowingFile> {
    if (this.#isNew) {
      const header = encodeHeader(this.#header) + "\n";
      await this.#files.replace(this.#paths.log, header, { sync: true });
      this.#bytes = new TextEncoder().encode(header).length;
      this.#isNew = false;
      this.#needsHeader = false;
    }
    return await this.#files.openToAppend(this.#paths.log);
  }

  #mustBeOurs(): void {
    if (!this.#lock || this.#lock.isHeld()) return;
    throw lockLost(this.#header.id, this.#lock.successor());
  }

  /** What must stand before the next line. */
  #prefix(): string {
    const end = this.#endsOpen ? "\n" : "";
    return this.#needsHeader ? `${end}${encodeHeader(this.#header)}\n` : end;
  }

  /** Takes note of what went into the file, and says how many entries did. */
  #account(
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
      this.#places.add(this.#bytes + end, line.length - 1);
      end += line.length;
      kept++;
    }
    if (written >= prefix.length) this.#needsHeader = false;
    this.#endsOpen = written > 0 ? written !== end : this.#endsOpen;
    this.#bytes += written;
    return kept;
  }

  /** Reads lines, those that stand close to each other together. */
  async #readLines(positions: readonly number[]): Promise<DecodedLine[]> {
    if (positions.length === 0) return [];
    this.#readable ??= await this.#files.openToRead(this.#paths.log);
    const lines: DecodedLine[] = [];
    for (let from = 0; from < positions.length;) {
      const to = endOfGroup(this.#places, positions, from);
      const group = positions.slice(from, to);
      for (const line of await readGroup(this.#readable, this.#places, group)) lines.push(line);
      from = to;
    }
    return lines;
  }

  /** Brings the index up to date. It is a cache: when it cannot be written, it is made anew later. */
  async #writeIndex(): Promise<void> {
    try {
      const { modified } = this.#files.facts(this.#paths.log) ?? { modified: 0 };
      const known: KnownLog = {
        header: this.#header,
        tree: this.#tree,
        places: this.#places,
        damage: this.#damage,
        summary: this.#summary.finish(this.#bytes),
      };
      const from = this.#indexed;
      const text = encodeIndex({ known, from, damageFrom: this.#indexedDamage, modified });
      if (from === 0) await this.#files.replace(this.#paths.index, text, { sync: false });
      else await appendText(this.#files, this.#paths.index, text);
      this.#indexed = this.#places.count;
      this.#indexedDamage = this.#damage.length;
      this.#indexedBytes = this.#bytes;
    } catch {
      this.#indexed = 0;
      this.#indexedDamage = 0;
    }
  }
}

/** How far the lines stand close to each other, counted from the first of them. */
function endOfGroup(places: LinePlaces, positions: readonly number[], from: number): number {
  const start = places.offsetAt(positions[from] ?? -1);
  let to = from + 1;
  while (to < positions.length) {
    const [before = -1, next = -1] = [positions[to - 1], positions[to]];
    const gap = places.offsetAt(next) - places.endAt(before);
    const isNear = gap >= 0 && gap <= READ_TOGETHER_BYTES &&
      places.endAt(next) - start <= READ_AT_MOST_BYTES;
    if (!isNear) break;
    to++;
  }
  return to;
}

async function readGroup(
  file: ReadableFile,
  places: LinePlaces,
  group: readonly number[],
): Promise<DecodedLine[]> {
  const first = places.offsetAt(group[0] ?? -1);
  if (first < 0) return group.map(() => undefined);
  const length = places.endAt(group.at(-1) ?? -1) - first;
  const lines = linesIn(await file.read(first, length), first);
  let next = 0;
  return group.map((position) => {
    while ((lines[next]?.offset ?? Infinity) < places.offsetAt(position)) next++;
    // One that is broken was changed by somebody else since it was indexed.
    return decodeLine(lines[next]?.text ?? "");
  });
}

/** Writes until everything is written or the disk refuses, and says how much was. */
async function writeAll(
  file: GrowingFile,
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

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
