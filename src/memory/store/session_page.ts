/**
 * Pages of lists and searches.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import type { SessionFilter, SessionSummary } from "../../core/sessions/session.ts";
import { matchesFilter } from "./session_filter.ts";
import { isSessionId } from "./session_id.ts";

/** The position of a session in lists: by `updated`, then by the code points of `id`, both descending. */
export type SessionOrder = Pick<SessionSummary, "updated" | "id">;

/** The position of a hit in search results: the session, then its entry. */
export interface HitPosition extends SessionOrder {
  /** Position of the entry in the session; the unit is that of the store. */
  readonly position: number;
}

/** The time of the first page of a list, in milliseconds since the epoch: that of the last entry of its first session. */
interface PageTime {
  readonly snapshotTime: number;
}

/** The position after which a list continues. */
export type ListCursor = SessionOrder & PageTime;

/** The position after which a search continues. */
export type SearchCursor = HitPosition & PageTime;

/** Compares sessions by their order in lists. */
export function compareSessions(left: SessionOrder, right: SessionOrder): number {
  return right.updated - left.updated || compareCodePoints(right.id, left.id);
}

/** Compares texts by their code points, as databases do; the operators of JavaScript compare code units of UTF-16. */
function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = getRank(left.charCodeAt(index)) - getRank(right.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Returns the rank of a code unit: surrogates, which code points above U+FFFF consist of, are last. */
function getRank(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  return isSurrogate ? unit + 0x10000 : unit;
}

/** Selects the sessions that match a filter, sorts them as lists are, and limits them to those after a position. */
export function selectSummaries(
  summaries: Iterable<SessionSummary>,
  { limit, after, ...filter }: SessionFilter & {
    readonly limit?: number | undefined;
    readonly after?: SessionOrder | undefined;
  },
): readonly SessionSummary[] {
  const isSelected = (summary: SessionSummary) =>
    matchesFilter(summary, filter) && (!after || compareSessions(after, summary) < 0);
  return Array.from(summaries).filter(isSelected).toSorted(compareSessions).slice(0, limit);
}

/** Creates a page of the first `limit` items; one more item means that another page follows. */
export function toPage<Item, Value>(
  items: readonly Item[],
  { limit, snapshotTime, getValue, getPosition }: PageTime & {
    readonly limit: number;
    readonly getValue: (item: Item) => Value;
    readonly getPosition: (item: Item) => SessionOrder;
  },
): readonly Value[] & { readonly cursor?: string } {
  const page = items.slice(0, limit);
  const values = page.map(getValue);
  const last = page.at(-1);
  if (!last || items.length === page.length) return values;
  return Object.assign(values, { cursor: createCursor({ ...getPosition(last), snapshotTime }) });
}

function createCursor(cursor: ListCursor | SearchCursor): string {
  const { updated, id, snapshotTime } = cursor;
  return JSON.stringify([
    updated,
    id,
    snapshotTime,
    ..."position" in cursor ? [cursor.position] : [],
  ]);
}

/**
 * Parses the cursor of a list.
 *
 * @throws {SessionError} With the reason `bad_cursor`.
 */
export function parseListCursor(cursor: string | undefined): ListCursor | undefined {
  if (cursor === undefined) return undefined;
  const [updated, id, snapshotTime] = parseCursor(cursor);
  const isValid = isFinite(updated) && isSessionId(id) && isFinite(snapshotTime);
  if (isValid) return { updated, id, snapshotTime };
  throw createCursorError(cursor);
}

/**
 * Parses the cursor of a search.
 *
 * @throws {SessionError} With the reason `bad_cursor`.
 */
export function parseSearchCursor(cursor: string | undefined): SearchCursor | undefined {
  const order = parseListCursor(cursor);
  if (cursor === undefined || order === undefined) return undefined;
  const [, , , position] = parseCursor(cursor);
  if (isFinite(position) && Number.isSafeInteger(position)) return { ...order, position };
  throw createCursorError(cursor);
}

function isFinite(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function parseCursor(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(cursor);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function createCursorError(cursor: string): SessionError {
  return new SessionError(
    `Invalid cursor ${JSON.stringify(cursor)}: use the cursor of the previous page, or none`,
    { reason: "bad_cursor" },
  );
}
