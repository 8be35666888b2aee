/**
 * Finds out what a log holds: from its index where that is up to date, from its lines where it is not.
 *
 * @module
 */

import { SessionError } from "../../core/errors.ts";
import type { SessionEntry } from "../../core/session_entry.ts";
import { decodeIndex, encodeIndex, isUpToDate } from "./file_index.ts";
import type { SessionPaths } from "./file_log.ts";
import type { FileFacts, FileSystem, ReadableFile } from "./file_system.ts";
import { SESSION_VERSION } from "../store/jsonl.ts";
import { type KnownLog, LogScan } from "./log_scan.ts";
import { readLines } from "./read_lines.ts";

const NEWLINE = 10;

/** What a log holds, and how much of that its index knew. */
export interface LearntLog {
  /** What it holds. */
  readonly known: KnownLog;
  /** Entries that were read on the way, each at its position in the tree. */
  readonly entries: readonly (SessionEntry | undefined)[];
  /** Version of its format. */
  readonly version: number;
  /** Whether it has a header that can be read. */
  readonly hasHeader: boolean;
  /** Whether its last line has no end. */
  readonly endsOpen: boolean;
  /** How many entries its index holds; 0 when the index is to be made anew. */
  readonly indexed: number;
  /** How much damage its index holds. */
  readonly indexedDamage: number;
}

type IndexedLog = KnownLog & { readonly modified: number };

/**
 * Learns what a log holds.
 *
 * @throws {SessionError} With the reason `not_a_session` when the file is empty, or `newer_version`.
 */
export async function learnLog(
  files: FileSystem,
  paths: SessionPaths,
  { id, log }: { readonly id: string; readonly log: FileFacts },
): Promise<LearntLog> {
  if (log.bytes === 0) {
    throw new SessionError(`The file of the session "${id}" is empty: delete it`, {
      reason: "not_a_session",
    });
  }
  const file = await files.openToRead(paths.log);
  try {
    const index = await readIndex(files, paths, file);
    if (index && isUpToDate(index, log)) return await fromIndex(index, file, log);
    const known = index && index.summary.bytes < log.bytes ? index : undefined;
    return await fromLines(file, { id, created: log.modified, known });
  } finally {
    file.close();
  }
}

/** Writes the index of a log that nobody is writing to. It is a cache: it may fail. */
export async function saveIndex(
  files: FileSystem,
  paths: SessionPaths,
  { known, version, hasHeader, endsOpen }: LearntLog,
): Promise<void> {
  if (!hasHeader || endsOpen || version !== SESSION_VERSION || files.facts(paths.lock)) return;
  const log = files.facts(paths.log);
  if (log?.bytes !== known.summary.bytes) return;
  const text = encodeIndex({ known, from: 0, damageFrom: 0, modified: log.modified });
  await files.replace(paths.index, text, { sync: false }).catch(() => {});
}

async function readIndex(
  files: FileSystem,
  paths: SessionPaths,
  log: ReadableFile,
): Promise<IndexedLog | undefined> {
  try {
    const facts = files.facts(paths.index);
    if (!facts) return undefined;
    const text = new TextDecoder().decode(files.readEnd(paths.index, facts.bytes));
    const index = decodeIndex(text);
    return index && await isIndexOf(index, log) ? index : undefined;
  } catch {
    return undefined; // it is a cache
  }
}

/** Looks at the last entry that an index knows: it must stand where the index says. */
async function isIndexOf(index: IndexedLog, log: ReadableFile): Promise<boolean> {
  const { places, tree: { nodes } } = index;
  const node = nodes.at(-1);
  if (!node) return false;
  const last = places.count - 1;
  const line = await log.read(places.offsetAt(last), places.lengthAt(last) + 1);
  if (line.at(-1) !== NEWLINE) return false;
  return new TextDecoder().decode(line).includes(`"timestamp":${node.timestamp}`);
}

async function fromIndex(
  index: IndexedLog,
  file: ReadableFile,
  log: FileFacts,
): Promise<LearntLog> {
  const [last] = await file.read(log.bytes - 1, 1);
  return {
    known: index,
    entries: [],
    version: SESSION_VERSION,
    hasHeader: true,
    endsOpen: last !== NEWLINE,
    indexed: index.tree.nodes.length,
    indexedDamage: index.damage.length,
  };
}

async function fromLines(
  file: ReadableFile,
  { id, created, known }: {
    readonly id: string;
    readonly created: number;
    readonly known: KnownLog | undefined;
  },
): Promise<LearntLog> {
  const indexed = known?.tree.nodes.length ?? 0;
  const indexedDamage = known?.damage.length ?? 0;
  const scan = new LogScan({ id, created, known });
  for await (const lines of readLines(file, known?.summary.bytes)) {
    for (const line of lines) scan.take(line);
  }
  const { entries, version, hasHeader, endsOpen } = scan;
  return { known: scan.known, entries, version, hasHeader, endsOpen, indexed, indexedDamage };
}
