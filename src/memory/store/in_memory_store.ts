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
import type { AppendOutcome, EntryLog } from "./entry_log.ts";
import { alreadyExists, lockedBy, notFound } from "./failure.ts";
import { JournalEchoes } from "./journal_echo.ts";
import { headerOf } from "./jsonl.ts";
import { adoptEntries, LiveSession } from "./live_session.ts";
import { DEFAULT_SEARCH_LIMIT, SearchQuery } from "./search.ts";
import { checkSessionId, newSessionId, randomName } from "./session_id.ts";
import { SessionTree } from "./session_tree.ts";
import { chosenSummaries, SummaryDraft } from "./summary.ts";

/** Options of an {@linkcode InMemorySessionStore}. */
export interface InMemorySessionStoreOptions {
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Makes ids for entries. Default: twelve random letters and digits. */
  readonly newId?: () => string;
}

/** A session, and what is kept of it. */
interface KeptSession {
  readonly header: SessionHeader;
  readonly entries: SessionEntry[];
  /** Entries whose content stands in the journal. */
  readonly echoes: Set<string>;
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
  readonly #kept = new Map<string, KeptSession>();
  readonly #writing = new Set<string>();

  /** Makes an empty store. */
  constructor({ now = Date.now, newId = randomName }: InMemorySessionStoreOptions = {}) {
    this.#now = now;
    this.#newId = newId;
  }

  /** Begins a session. */
  create(options: CreateSessionOptions = {}): Promise<Session> {
    return attempt(() => {
      const { id = newSessionId(this.#now()) } = options;
      checkSessionId(id);
      if (this.#kept.has(id)) throw alreadyExists(id);
      this.#startWriting(id);
      const kept: KeptSession = {
        header: headerOf({ ...options, id, created: this.#now() }),
        entries: [],
        echoes: new Set(),
      };
      const tree = new SessionTree();
      kept.entries.push(...adoptEntries(tree, options.entries ?? []));
      if (kept.entries.length > 0) this.#kept.set(id, kept);
      return this.#session(kept, tree, "write");
    });
  }

  /** Opens a session. */
  open(
    id: string,
    { access = "write" }: { readonly access?: SessionAccess } = {},
  ): Promise<Session> {
    return attempt(() => {
      const kept = this.#get(id);
      if (access === "write") this.#startWriting(id);
      const tree = new SessionTree();
      for (const { type, id, parentId, timestamp } of kept.entries) {
        tree.add({ type, id, parentId, timestamp });
      }
      return this.#session(kept, tree, access);
    });
  }

  /** All sessions, the one that was written to last first. */
  list(options: ListSessionsOptions = {}): Promise<readonly SessionSummary[]> {
    return attempt(() => chosenSummaries(Array.from(this.#kept.values(), summarize), options));
  }

  /** Searches everything. */
  async search(query: string, options: SearchSessionsOptions = {}): Promise<readonly SearchHit[]> {
    const { sessionId, limit = DEFAULT_SEARCH_LIMIT, signal } = options;
    const wanted = new SearchQuery(query, options);
    const ids = sessionId === undefined ? (await this.list()).map(({ id }) => id) : [sessionId];
    const hits: SearchHit[] = [];
    for (const id of ids) {
      const { entries, echoes } = this.#get(id);
      for (const entry of entries) {
        if (hits.length >= limit || signal?.aborted) return hits;
        const hit = echoes.has(entry.id) ? undefined : wanted.hit(id, entry);
        if (hit) hits.push(hit);
      }
    }
    return hits;
  }

  /** Deletes a session. */
  delete(id: string): Promise<void> {
    return attempt(() => {
      this.#get(id);
      if (this.#writing.has(id)) throw lockedBy(id, undefined);
      this.#kept.delete(id);
    });
  }

  #get(id: string): KeptSession {
    checkSessionId(id);
    const kept = this.#kept.get(id);
    if (!kept) throw notFound(id);
    return kept;
  }

  #startWriting(id: string): void {
    if (this.#writing.has(id)) throw lockedBy(id, undefined);
    this.#writing.add(id);
  }

  #session(kept: KeptSession, tree: SessionTree, access: SessionAccess): Session {
    const log = new MemoryLog(kept, {
      keep: () => this.#kept.set(kept.header.id, kept),
      free: () => access === "write" && this.#writing.delete(kept.header.id),
    });
    const { header } = kept;
    const known = kept.entries.slice();
    return new LiveSession({
      header,
      access,
      tree,
      known,
      log,
      now: this.#now,
      newId: this.#newId,
    });
  }
}

/** A log that is an array. */
class MemoryLog implements EntryLog {
  readonly #kept: KeptSession;
  readonly #store: { readonly keep: () => void; readonly free: () => void };
  readonly #echoes = new JournalEchoes();

  constructor(
    kept: KeptSession,
    store: { readonly keep: () => void; readonly free: () => void },
  ) {
    this.#kept = kept;
    this.#store = store;
  }

  append(entries: readonly SessionEntry[]): Promise<AppendOutcome> {
    for (const entry of entries) {
      this.#kept.entries.push(entry);
      if (this.#echoes.take(entry) !== undefined) this.#kept.echoes.add(entry.id);
    }
    this.#store.keep();
    return Promise.resolve({ kept: entries.length });
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]> {
    return Promise.resolve(positions.map((position) => this.#kept.entries[position]));
  }

  close(): Promise<void> {
    this.#store.free();
    return Promise.resolve();
  }
}

function summarize({ header, entries }: KeptSession): SessionSummary {
  const draft = SummaryDraft.of(header);
  for (const entry of entries) draft.add(entry);
  return draft.finish(0);
}

/** Does something at once, and rejects where it throws. */
function attempt<Value>(act: () => Value): Promise<Value> {
  return new Promise((resolve) => resolve(act()));
}
