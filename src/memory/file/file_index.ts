/**
 * The side index of a log: what a list shows, and where each entry stands, so that neither reads the log.
 *
 * It is a cache and a log of its own: lines of rows, each followed by a line that sums up everything so far.
 * Only the end of it is read for a list. When the log has grown since, the index is not wrong but behind, and
 * the rest of the log catches it up. It is never synced; one that is missing, torn or contradicts its log is
 * made anew.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { SessionDamage, SessionSummary } from "../../core/session.ts";
import type { SessionEntryType, SessionHeader } from "../../core/session_entry.ts";
import type { FileInfo } from "./file_system.ts";
import { LineOffsets } from "./line_offsets.ts";
import type { LogState } from "./log_scanner.ts";
import { SessionTree } from "../store/session_tree.ts";

const INDEX_VERSION = 1;

/** The last line of an index is shorter than this, in bytes. */
export const MAX_SUMMARY_BYTES = 8 * 1024;

/** The line that sums up an index. */
export interface IndexSummary {
  /** Version of the index's own format. */
  readonly index: typeof INDEX_VERSION;
  /** The header of the log. */
  readonly header: SessionHeader;
  /** The summary of the log. */
  readonly summary: SessionSummary;
  /** How many rows stand above. */
  readonly rows: number;
  /** When the log was last changed then, in milliseconds since the epoch. */
  readonly modified: number;
}

/** Id, parent (0: the entry before), offset, length, kind and time; all rows stand in one flat list. */
const ROW_LENGTH = 6;

/** A part of a log to be written to its index. */
export interface IndexUpdate {
  /** All that is known of the log. */
  readonly state: LogState;
  /** How many of its entries are in the index already. */
  readonly from: number;
  /** How much of its damage is. */
  readonly damageFrom: number;
  /** When the log was last changed, in milliseconds since the epoch. */
  readonly modified: number;
}

/** Writes the lines that a part adds to an index. */
export function encodeIndex({ state: known, from, damageFrom, modified }: IndexUpdate): string {
  const { tree: { nodes }, offsets: places, header, summary } = known;
  const rows: unknown[] = [];
  for (let position = from; position < places.count; position++) {
    const node = nodes[position];
    if (!node) continue;
    const isNext = node.parentId !== null && node.parentId === nodes[position - 1]?.id;
    rows.push(node.id, isNext ? 0 : node.parentId);
    rows.push(places.offsetAt(position), places.lengthAt(position), node.type, node.timestamp);
  }
  const damage = known.damage.slice(damageFrom);
  const sum: IndexSummary = {
    index: INDEX_VERSION,
    header,
    summary,
    rows: places.count,
    modified,
  };
  return `${JSON.stringify({ index: INDEX_VERSION, rows, damage })}\n${JSON.stringify(sum)}\n`;
}

/** Reads the line that sums up an index out of the index's last bytes. */
export function readIndexSummary(end: Uint8Array): IndexSummary | undefined {
  const text = new TextDecoder().decode(end);
  if (!text.endsWith("\n")) return undefined;
  return toIndexSummary(parseJson(text.slice(text.lastIndexOf("\n", text.length - 2) + 1)));
}

/** Reads a whole index, or gives `undefined` when it is not one. */
export function decodeIndex(text: string): (LogState & { readonly modified: number }) | undefined {
  const lines = text.split("\n");
  if (lines.pop() !== "") return undefined;
  const last = toIndexSummary(parseJson(lines.at(-1) ?? ""));
  if (!last) return undefined;
  const tree = new SessionTree();
  const places = new LineOffsets();
  const damage: SessionDamage[] = [];
  for (const line of lines) {
    const value = parseJson(line);
    if (!isJsonObject(value) || value["index"] !== INDEX_VERSION) return undefined;
    if (!Array.isArray(value["rows"])) continue;
    if (!decodeRows(value["rows"], tree, places)) return undefined;
    if (Array.isArray(value["damage"])) damage.push(...value["damage"]);
  }
  if (tree.nodes.length !== last.rows) return undefined;
  const { header, summary, modified } = last;
  return { header, tree, offsets: places, damage, summary, modified };
}

/** Whether an index says everything about its log. */
export function isUpToDate(
  { summary, modified }: { readonly summary: SessionSummary; readonly modified: number },
  log: FileInfo,
): boolean {
  return summary.bytes === log.size && modified === log.modified;
}

function decodeRows(rows: readonly unknown[], tree: SessionTree, places: LineOffsets): boolean {
  for (let at = 0; at < rows.length; at += ROW_LENGTH) {
    const [id, parent, offset, length, type, timestamp] = rows.slice(at, at + ROW_LENGTH);
    const isRow = typeof id === "string" && typeof offset === "number" &&
      typeof length === "number" && typeof type === "string" && typeof timestamp === "number";
    if (!isRow) return false;
    const parentId = parent === 0 ? tree.leafId : parent;
    if (parentId !== null && typeof parentId !== "string") return false;
    if (parentId !== null && tree.positionOf(parentId) < 0) return false;
    tree.add({ id, parentId, timestamp, type: type as SessionEntryType });
    places.add(offset, length);
  }
  return true;
}

function toIndexSummary(value: unknown): IndexSummary | undefined {
  if (!isJsonObject(value) || value["index"] !== INDEX_VERSION) return undefined;
  const isSummary = isJsonObject(value["header"]) && hasCounts(value["summary"]) &&
    typeof value["rows"] === "number" && typeof value["modified"] === "number";
  return isSummary ? value as unknown as IndexSummary : undefined;
}

function hasCounts(value: unknown): value is JsonObject {
  return isJsonObject(value) && typeof value["bytes"] === "number" &&
    isJsonObject(value["usage"]) && isJsonObject(value["cost"]);
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
