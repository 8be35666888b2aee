/**
 * Finds out what a log holds: from its index where that is up to date, from its lines where it is not.
 *
 * @module
 */

import { SessionError } from "../../core/errors.ts";
import type { SessionEntry } from "../../core/session_entry.ts";
import { decodeIndex, encodeIndex, isUpToDate } from "./file_index.ts";
import type { SessionPaths } from "./file_log.ts";
import type { FileInfo, FileSystem, ReadableFile } from "./file_system.ts";
import { SESSION_VERSION } from "../store/jsonl.ts";
import { LogScanner, type LogState } from "./log_scanner.ts";
import { readLines } from "./read_lines.ts";

const NEWLINE = 10;

/** What a log holds, and how much of that its index knew. */
export interface LoadedLog {
  /** What it holds. */
  readonly state: LogState;
  /** Entries that were read on the way, each at its position in the tree. */
  readonly entries: readonly (SessionEntry | undefined)[];
  /** Version of its format. */
  readonly version: number;
  /** Whether it has a header that can be read. */
  readonly hasHeader: boolean;
  /** Whether its last line has no end. */
  readonly lacksNewline: boolean;
  /** How many entries its index holds; 0 when the index is to be made anew. */
  readonly indexedEntries: number;
  /** How much damage its index holds. */
  readonly indexedDamage: number;
}

type IndexedLog = LogState & { readonly modified: number };

/**
 * Learns what a log holds.
 *
 * @throws {SessionError} With the reason `not_a_session` when the file is empty, or `newer_version`.
 */
export async function loadLogIndex(
  files: FileSystem,
  paths: SessionPaths,
  { id, log }: { readonly id: string; readonly log: FileInfo },
): Promise<LoadedLog> {
  if (log.size === 0) {
    throw new SessionError(`The file of the session "${id}" is empty: delete it`, {
      reason: "not_a_session",
    });
  }
  const file = await files.openToRead(paths.log);
  try {
    const index = await readIndex(files, paths, file);
    if (index && isUpToDate(index, log)) return await loadFromIndex(index, file, log);
    const known = index && index.summary.bytes < log.size ? index : undefined;
    return await loadFromLines(file, { id, created: log.modified, known });
  } finally {
    file.close();
  }
}

/** Writes the index of a log that nobody is writing to. It is a cache: it may fail. */
export async function saveIndex(
  files: FileSystem,
  paths: SessionPaths,
  { state: known, version, hasHeader, lacksNewline: endsOpen }: LoadedLog,
): Promise<void> {
  if (!hasHeader || endsOpen || version !== SESSION_VERSION || files.stat(paths.lock)) return;
  const log = files.stat(paths.log);
  if (log?.size !== known.summary.bytes) return;
  const text = encodeIndex({ state: known, from: 0, damageFrom: 0, modified: log.modified });
  await files.replace(paths.index, text, { sync: false }).catch(() => {});
}

async function readIndex(
  files: FileSystem,
  paths: SessionPaths,
  log: ReadableFile,
): Promise<IndexedLog | undefined> {
  try {
    const facts = files.stat(paths.index);
    if (!facts) return undefined;
    const text = new TextDecoder().decode(files.readEnd(paths.index, facts.size));
    const index = decodeIndex(text);
    return index && await matchesLog(index, log) ? index : undefined;
  } catch {
    return undefined; // it is a cache
  }
}

/** Looks at the last entry that an index knows: it must stand where the index says. */
async function matchesLog(index: IndexedLog, log: ReadableFile): Promise<boolean> {
  const { offsets: places, tree: { nodes } } = index;
  const node = nodes.at(-1);
  if (!node) return false;
  const last = places.count - 1;
  const line = await log.read(places.offsetAt(last), places.lengthAt(last) + 1);
  if (line.at(-1) !== NEWLINE) return false;
  return new TextDecoder().decode(line).includes(`"timestamp":${node.timestamp}`);
}

async function loadFromIndex(
  index: IndexedLog,
  file: ReadableFile,
  log: FileInfo,
): Promise<LoadedLog> {
  const [last] = await file.read(log.size - 1, 1);
  return {
    state: index,
    entries: [],
    version: SESSION_VERSION,
    hasHeader: true,
    lacksNewline: last !== NEWLINE,
    indexedEntries: index.tree.nodes.length,
    indexedDamage: index.damage.length,
  };
}

async function loadFromLines(
  file: ReadableFile,
  { id, created, known }: {
    readonly id: string;
    readonly created: number;
    readonly known: LogState | undefined;
  },
): Promise<LoadedLog> {
  const indexed = known?.tree.nodes.length ?? 0;
  const indexedDamage = known?.damage.length ?? 0;
  const scan = new LogScanner({ id, created, state: known });
  for await (const lines of readLines(file, known?.summary.bytes)) {
    for (const line of lines) scan.addLine(line);
  }
  const { entries, version, hasHeader, lacksNewline: endsOpen } = scan;
  return {
    state: scan.state,
    entries,
    version,
    hasHeader,
    lacksNewline: endsOpen,
    indexedEntries: indexed,
    indexedDamage,
  };
}
