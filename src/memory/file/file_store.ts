/**
 * Sessions as files: one append-only log of JSON lines each.
 *
 * @module
 */

import { getErrorMessage, SessionError } from "../../core/errors.ts";
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
import { withWriterLock, type WriterLock } from "../lock/writer_lock.ts";
import { EntryEncoder } from "../store/entry_encoder.ts";
import { createHeader, SESSION_VERSION } from "../store/jsonl.ts";
import { addEntries, LiveSession } from "../store/live_session.ts";
import { DEFAULT_SEARCH_LIMIT, SearchQuery } from "../store/search.ts";
import {
  createAlreadyExistsError,
  createNotFoundError,
  toSessionError,
} from "../store/session_errors.ts";
import { createRandomId, createSessionId } from "../store/session_id.ts";
import { SessionTree } from "../store/session_tree.ts";
import { selectSummaries, SummaryBuilder } from "../store/summary.ts";
import { localFileSystem } from "./local_file_system.ts";
import { isUpToDate, MAX_SUMMARY_BYTES, readIndexSummary } from "./file_index.ts";
import { FileLog } from "./file_log.ts";
import type { FileInfo, FileSystem } from "./file_system.ts";
import { LineOffsets } from "./line_offsets.ts";
import { type LoadedLog, loadLogIndex, saveIndex } from "./load_log_index.ts";
import { toLoadedState } from "./log_file_state.ts";
import { searchLog } from "./search_log.ts";
import {
  getOldLogPath,
  getSessionPaths,
  LOG_EXTENSION,
  type SessionPaths,
} from "./session_paths.ts";
import { upgradeLog } from "./upgrade_log.ts";

/** Number of logs that `list()` reads concurrently when their indexes are outdated. */
const READ_CONCURRENCY = 16;

/** Options for {@linkcode FileSessionStore}. */
export interface FileSessionStoreOptions {
  /** The directory of the sessions; created with the first session. */
  readonly directory: string;
  /** Name of the host, shown to other processes that find a session locked. */
  readonly owner?: string;
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Creates ids for entries. Default: twelve random letters and digits. */
  readonly newId?: () => string;
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
  readonly #summaryCache = new Map<
    string,
    { readonly modified: number; readonly summary: SessionSummary }
  >();

  /** Creates a store; does not access the file system. */
  constructor(options: FileSessionStoreOptions) {
    const {
      directory,
      owner,
      now = Date.now,
      newId = createRandomId,
      files = localFileSystem,
    }: FileStoreOptions = options;
    this.#directory = directory.replace(/[/\\]+$/, "") || "/";
    this.#owner = owner;
    this.#now = now;
    this.#newId = newId;
    this.#files = files;
  }

  /** Creates a session, open for writing. Its file is created with the first entry. */
  async create(options: CreateSessionOptions = {}): Promise<Session> {
    const { id = createSessionId(this.#now()) } = options;
    const paths = getSessionPaths(this.#directory, id);
    return await this.#withLock(id, async (lock) => {
      if (this.#files.stat(paths.log)) throw createAlreadyExistsError(id);
      const header = createHeader({ ...options, id, created: this.#now() });
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
      if (entries.length > 0) {
        const { error } = await log.append(entries);
        if (error !== undefined) throw error;
        await log.sync();
      }
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
    this.#statLog(id, paths);
    if (access === "read") return this.#openSession(paths, await this.#loadLog(id, paths));
    return await this.#withLock(id, async (lock) => {
      let loaded = await this.#loadLog(id, paths);
      if (loaded.version < SESSION_VERSION) {
        await upgradeLog(this.#files, paths, loaded);
        loaded = await this.#loadLog(id, paths);
      }
      return this.#openSession(paths, loaded, lock);
    });
  }

  /** Lists all sessions, most recently written first. Updates outdated indexes. */
  async list(options: ListSessionsOptions = {}): Promise<readonly SessionSummary[]> {
    const summaries: SessionSummary[] = [];
    const outdated: string[] = [];
    for (const id of this.#listIds()) {
      const summary = this.#readCachedSummary(id);
      if (summary) summaries.push(summary);
      else outdated.push(id);
    }
    for (let from = 0; from < outdated.length; from += READ_CONCURRENCY) {
      const batch = outdated.slice(from, from + READ_CONCURRENCY);
      const read = await Promise.all(batch.map((id) => this.#loadSummary(id)));
      summaries.push(...read.filter((summary) => summary !== undefined));
    }
    return selectSummaries(summaries, options);
  }

  /** Searches the logs. Takes as long as reading them. */
  async search(query: string, options: SearchSessionsOptions = {}): Promise<readonly SearchHit[]> {
    const { sessionId, limit = DEFAULT_SEARCH_LIMIT, signal } = options;
    const parsed = new SearchQuery(query, options);
    if (parsed.words.length === 0) return [];
    const ids = sessionId === undefined ? (await this.list()).map(({ id }) => id) : [sessionId];
    const hits: SearchHit[] = [];
    for (const id of ids) {
      if (hits.length >= limit || signal?.aborted) break;
      const search = { sessionId: id, query: parsed, limit: limit - hits.length, signal };
      hits.push(...await this.#searchSession(search));
    }
    return hits;
  }

  /** Deletes a session with all its files. */
  async delete(id: string): Promise<void> {
    const paths = getSessionPaths(this.#directory, id);
    this.#statLog(id, paths);
    await this.#withLock(id, (lock) => {
      this.#files.remove(paths.log);
      this.#files.remove(paths.index);
      for (let version = 0; version < SESSION_VERSION; version++) {
        this.#files.remove(getOldLogPath(paths, version));
      }
      lock.release();
      return Promise.resolve();
    });
    this.#summaryCache.delete(id);
  }

  #withLock<Value>(id: string, act: (lock: WriterLock) => Promise<Value>): Promise<Value> {
    return withWriterLock({
      storage: this.#files,
      directory: this.#directory,
      sessionId: id,
      now: this.#now,
      name: this.#owner,
    }, act);
  }

  #listIds(): string[] {
    return this.#files.listDirectory(this.#directory).filter((name) => name.endsWith(LOG_EXTENSION))
      .map((name) => name.slice(0, -LOG_EXTENSION.length)).filter(isValidSessionId);
  }

  #statLog(id: string, paths: SessionPaths): FileInfo {
    const info = this.#files.stat(paths.log);
    if (!info) throw createNotFoundError(id);
    return info;
  }

  async #loadLog(id: string, paths: SessionPaths): Promise<LoadedLog> {
    try {
      return await loadLogIndex(this.#files, paths, { id, log: this.#statLog(id, paths) });
    } catch (error) {
      throw toSessionError(error, { id, reason: "read_failed" });
    }
  }

  #openSession(paths: SessionPaths, loaded: LoadedLog, lock?: WriterLock): Session {
    const { state, entries, tail, indexed } = loaded;
    const { header, tree, damage } = state;
    const file = toLoadedState(tail);
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
  #readCachedSummary(id: string): SessionSummary | undefined {
    const paths = getSessionPaths(this.#directory, id);
    try {
      const log = this.#files.stat(paths.log);
      if (!log) return undefined;
      const cached = this.#summaryCache.get(id);
      if (cached && isUpToDate(cached, log)) return cached.summary;
      const index = readIndexSummary(this.#files.readEnd(paths.index, MAX_SUMMARY_BYTES));
      if (!index || !isUpToDate(index, log)) return undefined;
      this.#summaryCache.set(id, index);
      return index.summary;
    } catch {
      return undefined; // The index is missing or cannot be read.
    }
  }

  /** Loads a log and updates its index. A log that cannot be opened gives a summary with a `problem`. */
  async #loadSummary(id: string): Promise<SessionSummary | undefined> {
    const paths = getSessionPaths(this.#directory, id);
    const info = this.#files.stat(paths.log);
    if (!info) return undefined;
    try {
      const loaded = await this.#loadLog(id, paths);
      await saveIndex(this.#files, paths, loaded);
      const { summary } = loaded.state;
      this.#summaryCache.set(id, { modified: info.modified, summary });
      return summary;
    } catch (error) {
      const header = createHeader({ id, created: info.modified });
      const summary = SummaryBuilder.from(header).build(info.size);
      return { ...summary, problem: getErrorMessage(error) };
    }
  }

  async #searchSession(search: Parameters<typeof searchLog>[1]): Promise<SearchHit[]> {
    const { sessionId: id } = search;
    const paths = getSessionPaths(this.#directory, id);
    this.#statLog(id, paths);
    try {
      const file = await this.#files.openToRead(paths.log);
      try {
        return await searchLog(file, search);
      } finally {
        file.close();
      }
    } catch (error) {
      throw toSessionError(error, { id, reason: "read_failed" });
    }
  }
}

function isValidSessionId(id: string): boolean {
  try {
    getSessionPaths("", id);
    return true;
  } catch (error) {
    if (error instanceof SessionError) return false;
    throw error;
  }
}
