/**
 * Loads the content of a log: from its index if that is up to date, otherwise from its lines.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { SessionDamage } from "../../core/sessions/session.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { SESSION_VERSION } from "../store/jsonl.ts";
import { decodeIndex, encodeIndex, isUpToDate } from "./file_index.ts";
import type { FileInfo, FileSystem, ReadableFile } from "./file_system.ts";
import type { IndexedPart } from "./index_writer.ts";
import { createLogTail, type LogTail } from "./log_file_state.ts";
import { LogScanner, type LogState } from "./log_scanner.ts";
import { readLines, splitLines } from "./read_lines.ts";
import type { SessionPaths } from "./session_paths.ts";

const NEWLINE = 10;

/** The content of a log, and the part of it that its index has. */
export interface LoadedLog {
  /** The content. */
  readonly state: LogState;
  /** Entries that were read while loading, each at its position in the tree. */
  readonly entries: readonly (SessionEntry | undefined)[];
  /** Version of the log format. */
  readonly version: number;
  /** The end of the file. */
  readonly tail: LogTail;
  /** Identity of the file; `null` where the system has none. */
  readonly inode: number | null;
  /** The part that the index has; `undefined` if the index has to be rewritten. */
  readonly indexed: IndexedPart | undefined;
}

type IndexedLog = LogState & { readonly modified: number };

/**
 * Loads the content of a log.
 *
 * @throws {SessionError} With the reason `not_a_session` if the file is empty or of another program, or `newer_version`.
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
    const { inode } = file.stat();
    const index = await readIndex(files, paths, { id, file });
    if (index && isUpToDate(index, log)) {
      return { ...await loadFromIndex(index, file, log), inode };
    }
    const known = index && index.summary.bytes < log.size ? index : undefined;
    return { ...await loadFromLines(file, { id, created: log.modified, known }), inode };
  } finally {
    file.close();
  }
}

/** Writes the index of a log that is not open for writing. The index is a cache: a failure is ignored. */
export async function saveIndex(
  files: FileSystem,
  paths: SessionPaths,
  { state, version, tail }: LoadedLog,
): Promise<void> {
  if (tail.missing !== "nothing" || version !== SESSION_VERSION || files.stat(paths.lock)) return;
  const log = files.stat(paths.log);
  if (log?.size !== state.summary.bytes) return;
  const text = encodeIndex({ state, from: 0, damageFrom: 0, modified: log.modified });
  await files.replace(paths.index, text, { sync: false }).catch(() => {});
}

/** Reads the index of a log; `undefined` if it is missing, broken or belongs to another log. */
async function readIndex(
  files: FileSystem,
  paths: SessionPaths,
  log: { readonly id: string; readonly file: ReadableFile },
): Promise<IndexedLog | undefined> {
  try {
    const info = files.stat(paths.index);
    if (!info) return undefined;
    const text = new TextDecoder().decode(files.readEnd(paths.index, info.size));
    const index = decodeIndex(text);
    return index?.header.id === log.id && await matchesLog(index, log.file) ? index : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the log has the last entry of an index at the offset in the index. */
async function matchesLog({ offsets, tree }: IndexedLog, log: ReadableFile): Promise<boolean> {
  const node = tree.nodes.at(-1);
  if (!node) return false;
  const last = offsets.count - 1;
  const line = await log.read(offsets.offsetAt(last), offsets.lengthAt(last) + 1);
  if (line.at(-1) !== NEWLINE) return false;
  const text = new TextDecoder().decode(line);
  return text.includes(`"id":${JSON.stringify(node.id)}`) &&
    text.includes(`"timestamp":${node.timestamp}`);
}

async function loadFromIndex(
  index: IndexedLog,
  file: ReadableFile,
  { size }: FileInfo,
): Promise<Omit<LoadedLog, "inode">> {
  const [last] = await file.read(size - 1, 1);
  const indexed = getIndexedPart(index);
  const headerDamage = await findHeaderDamage(index, file);
  if (headerDamage) index.damage.push(headerDamage);
  const end = { hasHeader: !headerDamage, isTerminated: last === NEWLINE };
  return {
    state: index,
    entries: [],
    version: SESSION_VERSION,
    tail: createLogTail(size, end),
    indexed,
  };
}

/** Maximum length of the beginning of a log that is checked for its header, in bytes: metadata may have 65,536 characters. */
const MAX_HEADER_BYTES = 512 * 1024;

/** Returns the damage of a log whose header can no longer be read, so that only the index has it. */
async function findHeaderDamage(
  { offsets, damage }: IndexedLog,
  file: ReadableFile,
): Promise<SessionDamage | undefined> {
  if (damage.some(({ type }) => type === "broken_header")) return undefined;
  const [line] = splitLines(await file.read(0, Math.min(offsets.offsetAt(0), MAX_HEADER_BYTES)), 0);
  if (line && isHeader(line.text)) return undefined;
  return { type: "broken_header", offset: 0, length: line?.length ?? 0 };
}

function isHeader(text: string | undefined): boolean {
  try {
    const record: unknown = JSON.parse(text ?? "");
    return isJsonObject(record) && record["type"] === "session";
  } catch {
    return false;
  }
}

async function loadFromLines(
  file: ReadableFile,
  { id, created, known }: {
    readonly id: string;
    readonly created: number;
    readonly known: LogState | undefined;
  },
): Promise<Omit<LoadedLog, "inode">> {
  // Scanning adds entries to the known state, so its size is read before.
  const indexed = known && getIndexedPart(known);
  const scanner = new LogScanner({ id, created, state: known });
  for await (const lines of readLines(file, known?.summary.bytes)) {
    for (const line of lines) scanner.addLine(line);
  }
  scanner.assertOwnFormat();
  const { state, entries, version, tail } = scanner;
  return { state, entries, version, tail, indexed };
}

function getIndexedPart({ tree, damage }: LogState): IndexedPart {
  return { entries: tree.nodes.length, damage: damage.length };
}
