/**
 * Sessions in memory.
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

/** Options for {@linkcode InMemorySessionStore}. */
export interface InMemorySessionStoreOptions {
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Creates ids for entries. Default: twelve random letters and digits. */
  readonly newId?: () => string;
}

/** The stored data of a session. */
interface StoredSession {
  readonly header: SessionHeader;
  readonly entries: SessionEntry[];
  /** Ids of the entries of tool results whose content is also in the tool journal. */
  readonly duplicateIds: Set<string>;
}

/**
 * Keeps sessions in memory until the program ends, for tests and hosts without storage.
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

  constructor({ now = Date.now, newId = createRandomId }: InMemorySessionStoreOptions = {}) {
    this.#now = now;
    this.#newId = newId;
  }

  /** Creates a session, open for writing. */
  create(options: CreateSessionOptions = {}): Promise<Session> {
    return toPromise(() => {
      const { id = createSessionId(this.#now()) } = options;
      checkSessionId(id);
      if (this.#sessions.has(id)) throw createAlreadyExistsError(id);
      this.#startWriting(id);
      const stored: StoredSession = {
        header: createHeader({ ...options, id, created: this.#now() }),
        entries: [],
        duplicateIds: new Set(),
      };
      const tree = new SessionTree();
      stored.entries.push(...addEntries(tree, options.entries ?? []));
      if (stored.entries.length > 0) this.#sessions.set(id, stored);
      return this.#createSession(stored, tree, "write");
    });
  }

  /** Opens a session. */
  open(
    id: string,
    { access = "write" }: { readonly access?: SessionAccess } = {},
  ): Promise<Session> {
    return toPromise(() => {
      const stored = this.#get(id);
      if (access === "write") this.#startWriting(id);
      const tree = new SessionTree();
      for (const { type, id, parentId, timestamp } of stored.entries) {
        tree.add({ type, id, parentId, timestamp });
      }
      return this.#createSession(stored, tree, access);
    });
  }

  /** Lists all sessions, most recently written first. */
  list(options: ListSessionsOptions = {}): Promise<readonly SessionSummary[]> {
    return toPromise(() =>
      selectSummaries(Array.from(this.#sessions.values(), createSummary), options)
    );
  }

  /** Searches all entries. */
  async search(query: string, options: SearchSessionsOptions = {}): Promise<readonly SearchHit[]> {
    const { sessionId, limit = DEFAULT_SEARCH_LIMIT, signal } = options;
    const parsed = new SearchQuery(query, options);
    const ids = sessionId === undefined ? (await this.list()).map(({ id }) => id) : [sessionId];
    const hits: SearchHit[] = [];
    for (const id of ids) {
      const { entries, duplicateIds } = this.#get(id);
      for (const entry of entries) {
        if (hits.length >= limit || signal?.aborted) return hits;
        const hit = duplicateIds.has(entry.id) ? undefined : parsed.findHit(id, entry);
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
    const stored = this.#sessions.get(id);
    if (!stored) throw createNotFoundError(id);
    return stored;
  }

  #startWriting(id: string): void {
    if (this.#openWriters.has(id)) throw createLockedError(id, undefined);
    this.#openWriters.add(id);
  }

  #createSession(stored: StoredSession, tree: SessionTree, access: SessionAccess): Session {
    const { header, entries } = stored;
    const log = new MemoryLog(stored, {
      save: () => this.#sessions.set(header.id, stored),
      release: () => access === "write" && this.#openWriters.delete(header.id),
    });
    return new LiveSession({
      header,
      access,
      tree,
      loadedEntries: entries.slice(),
      log,
      now: this.#now,
      newId: this.#newId,
    });
  }
}

interface MemoryLogOptions {
  /** Adds the session to the store. */
  readonly save: () => void;
  /** Releases the session for other writers. */
  readonly release: () => void;
}

/** A log in an array. */
class MemoryLog implements EntryLog {
  readonly #session: StoredSession;
  readonly #options: MemoryLogOptions;
  readonly #deduplicator = new JournalDeduplicator();

  constructor(session: StoredSession, options: MemoryLogOptions) {
    this.#session = session;
    this.#options = options;
  }

  append(entries: readonly SessionEntry[]): Promise<AppendResult> {
    for (const entry of entries) {
      this.#session.entries.push(entry);
      if (this.#deduplicator.findOriginal(entry) !== undefined) {
        this.#session.duplicateIds.add(entry.id);
      }
    }
    this.#options.save();
    return Promise.resolve({ kept: entries.length });
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]> {
    return Promise.resolve(positions.map((position) => this.#session.entries[position]));
  }

  close(): Promise<void> {
    this.#options.release();
    return Promise.resolve();
  }
}

function createSummary({ header, entries }: StoredSession): SessionSummary {
  const builder = SummaryBuilder.from(header);
  for (const entry of entries) builder.add(entry);
  return builder.build(0);
}

/** Calls a function immediately; rejects if it throws. */
function toPromise<Value>(act: () => Value): Promise<Value> {
  return new Promise((resolve) => resolve(act()));
}
