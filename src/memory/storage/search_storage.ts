/**
 * Searches the sessions of a storage.
 *
 * @module
 */

import { abortable } from "../../core/abortable.ts";
import type { SessionSummary } from "../../core/session.ts";
import { decodeSearchable } from "../store/jsonl.ts";
import type { SearchQuery } from "../store/search.ts";
import type { FoundHit } from "../store/search_page.ts";
import { compareSessions, type HitPosition } from "../store/session_page.ts";
import type { EntryStorage, StorageHit, StorageSearch } from "./entry_storage.ts";

/** Number of lines that are read at a time. */
const BATCH_SIZE = 256;

/** The sessions to search; with the id of one, only that. */
export interface SearchScope extends Omit<StorageSearch, "words" | "limit"> {
  /** Ends the search, without an error. */
  readonly signal?: AbortSignal;
}

/** Finds the entries that match, in the order of the list and of their positions. */
export async function* searchStorage(
  storage: EntryStorage,
  query: SearchQuery,
  scope: SearchScope,
): AsyncGenerator<FoundHit> {
  const lines = storage.search ? searchIndex(storage, query, scope) : readAllLines(storage, scope);
  for await (const { line, ...position } of lines) {
    const entry = decodeSearchable(line);
    const hit = entry && query.findHit(position.id, entry);
    if (hit) yield { ...position, hit };
  }
}

/** Reads the hits of the storage's own index, a batch at a time. */
async function* searchIndex(
  storage: EntryStorage,
  { words }: SearchQuery,
  { signal, ...scope }: SearchScope,
): AsyncGenerator<StorageHit> {
  let after = scope.after;
  for (;;) {
    const search = { ...scope, words, limit: BATCH_SIZE, ...(after && { after }) };
    const searching = storage.search?.(search) ?? Promise.resolve([]);
    const hits = await (signal ? emptyOnAbort(searching, signal) : searching);
    yield* hits;
    after = hits.at(-1);
    if (!after || hits.length < BATCH_SIZE) return;
  }
}

/** Resolves to the hits, or to none as soon as the signal aborts, since a storage may take long for a search. */
async function emptyOnAbort(
  searching: Promise<readonly StorageHit[]>,
  signal: AbortSignal,
): Promise<readonly StorageHit[]> {
  try {
    return await abortable(searching, signal);
  } catch (error) {
    if (signal.aborted) return [];
    throw error;
  }
}

async function* readAllLines(
  storage: EntryStorage,
  { sessionId, after, ...filter }: SearchScope,
): AsyncGenerator<StorageHit> {
  const sessions = await storage.list(filter);
  for (const session of sessions) {
    const isSearched = (sessionId === undefined || session.id === sessionId) &&
      (!after || compareSessions(after, session) <= 0);
    if (isSearched) yield* readLines(storage, session, after);
  }
}

async function* readLines(
  storage: EntryStorage,
  { id, updated, entries }: SessionSummary,
  after: HitPosition | undefined,
): AsyncGenerator<StorageHit> {
  const first = after?.id === id ? after.position + 1 : 0;
  for (let from = first; from < entries; from += BATCH_SIZE) {
    const length = Math.min(BATCH_SIZE, entries - from);
    const positions = Array.from({ length }, (_, index) => from + index);
    const lines = await storage.readLines(id, positions);
    for (const [index, line] of lines.entries()) {
      if (line !== undefined) yield { id, updated, position: from + index, line };
    }
  }
}
