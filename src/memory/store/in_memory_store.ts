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
  SessionDamage,
  SessionStore,
  SessionSummary,
} from "../../core/session.ts";
import type { EntryOutline, SessionEntry, SessionHeader } from "../../core/session_entry.ts";
import type { AppendResult, EntryLog } from "./entry_log.ts";
import {
  createAlreadyExistsError,
  createLockedError,
  createNotFoundError,
} from "./session_errors.ts";
import { type EncodedEntry, EntryEncoder } from "./entry_encoder.ts";
import { createHeader, type DecodedLine, decodeLine, restoreDuplicates } from "./jsonl.ts";
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
  readonly summary: SummaryBuilder;
  readonly outlines: EntryOutline[];
  /** The entries as a file would have them. */
  readonly lines: string[];
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
      if (this.#openWriters.has(id)) throw createLockedError(id, undefined);
      const header = createHeader({ ...options, id, created: this.#now() });
      const summary = SummaryBuilder.from(header);
      const stored: StoredSession = { header, summary, outlines: [], lines: [] };
      const tree = new SessionTree();
      const encoder = new EntryEncoder(id);
      const entries = addEntries(tree, encoder, options.entries ?? []);
      addToSession(stored, entries);
      if (entries.length > 0) this.#sessions.set(id, stored);
      this.#openWriters.add(id);
      return this.#createSession(stored, { tree, access: "write", encoder });
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
      for (const outline of stored.outlines) tree.add(outline);
      return this.#createSession(stored, { tree, access });
    });
  }

  /** Lists all sessions, most recently written first. */
  list(options: ListSessionsOptions = {}): Promise<readonly SessionSummary[]> {
    return toPromise(() =>
      selectSummaries(
        Array.from(this.#sessions.values(), ({ summary }) => summary.build(0)),
        options,
      )
    );
  }

  /** Searches all entries. */
  async search(query: string, options: SearchSessionsOptions = {}): Promise<readonly SearchHit[]> {
    const { sessionId, limit = DEFAULT_SEARCH_LIMIT, signal } = options;
    const parsed = new SearchQuery(query, options);
    const ids = sessionId === undefined ? (await this.list()).map(({ id }) => id) : [sessionId];
    const hits: SearchHit[] = [];
    for (const id of ids) {
      for (const line of this.#get(id).lines) {
        if (hits.length >= limit || signal?.aborted) return hits;
        const decoded = decodeLine(line);
        if (!decoded || decoded.type === "duplicate") continue;
        const hit = parsed.findHit(id, decoded);
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

  #createSession(
    stored: StoredSession,
    options: {
      readonly tree: SessionTree;
      readonly access: SessionAccess;
      readonly encoder?: EntryEncoder;
    },
  ): Session {
    const { header } = stored;
    const log = new MemoryLog(stored, {
      save: () => this.#sessions.set(header.id, stored),
      release: () => options.access === "write" && this.#openWriters.delete(header.id),
    });
    return new LiveSession({ ...options, header, log, now: this.#now, newId: this.#newId });
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

  constructor(session: StoredSession, options: MemoryLogOptions) {
    this.#session = session;
    this.#options = options;
  }

  append(entries: readonly EncodedEntry[]): Promise<AppendResult> {
    addToSession(this.#session, entries);
    this.#options.save();
    return Promise.resolve({ kept: entries.length });
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  async read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]> {
    const { outlines } = this.#session;
    const lines = positions.map((position) => this.#decode(position));
    const fetch = (ids: readonly string[]) =>
      ids.map((id) => this.#decode(outlines.findIndex((outline) => outline.id === id)));
    return await restoreDuplicates(lines, (ids) => Promise.resolve(fetch(ids)));
  }

  locate(position: number): Pick<SessionDamage, "offset" | "length"> {
    return { offset: position, length: 0 };
  }

  close(): Promise<void> {
    this.#options.release();
    return Promise.resolve();
  }

  #decode(position: number): DecodedLine {
    return decodeLine(this.#session.lines[position] ?? "");
  }
}

function addToSession(session: StoredSession, entries: readonly EncodedEntry[]): void {
  for (const { entry, line } of entries) {
    const { type, id, parentId, timestamp } = entry;
    session.outlines.push({ type, id, parentId, timestamp });
    session.lines.push(line);
    session.summary.add(entry);
  }
}

/** Calls a function immediately; rejects if it throws. */
function toPromise<Value>(act: () => Value): Promise<Value> {
  return new Promise((resolve) => resolve(act()));
}
