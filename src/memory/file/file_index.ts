/**
 * The index of a log: its summary and the offset of each entry, so that listing and opening do not read the log.
 *
 * The index is a cache in an append-only file: lines of rows, each followed by a line with the summary of
 * everything so far. Listing reads only its last line. If the log has grown since, the index is outdated and the rest
 * of the log is read. The index is never synced; one that is missing, torn or contradicts its log is rebuilt.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import { parseJsonOrUndefined } from "../../core/json/parse_json.ts";
import type { SessionDamage, SessionSummary } from "../../core/sessions/session.ts";
import type { SessionEntryType, SessionHeader } from "../../core/sessions/session_entry.ts";
import { readHeader } from "../store/jsonl.ts";
import { SessionTree } from "../store/session_tree.ts";
import { isSummary } from "../store/summary_check.ts";
import type { FileInfo, FileSystem } from "./file_system.ts";
import { LineOffsets } from "./line_offsets.ts";
import type { LogState } from "./log_scanner.ts";

const INDEX_VERSION = 1;

/** Number of bytes at the end of an index in which its last line is searched first. */
const SUMMARY_BYTES = 8 * 1024;

/** Last line of an index. */
export interface IndexSummary {
  /** Version of the index format. */
  readonly index: typeof INDEX_VERSION;
  /** The header of the log. */
  readonly header: SessionHeader;
  /** The summary of the log. */
  readonly summary: SessionSummary;
  /** Number of rows before this line. */
  readonly rows: number;
  /** Modification time of the log that the index describes, in milliseconds since the epoch. */
  readonly modified: number;
}

/** Fields of a row: id, parent (0: the previous entry), offset, length, type and time. Rows form one flat array. */
const ROW_LENGTH = 6;

/** A part of a log to write to its index. */
export interface IndexUpdate {
  /** Content of the log. */
  readonly state: LogState;
  /** Number of its entries that the index already has. */
  readonly from: number;
  /** Number of its damaged lines that the index already has. */
  readonly damageFrom: number;
  /** Modification time of the log, in milliseconds since the epoch. */
  readonly modified: number;
}

/** Encodes the lines to append to an index. */
export function encodeIndex({ state, from, damageFrom, modified }: IndexUpdate): string {
  const { tree: { nodes }, offsets, header, summary } = state;
  const rows: unknown[] = [];
  for (let position = from; position < offsets.count; position++) {
    const node = nodes[position];
    if (!node) continue;
    const isNext = node.parentId !== null && node.parentId === nodes[position - 1]?.id;
    rows.push(node.id, isNext ? 0 : node.parentId);
    rows.push(offsets.offsetAt(position), offsets.lengthAt(position), node.type, node.timestamp);
  }
  const damage = state.damage.slice(damageFrom);
  const last: IndexSummary = {
    index: INDEX_VERSION,
    header,
    summary,
    rows: offsets.count,
    modified,
  };
  return `${JSON.stringify({ index: INDEX_VERSION, rows, damage })}\n${JSON.stringify(last)}\n`;
}

/** Reads the last line of an index; `undefined` if it is broken. */
export function readIndexSummary(
  files: Pick<FileSystem, "readEnd">,
  path: string,
): IndexSummary | undefined {
  for (let length = SUMMARY_BYTES;; length *= 16) {
    const end = files.readEnd(path, length);
    const text = new TextDecoder().decode(end);
    if (!text.endsWith("\n")) return undefined;
    const start = text.lastIndexOf("\n", text.length - 2);
    if (start >= 0) return toIndexSummary(parseJsonOrUndefined(text.slice(start + 1)));
    if (end.length < length) return undefined;
  }
}

/** Parses an index; `undefined` if it is broken. */
export function decodeIndex(text: string): (LogState & { readonly modified: number }) | undefined {
  const lines = text.split("\n");
  if (lines.pop() !== "") return undefined;
  const last = toIndexSummary(parseJsonOrUndefined(lines.at(-1) ?? ""));
  if (!last) return undefined;
  const tree = new SessionTree();
  const offsets = new LineOffsets();
  const damage: SessionDamage[] = [];
  for (const line of lines) {
    const value = parseJsonOrUndefined(line);
    if (!isJsonObject(value) || value["index"] !== INDEX_VERSION) return undefined;
    if (!Array.isArray(value["rows"])) continue;
    const rows = { rows: value["rows"], bytes: last.summary.bytes };
    if (!decodeRows(rows, tree, offsets)) return undefined;
    const found = value["damage"];
    if (!Array.isArray(found) || !found.every(isDamage)) return undefined;
    for (const line of found) damage.push(line);
  }
  if (tree.nodes.length !== last.rows) return undefined;
  const { header, summary, modified } = last;
  return { header, tree, offsets, damage, summary, modified };
}

/** Whether an index describes its log completely. */
export function isUpToDate(
  { summary, modified }: { readonly summary: SessionSummary; readonly modified: number },
  log: FileInfo,
): boolean {
  return summary.bytes === log.size && modified === log.modified;
}

/** Adds the rows to a tree and to offsets; returns `false` if a row is broken. `bytes` is the size of the log. */
function decodeRows(
  { rows, bytes }: { readonly rows: readonly unknown[]; readonly bytes: number },
  tree: SessionTree,
  offsets: LineOffsets,
): boolean {
  for (let start = 0; start < rows.length; start += ROW_LENGTH) {
    const row = rows.slice(start, start + ROW_LENGTH);
    const [id, parent, offset, length, type, timestamp] = row;
    const isRow = typeof id === "string" && id !== "" && isCount(offset) && isCount(length) &&
      offset > offsets.endAt(offsets.count - 1) && offset + length <= bytes &&
      typeof type === "string" && typeof timestamp === "number";
    if (!isRow) return false;
    const parentId = parent === 0 ? tree.leafId : parent;
    if (parentId !== null && typeof parentId !== "string") return false;
    if (parentId !== null && tree.findPosition(parentId) < 0) return false;
    tree.add({ id, parentId, timestamp, type: type as SessionEntryType });
    offsets.add(offset, length);
  }
  return true;
}

function isDamage(value: unknown): value is SessionDamage {
  return isJsonObject(value) && typeof value["type"] === "string" && isCount(value["offset"]) &&
    isCount(value["length"]);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function toIndexSummary(value: unknown): IndexSummary | undefined {
  if (!isJsonObject(value) || value["index"] !== INDEX_VERSION) return undefined;
  const { header, summary, rows, modified } = value;
  const isValid = isJsonObject(header) && isSummary(summary) && header["id"] === summary.id &&
    typeof rows === "number" && typeof modified === "number";
  if (!isValid) return undefined;
  return { index: INDEX_VERSION, header: readHeader(header, summary), summary, rows, modified };
}
