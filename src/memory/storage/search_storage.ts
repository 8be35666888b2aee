/**
 * Searches the sessions of a storage.
 *
 * @module
 */

import { abortable } from "../../core/ports/abortable.ts";
import { decodeSearchable } from "../store/jsonl.ts";
import { type ListedSession, listSnapshot, WrittenCount } from "../store/list_snapshot.ts";
import type { SearchQuery } from "../store/search.ts";
import type { FoundHit } from "../store/search_page.ts";
import {
  compareSessions,
  type HitPosition,
  type SearchCursor,
  type SessionOrder,
} from "../store/session_page.ts";
import type { EntryStorage, StorageHit, StorageSearch } from "./entry_storage.ts";
import { findUpdated, listMoved } from "./moved_sessions.ts";

/** Number of lines that are read at a time. */
const BATCH_SIZE = 256;

/** The sessions to search; with the id of one, only that. */
export interface SearchScope extends Omit<StorageSearch, "words" | "limit" | "after"> {
  /** The position after which the search continues. Default: the beginning. */
  readonly after?: SearchCursor;
  /** Time of the first page, in milliseconds since the epoch: sessions have their order of then. */
  readonly snapshotTime: number;
  /** Ends the search, without an error. */
  readonly signal?: AbortSignal;
}

/** Finds the entries that match, in the order of the list and of their positions. */
export async function* searchStorage(
  storage: EntryStorage,
  query: SearchQuery,
  scope: SearchScope,
): AsyncGenerator<FoundHit> {
  const lines = storage.search
    ? new IndexSearch(storage, query, scope).run()
    : readAllLines(storage, scope);
  for await (const { line, ...position } of lines) {
    const entry = decodeSearchable(line);
    const hit = entry && query.findHit(position.id, entry);
    if (hit) yield { ...position, hit };
  }
}

/** A search in the storage's own index. */
class IndexSearch {
  readonly #storage: EntryStorage;
  readonly #words: readonly string[];
  readonly #scope: SearchScope;

  constructor(storage: EntryStorage, { words }: SearchQuery, scope: SearchScope) {
    this.#storage = storage;
    this.#words = words;
    this.#scope = scope;
  }

  async *run(): AsyncGenerator<StorageHit> {
    const { sessionId, after } = this.#scope;
    if (sessionId !== undefined) {
      yield* this.#searchSession({ updated: 0, id: sessionId }, after?.position);
      return;
    }
    if (after) yield* this.#searchSession(after, after.position);
    yield* this.#searchAfter(after);
  }

  /** Searches the sessions after that of a position. Those that were written meanwhile are searched one by one. */
  async *#searchAfter(position: SessionOrder | undefined): AsyncGenerator<StorageHit> {
    const { snapshotTime, after, signal: _signal, ...filter } = this.#scope;
    const firstPage = { snapshotTime, hasCursor: after !== undefined };
    for (let start = position;;) {
      const hits = await this.#search(start && { ...start, position: Number.MAX_SAFE_INTEGER });
      const moved = await listMoved(this.#storage, filter, firstPage);
      const last = hits.length < BATCH_SIZE ? undefined : hits.at(-1);
      const isBetween = ({ position }: ListedSession) =>
        (!start || compareSessions(start, position) < 0) &&
        (!last || compareSessions(position, last) <= 0);
      const unmoved = hits.filter(({ id }) => !moved.ids.has(id));
      yield* this.#merge(unmoved, moved.sessions.filter(isBetween));
      if (!last) return;
      // The batch may end within a session.
      if (!moved.ids.has(last.id)) yield* this.#searchSession(last, last.position);
      start = last;
    }
  }

  /** Returns hits, and those of other sessions between them. */
  async *#merge(
    hits: readonly StorageHit[],
    sessions: readonly ListedSession[],
  ): AsyncGenerator<StorageHit> {
    let next = 0;
    for (const { position } of sessions) {
      const to = hits.findIndex((hit, index) =>
        index >= next && compareSessions(position, hit) < 0
      );
      const end = to < 0 ? hits.length : to;
      yield* hits.slice(next, end);
      yield* this.#searchSession(position);
      next = end;
    }
    yield* hits.slice(next);
  }

  /** Searches one session after a position. Default: all of it. */
  async *#searchSession(
    { updated, id }: SessionOrder,
    position = -1,
  ): AsyncGenerator<StorageHit> {
    for (let after = position;;) {
      // As of this time, no other position of the session is before the given one.
      const start = { updated: Number.MIN_SAFE_INTEGER, id, position: after };
      const hits = await this.#search(start, id);
      for (const hit of hits) yield { ...hit, updated };
      const last = hits.at(-1);
      if (!last || hits.length < BATCH_SIZE) return;
      after = last.position;
    }
  }

  async #search(
    after: HitPosition | undefined,
    sessionId?: string,
  ): Promise<readonly StorageHit[]> {
    const { snapshotTime: _time, after: _after, signal, ...scope } = this.#scope;
    const searching = this.#storage.search?.({
      ...scope,
      words: this.#words,
      limit: BATCH_SIZE,
      ...(sessionId !== undefined && { sessionId }),
      ...(after && { after }),
    }) ?? Promise.resolve([]);
    return await (signal ? emptyOnAbort(searching, signal) : searching);
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
  { sessionId, after, snapshotTime, signal: _signal, ...filter }: SearchScope,
): AsyncGenerator<StorageHit> {
  const summaries = (await storage.list(filter))
    .filter(({ id }) => sessionId === undefined || id === sessionId);
  const time = sessionId === undefined ? snapshotTime : Infinity;
  const find = findUpdated(storage);
  const findLimited = after ? new WrittenCount().limit(find) : find;
  for (const listed of await listSnapshot(summaries, time, findLimited)) {
    const isAfter = !after || sessionId !== undefined ||
      compareSessions(after, listed.position) <= 0;
    if (isAfter) yield* readLines(storage, listed, after);
  }
}

async function* readLines(
  storage: EntryStorage,
  { summary: { id, entries }, position: { updated } }: ListedSession,
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
