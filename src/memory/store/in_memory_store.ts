/**
 * Sessions that live as long as the program.
 *
 * @module
 */

import type {
  CreateSessionOptions,
  ListSessionsOptions,
  SearchHit,
  SearchSessionsOptions,
  Session,
  SessionAccess,
  SessionStore,
  SessionSummary,
} from "../../core/session.ts";
import type { SessionEntry, SessionHeader } from "../../core/session_entry.ts";
import type { AppendResult, EntryLog } from "./entry_log.ts";
import {
  createAlreadyExistsError,
  createLockedError,
  createNotFoundError,
} from "./session_errors.ts";
import { JournalDeduplicator } from "./journal_deduplicator.ts";
import { createHeader } from "./jsonl.ts";
import { addEntries, LiveSession } from "./live_session.ts";
import { DEFAULT_SEARCH_LIMIT, SearchQuery } from "./search.ts";
import { checkSessionId, createRandomId, createSessionId } from "./session_id.ts";
import { SessionTree } from "./session_tree.ts";
import { selectSummaries, SummaryBuilder } from "./summary.ts";

/** Options of an {@linkcode InMemorySessionStore}. */
export interface InMemorySessionStoreOptions {
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Makes ids for entries. Default: twelve random letters and digits. */
  readonly newId?: () => string;
}

/** A session, and what is kept of it. */
interface StoredSession {
  readonly header: SessionHeader;
  readonly entries: SessionEntry[];
  /** Entries whose content stands in the journal. */
  readonly duplicateIds: Set<string>;
}

/**
 * Keeps sessions in memory, for tests and for hosts that keep nothing.
 *
 * @example
 * ```ts
 * import { InMemorySessionStore } from "@swink/agent/memory";
 *
 * const store = new InMemorySessionStore();
 * await using session = await store.create({ id: "notes" });
 * session.append({ type: "title", title: "Notes" });
 * (await store.list())[0]?.title; // "Notes"
 * ```
 */
export class InMemorySessionStore implements SessionStore {
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #sessions = new Map<string, StoredSession>();
  readonly #openWriters = new Set<string>();

  /** Makes an empty store. */
  constructor({ now = Date.now, newId = createRandomId }: InMemorySessionStoreOptions = {}) {
    this.#now = now;
    this.#newId = newId;
  }

  /** Begins a session. */
  create(options: CreateSessionOptions = {}): Promise<Session> {
    return toPromise(() => {
      const { id = createSessionId(this.#now()) } = options;
      checkSessionId(id);
      if (this.#sessions.has(id)) throw createAlreadyExistsError(id);
      this.#startWriting(id);
      const kept: StoredSession = {
        header: createHeader({ ...options, id, created: this.#now() }),
        entries: [],
        duplicateIds: new Set(),
      };
      const tree = new SessionTree();
      kept.entries.push(...addEntries(tree, options.entries ?? []));
      if (kept.entries.length > 0) this.#sessions.set(id, kept);
      return this.#createSession(kept, tree, "write");
    });
  }

  /** Opens a session. */
  open(
    id: string,
    { access = "write" }: { readonly access?: SessionAccess } = {},
  ): Promise<Session> {
    return toPromise(() => {
      const kept = this.#get(id);
      if (access === "write") this.#startWriting(id);
      const tree = new SessionTree();
      for (const { type, id, parentId, timestamp } of kept.entries) {
        tree.add({ type, id, parentId, timestamp });
      }
      return this.#createSession(kept, tree, access);
    });
  }

  /** All sessions, the one that was written to last first. */
  list(options: ListSessionsOptions = {}): Promise<readonly SessionSummary[]> {
    return toPromise(() =>
      selectSummaries(Array.from(this.#sessions.values(), createSummary), options)
    );
  }

  /** Searches everything. */
  async search(query: string, options: SearchSessionsOptions = {}): Promise<readonly SearchHit[]> {
    const { sessionId, limit = DEFAULT_SEARCH_LIMIT, signal } = options;
    const wanted = new SearchQuery(query, options);
    const ids = sessionId === undefined ? (await this.list()).map(({ id }) => id) : [sessionId];
    const hits: SearchHit[] = [];
    for (const id of ids) {
      const { entries, duplicateIds: echoes } = this.#get(id);
      for (const entry of entries) {
        if (hits.length >= limit || signal?.aborted) return hits;
        const hit = echoes.has(entry.id) ? undefined : wanted.findHit(id, entry);
        if (hit) hits.push(hit);
      }
    }
    return hits;
  }

  /** Deletes a session. */
  delete(id: string): Promise<void> {
    return toPromise(() => {
      this.#get(id);
      if (this.#openWriters.has(id)) throw createLockedError(id, undefined);
      this.#sessions.delete(id);
    });
  }

  #get(id: string): StoredSession {
    checkSessionId(id);
    const kept = this.#sessions.get(id);
    if (!kept) throw createNotFoundError(id);
    return kept;
  }

  #startWriting(id: string): void {
    if (this.#openWriters.has(id)) throw createLockedError(id, undefined);
    this.#openWriters.add(id);
  }

  #createSession(kept: StoredSession, tree: SessionTree, access: SessionAccess): Session {
    const log = new MemoryLog(kept, {
      keep: () => this.#sessions.set(kept.header.id, kept),
      free: () => access === "write" && this.#openWriters.delete(kept.header.id),
    });
    const { header } = kept;
    const known = kept.entries.slice();
    return new LiveSession({
      header,
      access,
      tree,
      loadedEntries: known,
      log,
      now: this.#now,
      newId: this.#newId,
    });
  }
}

/** A log that is an array. */
class MemoryLog implements EntryLog {
  readonly #session: StoredSession;
  readonly #store: { readonly keep: () => void; readonly free: () => void };
  readonly #deduplicator = new JournalDeduplicator();

  constructor(
    kept: StoredSession,
    store: { readonly keep: () => void; readonly free: () => void },
  ) {
    this.#session = kept;
    this.#store = store;
  }

  append(entries: readonly SessionEntry[]): Promise<AppendResult> {
    for (const entry of entries) {
      this.#session.entries.push(entry);
      if (this.#deduplicator.findOriginal(entry) !== undefined) {
        this.#session.duplicateIds.add(entry.id);
      }
    }
    this.#store.keep();
    return Promise.resolve({ kept: entries.length });
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]> {
    return Promise.resolve(positions.map((position) => this.#session.entries[position]));
  }

  close(): Promise<void> {
    this.#store.free();
    return Promise.resolve();
  }
}

function createSummary({ header, entries }: StoredSession): SessionSummary {
  const draft = SummaryBuilder.from(header);
  for (const entry of entries) draft.add(entry);
  return draft.build(0);
}

/** Does something at once, and rejects where it throws. */
function toPromise<Value>(act: () => Value): Promise<Value> {
  return new Promise((resolve) => resolve(act()));
}
