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
  SessionSummary,
} from "../../core/sessions/session.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import { createHeartbeats, withWriterLock, type WriterLock } from "../lock/writer_lock.ts";
import { checkPath, checkStoreOptions } from "../storage/check_store_options.ts";
import {
  deleteListed,
  type DeleteSessionOptions,
  deleteSubAgents,
} from "../store/delete_sub_agents.ts";
import { EntryEncoder } from "../store/entry_encoder.ts";
import { decodeFileName, encodeFileName, isHashedName } from "../store/file_name.ts";
import { createHeader, SESSION_VERSION } from "../store/jsonl.ts";
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
import { isUpToDate, readIndexSummary } from "./file_index.ts";
import { FileLog } from "./file_log.ts";
import type { FileInfo, FileSystem } from "./file_system.ts";
import { limitUpdated, toLatest } from "./limit_updated.ts";
import { LineOffsets } from "./line_offsets.ts";
import { type LoadedLog, loadLogIndex, saveIndex } from "./load_log_index.ts";
import { localFileSystem } from "./local_file_system.ts";
import { toLoadedState } from "./log_file_state.ts";
import { readHeaderId } from "./read_header_id.ts";
import { removeLogs, removeTemporaryFiles } from "./remove_session_files.ts";
import { searchLog } from "./search_log.ts";
import { getSessionPaths, LOG_EXTENSION, type SessionPaths } from "./session_paths.ts";
import { upgradeLog } from "./upgrade_log.ts";

/** Number of logs that `list()` reads concurrently when their indexes are outdated. */
const READ_CONCURRENCY = 16;

/** A log in the directory. */
interface ListedLog {
  /** Name of the files of the session, without an extension. */
  readonly name: string;
  /** Modification time of the log, in milliseconds since the epoch. */
  readonly modified: number;
}

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
  readonly #directory: string;
  readonly #owner: string | undefined;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #files: FileSystem;
  readonly #heartbeats = createHeartbeats();
  readonly #summaryCache = new Map<
    string,
    { readonly modified: number; readonly summary: SessionSummary }
  >();

  /** Creates a store; does not access the file system. Throws a `BadRequestError` if the directory is empty. */
  constructor(options: FileSessionStoreOptions) {
    checkStoreOptions("FileSessionStore", options, '{ directory: "data/sessions" }');
    const {
      directory,
      owner,
      now = Date.now,
      newId = createRandomId,
      files = localFileSystem,
    }: FileStoreOptions = options;
    checkPath("directory", directory);
    this.#directory = directory.replace(/[/\\]+$/, "") || "/";
    this.#owner = owner;
    this.#now = now;
    this.#newId = newId;
    this.#files = files;
  }

  /** Creates a session, open for writing. Its file is created with the first entry. */
  async create(options: CreateSessionOptions = {}): Promise<Session> {
    const header = createNewHeader(options, this.#now());
    const { id } = header;
    const paths = getSessionPaths(this.#directory, id);
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
    { access = "write" }: { readonly access?: SessionAccess } = {},
  ): Promise<Session> {
    const paths = getSessionPaths(this.#directory, id);
    await this.#findLog(id, paths);
    if (access !== "write") return this.#openSession(paths, await this.#loadLog(id, paths));
    return await this.#withLock(id, async (lock) => {
      let loaded = await this.#loadLog(id, paths);
      if (loaded.version < SESSION_VERSION) {
        await upgradeLog(this.#files, paths, loaded);
        loaded = await this.#loadLog(id, paths);
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
    const logs = this.#listLogs();
    const listed: ListedSession[] = [];
    const findUpdated = new WrittenCount().limit(this.#findUpdated);
    const select = () => selectListed(listed, after);
    const size = Math.max(READ_CONCURRENCY, (limit ?? logs.length) + 1);
    for (let from = 0; from < logs.length; from += size) {
      const summaries = await this.#readSummaries(logs.slice(from, from + size));
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
    if (sessionId !== undefined) {
      await this.#findLog(sessionId, getSessionPaths(this.#directory, sessionId));
    }
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
    const paths = getSessionPaths(this.#directory, id);
    await this.#findLog(id, paths);
    await this.#withLock(id, async (lock) => {
      if (updatedBefore !== undefined) await this.#assertOlder(id, updatedBefore);
      await deleteSubAgents(store, id, { checkUnlocked: (id) => this.#checkUnlocked(id) });
      lock.assertHeld();
      removeLogs(this.#files, paths);
      lock.release();
      removeTemporaryFiles(this.#files, paths);
    });
    this.#summaryCache.delete(paths.name);
  }

  /** Deletes the sessions that match with all their files, except those that are open for writing or cannot be opened. */
  async deleteAll(options: DeleteSessionsOptions): Promise<readonly string[]> {
    checkDeleteOptions(options);
    return await deleteListed(this, options, (id, session) => this.#delete(id, session));
  }

  /** Throws the error of a session in use that was written since a time: a user may have opened it since it was listed. */
  async #assertOlder(id: string, time: number): Promise<void> {
    const paths = getSessionPaths(this.#directory, id);
    const { modified } = await this.#findLog(id, paths);
    const summary = this.#readCachedSummary(paths.name) ??
      (await this.#loadLog(id, paths)).state.summary;
    if (!isOlder(limitUpdated(summary, modified), time)) throw createLockedError(id, undefined);
  }

  async #checkUnlocked(id: string): Promise<void> {
    await this.#withLock(id, (lock) => Promise.resolve(lock.release()));
  }

  #withLock<Value>(id: string, act: (lock: WriterLock) => Promise<Value>): Promise<Value> {
    return withWriterLock({
      storage: this.#files,
      directory: this.#directory,
      sessionId: id,
      now: this.#now,
      name: this.#owner,
      heartbeats: this.#heartbeats,
    }, act);
  }

  /** Returns the logs in the directory, most recently modified first. */
  #listLogs(): ListedLog[] {
    try {
      return this.#files.listDirectory(this.#directory)
        .filter((fileName) => fileName.endsWith(LOG_EXTENSION))
        .map((fileName) => fileName.slice(0, -LOG_EXTENSION.length))
        .filter((name) => isHashedName(name) || decodeFileName(name) !== undefined)
        .map((name) => ({ name, modified: this.#readModified(name) }))
        .toSorted((left, right) => right.modified - left.modified);
    } catch (error) {
      throw toSessionError(error, { id: undefined, reason: "read_failed" });
    }
  }

  /** Returns the modification time of a log; that of one that cannot be read is later than all others. */
  #readModified(name: string): number {
    try {
      return this.#files.stat(`${this.#directory}/${name}${LOG_EXTENSION}`)?.modified ?? Infinity;
    } catch {
      return Infinity;
    }
  }

  async #readSummaries(logs: readonly ListedLog[]): Promise<SessionSummary[]> {
    const summaries: SessionSummary[] = [];
    const outdated: ListedLog[] = [];
    const add = (summary: SessionSummary | undefined, { modified }: ListedLog) => {
      if (summary) summaries.push(limitUpdated(summary, modified));
    };
    for (const log of logs) {
      const summary = this.#readCachedSummary(log.name);
      if (summary) add(summary, log);
      else outdated.push(log);
    }
    for (let from = 0; from < outdated.length; from += READ_CONCURRENCY) {
      await Promise.all(
        outdated.slice(from, from + READ_CONCURRENCY)
          .map(async (log) => add(await this.#loadSummary(log.name), log)),
      );
    }
    return summaries;
  }

  /** Finds the time of the last entry that a session had at a time. */
  readonly #findUpdated: FindUpdated = async ({ id }, snapshotTime) => {
    try {
      const { state } = await this.#loadLog(id, getSessionPaths(this.#directory, id));
      return state.tree.nodes.findLast(({ timestamp }) => timestamp <= snapshotTime)?.timestamp;
    } catch {
      return undefined; // It was deleted or damaged meanwhile.
    }
  };

  /**
   * Returns the metadata of a session's log.
   *
   * @throws {SessionError} With the reason `not_found`, also if a hashed name belongs to another session.
   */
  async #findLog(id: string, paths: SessionPaths): Promise<FileInfo> {
    try {
      const info = this.#files.stat(paths.log);
      if (!info) throw createNotFoundError(id);
      // Without a readable id, the name is that of the session.
      const isOther = isHashedName(paths.name) && (await this.#readId(paths.name) ?? id) !== id;
      if (isOther) throw createNotFoundError(id);
      return info;
    } catch (error) {
      throw toSessionError(error, { id, reason: "read_failed" });
    }
  }

  /** Returns the id of the session whose files have a name; `undefined` if neither the log nor its index has it. */
  async #readId(name: string): Promise<string | undefined> {
    if (!isHashedName(name)) return decodeFileName(name);
    const path = `${this.#directory}/${name}`;
    const file = await this.#files.openToRead(`${path}${LOG_EXTENSION}`);
    try {
      const ids = [await readHeaderId(file), this.#readIndexId(path)];
      return ids.find((id) => id !== undefined && encodeFileName(id) === name);
    } finally {
      file.close();
    }
  }

  #readIndexId(path: string): string | undefined {
    try {
      return readIndexSummary(this.#files, `${path}.index`)?.summary.id;
    } catch {
      return undefined; // The index is missing or cannot be read.
    }
  }

  async #loadLog(id: string, paths: SessionPaths): Promise<LoadedLog> {
    try {
      return await loadLogIndex(this.#files, paths, { id, log: await this.#findLog(id, paths) });
    } catch (error) {
      // Another process has deleted it meanwhile.
      if (getSystemErrorCode(error) === "ENOENT") throw createNotFoundError(id);
      throw toSessionError(error, { id, reason: "read_failed" });
    }
  }

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

  /** Returns the summary from memory or from an up-to-date index; `undefined` if the log has to be read. */
  #readCachedSummary(name: string): SessionSummary | undefined {
    const path = `${this.#directory}/${name}`;
    try {
      const log = this.#files.stat(`${path}${LOG_EXTENSION}`);
      if (!log) return undefined;
      const cached = this.#summaryCache.get(name);
      if (cached && isUpToDate(cached, log)) return cached.summary;
      const index = readIndexSummary(this.#files, `${path}.index`);
      // Of a log that was copied or renamed with its index, the index has another id.
      if (!index || !isUpToDate(index, log) || encodeFileName(index.summary.id) !== name) {
        return undefined;
      }
      this.#summaryCache.set(name, index);
      return index.summary;
    } catch {
      return undefined; // The index is missing or cannot be read.
    }
  }

  /** Loads a log and updates its index. A log that cannot be opened gives a summary with a `problem`. */
  async #loadSummary(name: string): Promise<SessionSummary | undefined> {
    let id = decodeFileName(name);
    let info: FileInfo | undefined;
    try {
      id ??= await this.#readId(name);
      if (id === undefined) return undefined;
      const paths = getSessionPaths(this.#directory, id);
      info = this.#files.stat(paths.log);
      if (!info) return undefined;
      const loaded = await this.#loadLog(id, paths);
      await saveIndex(this.#files, paths, loaded);
      const { summary } = loaded.state;
      this.#summaryCache.set(name, { modified: info.modified, summary });
      return summary;
    } catch (error) {
      const { message, reason } = toSessionError(error, { id, reason: "read_failed" });
      if (id === undefined || reason === "not_found") return undefined;
      const { modified: created, size } = info ?? { modified: 0, size: 0 };
      const header = createHeader({ id, created });
      return { ...SummaryBuilder.from(header).build(size), problem: message };
    }
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
        const file = await this.#files.openToRead(getSessionPaths(this.#directory, id).log);
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
