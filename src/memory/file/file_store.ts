/**
 * Sessions as files: one append-only log of JSON lines each.
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
  SessionPage,
  SessionStore,
} from "../../core/sessions/session.ts";
import { createHeartbeats, withWriterLock, type WriterLock } from "../lock/writer_lock.ts";
import { checkPath, checkStoreOptions } from "../storage/check_store_options.ts";
import {
  deleteListed,
  type DeleteSessionOptions,
  deleteSubAgents,
} from "../store/delete_sub_agents.ts";
import { readAccess } from "../store/access_option.ts";
import { EntryEncoder } from "../store/entry_encoder.ts";
import { SESSION_VERSION } from "../store/jsonl.ts";
import {
  type FindUpdated,
  type ListedSession,
  listSnapshot,
  selectListed,
  WrittenCount,
} from "../store/list_snapshot.ts";
import { addEntries, LiveSession } from "../store/live_session.ts";
import { createNewHeader } from "../store/new_header.ts";
import { DEFAULT_SEARCH_LIMIT, SearchQuery } from "../store/search.ts";
import { collectHits, type FoundHit } from "../store/search_page.ts";
import {
  createAlreadyExistsError,
  createLockedError,
  toSessionError,
} from "../store/session_errors.ts";
import {
  checkDeleteOptions,
  checkFilter,
  checkLimit,
  isOlder,
  pickFilter,
} from "../store/session_filter.ts";
import { createRandomId } from "../store/session_id.ts";
import {
  compareSessions,
  type HitPosition,
  parseListCursor,
  parseSearchCursor,
  selectSummaries,
  type SessionOrder,
  toPage,
} from "../store/session_page.ts";
import { SessionTree } from "../store/session_tree.ts";
import { SummaryBuilder } from "../store/summary.ts";
import { FileLog } from "./file_log.ts";
import type { FileSystem } from "./file_system.ts";
import { limitUpdated, toLatest } from "./limit_updated.ts";
import { LineOffsets } from "./line_offsets.ts";
import type { LoadedLog } from "./load_log_index.ts";
import { localFileSystem } from "./local_file_system.ts";
import { LogDirectory } from "./log_directory.ts";
import { toLoadedState } from "./log_file_state.ts";
import { LogSummaries, READ_CONCURRENCY } from "./log_summaries.ts";
import { removeLogs, removeTemporaryFiles } from "./remove_session_files.ts";
import { searchLog } from "./search_log.ts";
import type { SessionPaths } from "./session_paths.ts";
import { upgradeLog } from "./upgrade_log.ts";

/** Options for {@linkcode FileSessionStore}. */
export interface FileSessionStoreOptions {
  /** The directory of the sessions; created with the first session. */
  readonly directory: string;
  /** Name of the host, shown to other processes that find a session locked. */
  readonly owner?: string | undefined;
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Creates ids for entries. Default: twelve random letters and digits. */
  readonly newId?: (() => string) | undefined;
}

/** Options for {@linkcode FileSessionStore} with the file system, which tests replace. Not public. */
export interface FileStoreOptions extends FileSessionStoreOptions {
  /** The file system. Default: that of this machine. */
  readonly files?: FileSystem;
}

/**
 * Keeps each session in a file of its own, `<id>.jsonl`, to which lines are only appended.
 *
 * Two more files may exist per session: `<id>.index`, a cache that makes listing and opening fast, and
 * `<id>.lock` while the session is open for writing. Needs permission to read and write the directory.
 *
 * @example
 * ```ts
 * import { FileSessionStore } from "@swink/agent/memory";
 *
 * const store = new FileSessionStore({ directory: await Deno.makeTempDir() });
 * await using session = await store.create({ cwd: "/work" });
 * session.append({ type: "title", title: "First steps" });
 * await session.flush();
 * ```
 */
export class FileSessionStore implements SessionStore {
  readonly #directory: LogDirectory;
  readonly #summaries: LogSummaries;
  readonly #owner: string | undefined;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #files: FileSystem;
  readonly #heartbeats = createHeartbeats();

  /** Creates a store; does not access the file system. Throws a `BadRequestError` if the directory is empty. */
  constructor(options: FileSessionStoreOptions) {
    checkStoreOptions("FileSessionStore", options, {
      example: '{ directory: "data/sessions" }',
      known: ["directory", "owner", "now", "newId", "files"],
    });
    const {
      directory,
      owner,
      now = Date.now,
      newId = createRandomId,
      files = localFileSystem,
    }: FileStoreOptions = options;
    checkPath("directory", directory);
    this.#directory = new LogDirectory(files, directory.replace(/[/\\]+$/, "") || "/");
    this.#summaries = new LogSummaries(files, this.#directory);
    this.#owner = owner;
    this.#now = now;
    this.#newId = newId;
    this.#files = files;
  }

  /** Creates a session, open for writing. Its file is created with the first entry. */
  async create(options: CreateSessionOptions = {}): Promise<Session> {
    const header = createNewHeader(options, this.#now());
    const { id } = header;
    const paths = this.#directory.getPaths(id);
    return await this.#withLock(id, async (lock) => {
      if (this.#files.stat(paths.log)) throw createAlreadyExistsError(id);
      const tree = new SessionTree();
      const encoder = new EntryEncoder(id);
      const entries = addEntries(tree, encoder, options.entries ?? []);
      const summary = SummaryBuilder.from(header).build(0);
      const log = new FileLog({
        files: this.#files,
        paths,
        state: { header, tree, offsets: new LineOffsets(), damage: [], summary },
        file: { type: "missing" },
        lock,
      });
      if (entries.length > 0) await log.writeFirst(entries);
      const loadedEntries = entries.map(({ entry }) => entry);
      return this.#createSession({ header, access: "write", tree, loadedEntries, log, encoder });
    });
  }

  /** Opens a session. A log of an older version is upgraded when it is opened for writing. */
  async open(
    id: string,
    options: { readonly access?: SessionAccess } = {},
  ): Promise<Session> {
    const access = readAccess(options);
    const paths = this.#directory.getPaths(id);
    await this.#directory.find(id);
    if (access === "read") return this.#openSession(paths, await this.#directory.load(id));
    return await this.#withLock(id, async (lock) => {
      let loaded = await this.#directory.load(id);
      if (loaded.version < SESSION_VERSION) {
        await upgradeLog(this.#files, paths, loaded);
        loaded = await this.#directory.load(id);
      }
      return this.#openSession(paths, loaded, lock);
    });
  }

  /** Lists the sessions, most recently written first. Updates outdated indexes. */
  async list(options: ListSessionsOptions = {}): Promise<SessionPage> {
    checkFilter(options, "list");
    const filter = pickFilter(options);
    const limit = checkLimit(options.limit);
    const after = parseListCursor(options.cursor);
    const logs = this.#directory.list();
    const listed: ListedSession[] = [];
    const findUpdated = new WrittenCount().limit(this.#findUpdated);
    const select = () => selectListed(listed, after);
    const size = Math.max(READ_CONCURRENCY, (limit ?? logs.length) + 1);
    for (let from = 0; from < logs.length; from += size) {
      const summaries = await this.#summaries.read(logs.slice(from, from + size));
      const selected = selectSummaries(summaries, filter);
      const { snapshotTime = Infinity } = after ?? {};
      const found = await listSnapshot(selected, snapshotTime, findUpdated);
      for (const session of found) listed.push(session);
      if (limit === undefined) continue;
      // Sessions are not newer than their logs, so older logs cannot be on this page.
      const bound = toLatest(logs[from + size]?.modified ?? -Infinity);
      if ((select()[limit]?.position.updated ?? -Infinity) > bound) break;
    }
    const sessions = select();
    return toPage(sessions, {
      limit: limit ?? sessions.length,
      snapshotTime: after?.snapshotTime ?? sessions[0]?.position.updated ?? 0,
      getValue: ({ summary }) => summary,
      getPosition: ({ position }) => position,
    });
  }

  /** Searches the logs. Takes as long as reading them. Logs that cannot be read are skipped. */
  async search(query: string, options: SearchSessionsOptions = {}): Promise<SearchPage> {
    checkFilter(options, "search");
    const { sessionId, signal, limit: requested = DEFAULT_SEARCH_LIMIT } = options;
    const limit = checkLimit(requested) ?? Infinity;
    const after = parseSearchCursor(options.cursor);
    const parsed = new SearchQuery(query, options);
    if (sessionId !== undefined) await this.#directory.find(sessionId);
    if (parsed.words.length === 0) return [];
    const listed = await this.list(pickFilter(options));
    // Without those that cannot be opened: reading one that is no file might never end.
    const summaries = listed.filter(({ id, problem }) => problem === undefined || id === sessionId);
    const snapshotTime = after?.snapshotTime ?? summaries[0]?.updated ?? 0;
    const isSearched = ({ position }: ListedSession) =>
      (sessionId === undefined || position.id === sessionId) &&
      (!after || compareSessions(after, position) <= 0);
    const findUpdated = after ? new WrittenCount().limit(this.#findUpdated) : this.#findUpdated;
    const sessions = (await listSnapshot(summaries, snapshotTime, findUpdated)).filter(isSearched)
      .map(({ position }) => position);
    const search = { query: parsed, after, isOptional: sessionId === undefined };
    return await collectHits(this.#searchSessions(sessions, search), {
      limit,
      snapshotTime,
      signal,
    });
  }

  /** Deletes a session with all its files. */
  async delete(id: string): Promise<void> {
    await this.#delete(id, { store: this });
  }

  /** Deletes a session, with those of its sub-agents. */
  async #delete(
    id: string,
    { store, updatedBefore }: DeleteSessionOptions,
  ): Promise<void> {
    const paths = this.#directory.getPaths(id);
    await this.#directory.find(id);
    await this.#withLock(id, async (lock) => {
      if (updatedBefore !== undefined) await this.#assertOlder(id, updatedBefore);
      await deleteSubAgents(store, id, { checkUnlocked: (id) => this.#checkUnlocked(id) });
      lock.assertHeld();
      removeLogs(this.#files, paths);
      lock.release();
      removeTemporaryFiles(this.#files, paths);
    });
    this.#summaries.forget(paths.name);
  }

  /** Deletes the sessions that match with all their files, except those that are open for writing or cannot be opened. */
  async deleteAll(options: DeleteSessionsOptions): Promise<readonly string[]> {
    checkDeleteOptions(options);
    return await deleteListed(this, options, (id, session) => this.#delete(id, session));
  }

  /** Throws the error of a session in use that was written since a time: a user may have opened it since it was listed. */
  async #assertOlder(id: string, time: number): Promise<void> {
    const { modified } = await this.#directory.find(id);
    const summary = this.#summaries.readCached(this.#directory.getPaths(id).name) ??
      (await this.#directory.load(id)).state.summary;
    if (!isOlder(limitUpdated(summary, modified), time)) throw createLockedError(id, undefined);
  }

  async #checkUnlocked(id: string): Promise<void> {
    await this.#withLock(id, (lock) => Promise.resolve(lock.release()));
  }

  #withLock<Value>(id: string, act: (lock: WriterLock) => Promise<Value>): Promise<Value> {
    return withWriterLock({
      storage: this.#files,
      directory: this.#directory.path,
      sessionId: id,
      now: this.#now,
      name: this.#owner,
      heartbeats: this.#heartbeats,
    }, act);
  }

  /** Finds the time of the last entry that a session had at a time. */
  readonly #findUpdated: FindUpdated = async ({ id }, snapshotTime) => {
    try {
      const { state } = await this.#directory.load(id);
      return state.tree.nodes.findLast(({ timestamp }) => timestamp <= snapshotTime)?.timestamp;
    } catch {
      return undefined; // The log was deleted or damaged meanwhile.
    }
  };

  #openSession(paths: SessionPaths, loaded: LoadedLog, lock?: WriterLock): Session {
    const { state, entries, tail, inode, indexed } = loaded;
    const { header, tree, damage } = state;
    const file = toLoadedState(tail, inode);
    return this.#createSession({
      header,
      access: lock ? "write" : "read",
      tree,
      damage: [...damage],
      loadedEntries: entries,
      log: new FileLog({ files: this.#files, paths, state, file, indexed, lock }),
    });
  }

  #createSession(
    options: Omit<ConstructorParameters<typeof LiveSession>[0], "now" | "newId">,
  ): Session {
    return new LiveSession({ ...options, now: this.#now, newId: this.#newId });
  }

  async *#searchSessions(
    sessions: readonly SessionOrder[],
    { query, after, isOptional }: {
      readonly query: SearchQuery;
      readonly after: HitPosition | undefined;
      readonly isOptional: boolean;
    },
  ): AsyncGenerator<FoundHit> {
    for (const { id, updated } of sessions) {
      const from = after?.id === id ? after.position + 1 : 0;
      try {
        const file = await this.#files.openToRead(this.#directory.getPaths(id).log);
        try {
          for await (const found of searchLog(file, { sessionId: id, query, from })) {
            yield { ...found, updated, id };
          }
        } finally {
          file.close();
        }
      } catch (error) {
        if (!isOptional) throw toSessionError(error, { id, reason: "read_failed" });
      }
    }
  }
}
