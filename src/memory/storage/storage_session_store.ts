/**
 * A session store over a storage of entries.
 *
 * @module
 */

import type {
  CreateSessionOptions,
  DeleteSessionsOptions,
  ListSessionsOptions,
  SearchPage,
  SearchSessionsOptions,
  Session,
  SessionAccess,
  SessionFilter,
  SessionPage,
  SessionStore,
  SessionSummary,
} from "../../core/sessions/session.ts";
import { system } from "../../platform/system.ts";
import { readAccess } from "../store/access_option.ts";
import { deleteMatching } from "../store/delete_matching.ts";
import { deleteOrphans, deleteSubAgents } from "../store/delete_sub_agents.ts";
import { EntryEncoder } from "../store/entry_encoder.ts";
import type { ListedSession } from "../store/list_snapshot.ts";
import { addEntries, LiveSession } from "../store/live_session.ts";
import { createNewHeader } from "../store/new_header.ts";
import { DEFAULT_SEARCH_LIMIT, SearchQuery } from "../store/search.ts";
import { collectHits } from "../store/search_page.ts";
import {
  createAlreadyExistsError,
  createLockedError,
  createNotFoundError,
  toSessionError,
} from "../store/session_errors.ts";
import {
  checkDeleteOptions,
  checkFilter,
  checkLimit,
  isOlder,
  pickFilter,
} from "../store/session_filter.ts";
import { checkSessionId, createRandomId } from "../store/session_id.ts";
import {
  compareSessions,
  type ListCursor,
  parseListCursor,
  parseSearchCursor,
  toPage,
} from "../store/session_page.ts";
import { SummaryBuilder } from "../store/summary.ts";
import { checkLeaseDuration } from "./check_store_options.ts";
import type { EntryStorage, LeaseRequest, StoredSession } from "./entry_storage.ts";
import { loadTree } from "./load_tree.ts";
import { listMoved } from "./moved_sessions.ts";
import { searchStorage } from "./search_storage.ts";
import { SharedInterval } from "./shared_interval.ts";
import { StorageLog } from "./storage_log.ts";
import { UnreleasedLeases } from "./unreleased_leases.ts";
import { acquireLease, type WriterLease } from "./writer_lease.ts";

/** Number of renewals within the duration of a lease, so that one or two may fail. */
const RENEWALS_PER_LEASE = 3;

/** Number of sessions that are listed at a time. */
const LIST_PART_SIZE = 500;

/** Options for `storeFrom()`. */
export interface StoreFromOptions {
  /** Name of the host, shown to other processes that find a session locked. */
  readonly owner?: string | undefined;
  /** Duration of a writer's lease, which is renewed while the session is open, in milliseconds. Default: 30,000. */
  readonly leaseMs?: number | undefined;
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Creates ids for entries. Default: twelve random letters and digits. */
  readonly newId?: (() => string) | undefined;
  /** Starts the timer that renews leases. Default: `setInterval`, without keeping the program alive. */
  readonly startInterval?: ((milliseconds: number, run: () => void) => () => void) | undefined;
}

/**
 * A session store over a storage: keeps the tree of entries, checks and encodes them, repairs damage, and renews leases.
 * `storeFrom()` creates one; the stores of the library extend it.
 */
export class StorageSessionStore implements SessionStore, AsyncDisposable {
  readonly #storage: EntryStorage;
  readonly #owner: string | undefined;
  readonly #leaseMs: number;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #renewals: SharedInterval;
  readonly #unreleased: UnreleasedLeases;

  /**
   * Creates a store over a storage, which is used from the first call on.
   *
   * @throws {BadRequestError} If `leaseMs` is not a positive number.
   */
  constructor(storage: EntryStorage, options: StoreFromOptions = {}) {
    this.#storage = storage;
    this.#owner = options.owner;
    this.#leaseMs = options.leaseMs ?? 30_000;
    checkLeaseDuration(this.#leaseMs);
    this.#now = options.now ?? Date.now;
    this.#newId = options.newId ?? createRandomId;
    this.#renewals = new SharedInterval(this.#leaseMs / RENEWALS_PER_LEASE, options.startInterval);
    this.#unreleased = new UnreleasedLeases({ durationMs: this.#leaseMs, now: this.#now });
  }

  /** Creates a session, open for writing. */
  async create(options: CreateSessionOptions = {}): Promise<Session> {
    const header = createNewHeader(options, this.#now());
    const { id } = header;
    return await this.#withLease(id, async (lease) => {
      if (await this.#read(id, () => this.#storage.load(id))) throw createAlreadyExistsError(id);
      const loaded = loadTree({ outline: [] });
      const encoder = new EntryEncoder(id);
      const entries = addEntries(loaded.tree, encoder, options.entries ?? []);
      const summary = SummaryBuilder.from(header).build(0);
      const log = new StorageLog({ storage: this.#storage, header, summary, lease, ...loaded });
      if (entries.length > 0) {
        const { kept, error } = await log.append(entries);
        // A session that lacks some of its entries would look complete.
        if (kept > 0 && error !== undefined) await this.#discard(id, lease);
        if (error !== undefined) throw error;
        await log.sync();
      }
      const { tree } = loaded;
      return new LiveSession({ header, access: "write", tree, log, encoder, ...this.#ports });
    });
  }

  /** Opens a session. Rejects if another process has it open for writing, unless `access` is `"read"`. */
  async open(
    id: string,
    options: { readonly access?: SessionAccess } = {},
  ): Promise<Session> {
    const access = readAccess(options);
    checkSessionId(id);
    if (access === "read") return this.#openStored(await this.#load(id));
    return await this.#withLease(
      id,
      async (lease) => this.#openStored(await this.#load(id), lease),
    );
  }

  /** Lists the sessions, most recently written first. */
  async list(options: ListSessionsOptions = {}): Promise<SessionPage> {
    checkFilter(options, "list");
    const filter = pickFilter(options);
    const limit = checkLimit(options.limit);
    const after = parseListCursor(options.cursor);
    return await this.#read(undefined, async () => {
      const sessions = await this.#list(filter, { after, limit });
      return toPage(sessions, {
        limit: limit ?? sessions.length,
        snapshotTime: after?.snapshotTime ?? sessions[0]?.position.updated ?? 0,
        getValue: ({ summary }) => summary,
        getPosition: ({ position }) => position,
      });
    });
  }

  /** Lists the sessions some at a time, since a server may have more than fit into memory. */
  async *#listInParts(filter: SessionFilter): AsyncGenerator<SessionSummary> {
    let last: SessionSummary | undefined;
    do {
      const after = last && { after: { updated: last.updated, id: last.id } };
      const part = await this.#storage.list({ ...filter, limit: LIST_PART_SIZE, ...after });
      yield* part;
      last = part[LIST_PART_SIZE - 1];
    } while (last);
  }

  /** Lists the sessions of a page, and one or more that follow. */
  async #list(
    filter: SessionFilter,
    { after, limit }: {
      readonly after: ListCursor | undefined;
      readonly limit: number | undefined;
    },
  ): Promise<readonly ListedSession[]> {
    const summaries = await this.#storage.list({
      ...filter,
      ...(after && { after }),
      ...(limit !== undefined && { limit: limit + 1 }),
    });
    const listed = summaries.map((summary) => ({ summary, position: summary }));
    if (!after) return listed;
    // After the list, so that a session that is written meanwhile is in one of both.
    const { snapshotTime } = after;
    const moved = await listMoved(this.#storage, filter, { snapshotTime, hasCursor: true });
    return [
      ...listed.filter(({ summary }) => !moved.ids.has(summary.id)),
      ...moved.sessions.filter(({ position }) => compareSessions(after, position) < 0),
    ].toSorted((left, right) => compareSessions(left.position, right.position));
  }

  /** Searches the texts of entries, as the storage does. */
  async search(query: string, options: SearchSessionsOptions = {}): Promise<SearchPage> {
    checkFilter(options, "search");
    const { sessionId, signal, limit: requested = DEFAULT_SEARCH_LIMIT } = options;
    if (sessionId !== undefined) checkSessionId(sessionId);
    const limit = checkLimit(requested) ?? Infinity;
    const after = parseSearchCursor(options.cursor);
    const parsed = new SearchQuery(query, options);
    if (sessionId !== undefined) await this.#load(sessionId);
    if (parsed.words.length === 0) return [];
    const filter = pickFilter(options);
    return await this.#read(sessionId, async () => {
      const snapshotTime = after?.snapshotTime ?? await this.#findLatest(filter);
      const hits = searchStorage(this.#storage, parsed, {
        ...filter,
        ...(sessionId !== undefined && { sessionId }),
        snapshotTime,
        ...(after && { after }),
        ...(signal && { signal }),
      });
      return await collectHits(hits, { limit, snapshotTime, signal });
    });
  }

  /** Deletes a session. */
  async delete(id: string): Promise<void> {
    checkSessionId(id);
    await this.#delete(id);
  }

  /** Deletes a session, unless it was written since a time: a user may have opened it since it was listed. */
  async #delete(id: string, updatedBefore?: number): Promise<void> {
    await this.#withLease(id, async (lease) => {
      const isKept = updatedBefore !== undefined &&
        !isOlder((await this.#load(id)).summary, updatedBefore);
      if (isKept) throw createLockedError(id, undefined);
      await deleteSubAgents(this, id, { checkUnlocked: (id) => this.#checkUnlocked(id) });
      if (!await this.#storage.delete(id, lease.token)) throw createNotFoundError(id);
      await lease.release();
    });
  }

  /** Deletes the sessions that match, except those that are open for writing. */
  async deleteAll(options: DeleteSessionsOptions): Promise<readonly string[]> {
    checkDeleteOptions(options);
    const { deleteAll } = this.#storage;
    if (!deleteAll) {
      return await deleteMatching({
        list: (filter) => this.list(filter),
        delete: (id) => this.#delete(id, options.updatedBefore),
      }, options);
    }
    try {
      const deleted = await deleteAll.call(this.#storage, options);
      if (options.updatedBefore === undefined) return deleted;
      const orphans = { parents: deleted, sessions: this.#listInParts(pickFilter(options)) };
      return [...deleted, ...await deleteOrphans(this, orphans)];
    } catch (error) {
      throw toSessionError(error, { id: undefined, reason: "write_failed" });
    }
  }

  /** Closes the storage. Open sessions of this store can no longer be written to. */
  async close(): Promise<void> {
    await this.#storage.close?.();
  }

  /** Closes the storage. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #discard(id: string, { token }: WriterLease): Promise<void> {
    try {
      await this.#storage.delete(id, token);
    } catch {
      // The error of the creation is reported.
    }
  }

  async #findLatest(filter: SessionFilter): Promise<number> {
    const [first] = await this.#storage.list({ ...filter, limit: 1 });
    return first?.updated ?? 0;
  }

  get #ports(): { now: () => number; newId: () => string } {
    return { now: this.#now, newId: this.#newId };
  }

  async #load(id: string): Promise<StoredSession> {
    const stored = await this.#read(id, () => this.#storage.load(id));
    if (!stored) throw createNotFoundError(id);
    return stored;
  }

  #openStored(stored: StoredSession, lease?: WriterLease): Session {
    const { header, summary } = stored;
    const loaded = loadTree(stored);
    const log = new StorageLog({ storage: this.#storage, header, summary, lease, ...loaded });
    const access = lease ? "write" : "read";
    const { tree, damage } = loaded;
    return new LiveSession({ header, access, tree, damage, log, ...this.#ports });
  }

  async #checkUnlocked(id: string): Promise<void> {
    await this.#withLease(id, (lease) => lease.release());
  }

  /** Calls a function with the lease of a session, which is released if the function rejects. */
  async #withLease<Value>(id: string, act: (lease: WriterLease) => Promise<Value>): Promise<Value> {
    let lease: WriterLease | undefined;
    try {
      lease = await acquireLease({
        storage: this.#storage,
        sessionId: id,
        createRequest: this.#createRequests(),
        renewals: this.#renewals,
        unreleased: this.#unreleased,
      });
      return await act(lease);
    } catch (error) {
      await lease?.release();
      throw toSessionError(error, { id, reason: "write_failed" });
    }
  }

  #createRequests(): () => LeaseRequest {
    const token = createRandomId();
    const since = this.#now();
    return () => ({
      token,
      owner: {
        pid: system.pid,
        ...(this.#owner !== undefined && { name: this.#owner }),
        since,
        heartbeat: this.#now(),
      },
      durationMs: this.#leaseMs,
    });
  }

  async #read<Value>(id: string | undefined, act: () => Promise<Value>): Promise<Value> {
    try {
      return await act();
    } catch (error) {
      throw toSessionError(error, { id, reason: "read_failed" });
    }
  }
}
