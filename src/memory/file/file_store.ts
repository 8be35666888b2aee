/**
 * Sessions as files: one append-only log of JSON lines each.
 *
 * @module
 */

import { SessionError } from "../../core/errors.ts";
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
import { denoFileSystem } from "./deno_file_system.ts";
import {
  createAlreadyExistsError,
  createLockedError,
  createNotFoundError,
  toSessionError,
} from "../store/session_errors.ts";
import { isUpToDate, MAX_SUMMARY_BYTES, readIndexSummary } from "./file_index.ts";
import { FileLog, type SessionPaths } from "./file_log.ts";
import type { FileInfo, FileSystem } from "./file_system.ts";
import { createHeader, SESSION_VERSION } from "../store/jsonl.ts";
import { LineOffsets } from "./line_offsets.ts";
import { type LoadedLog, loadLogIndex, saveIndex } from "./load_log_index.ts";
import { addEntries, LiveSession } from "../store/live_session.ts";
import { searchLog } from "./search_log.ts";
import { DEFAULT_SEARCH_LIMIT, SearchQuery } from "../store/search.ts";
import { checkSessionId, createRandomId, createSessionId } from "../store/session_id.ts";
import { SessionTree } from "../store/session_tree.ts";
import { selectSummaries, SummaryBuilder } from "../store/summary.ts";
import { getOldLogPath, upgradeLog } from "./upgrade_log.ts";
import { acquireWriterLock, type WriterLock } from "./writer_lock.ts";

const LOG_EXTENSION = ".jsonl";
/** How many logs are read at a time when their indexes are behind. */
const READ_CONCURRENCY = 16;

/** Options of a {@linkcode FileSessionStore}. */
export interface FileSessionStoreOptions {
  /** The folder of the sessions; made when the first one is begun. */
  readonly directory: string;
  /** What the host calls itself, for those who find a session open elsewhere. */
  readonly owner?: string;
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Makes ids for entries. Default: twelve random letters and digits. */
  readonly newId?: () => string;
  /** The disk. Default: that of this machine, through `Deno`. */
  readonly files?: FileSystem;
}

/**
 * Keeps each session in a file of its own, `<id>.jsonl`, to which lines are only ever appended.
 *
 * Beside it may stand `<id>.index`, a cache that makes listing and opening cheap, and `<id>.lock` while
 * somebody writes. Needs permission to read and write the folder.
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
    { readonly modified: number; summary: SessionSummary }
  >();

  /** Takes a folder; nothing is read or written yet. */
  constructor(options: FileSessionStoreOptions) {
    this.#directory = options.directory.replace(/[/\\]+$/, "") || "/";
    this.#owner = options.owner;
    this.#now = options.now ?? Date.now;
    this.#newId = options.newId ?? createRandomId;
    this.#files = options.files ?? denoFileSystem;
  }

  /** Begins a session. Its file is made with its first entry. */
  async create(options: CreateSessionOptions = {}): Promise<Session> {
    const { id = createSessionId(this.#now()) } = options;
    const paths = this.#getPaths(id);
    return await this.#withLock(id, paths, async (lock) => {
      if (this.#files.stat(paths.log)) throw createAlreadyExistsError(id);
      const header = createHeader({ ...options, id, created: this.#now() });
      const tree = new SessionTree();
      const entries = addEntries(tree, options.entries ?? []);
      const summary = SummaryBuilder.from(header).build(0);
      const log = new FileLog({
        files: this.#files,
        paths,
        state: { header, tree, offsets: new LineOffsets(), damage: [], summary },
        isNew: true,
        needsHeader: true,
        lacksNewline: false,
        indexedEntries: 0,
        indexedDamage: 0,
        lock,
      });
      if (entries.length > 0) await appendAll(log, entries);
      return this.#createSession({ header, access: "write", tree, loadedEntries: entries, log });
    });
  }

  /** Opens a session. One of an older version is upgraded when it is opened for writing. */
  async open(
    id: string,
    { access = "write" }: { readonly access?: SessionAccess } = {},
  ): Promise<Session> {
    const paths = this.#getPaths(id);
    this.#statLog(id, paths);
    if (access === "read") return this.#openSession(paths, await this.#loadLog(id, paths));
    return await this.#withLock(id, paths, async (lock) => {
      let learnt = await this.#loadLog(id, paths);
      if (learnt.version < SESSION_VERSION) {
        await upgradeLog(this.#files, paths, learnt);
        learnt = await this.#loadLog(id, paths);
      }
      return this.#openSession(paths, learnt, lock);
    });
  }

  /** All sessions, the one that was written to last first. Indexes that are behind are brought up to date. */
  async list(options: ListSessionsOptions = {}): Promise<readonly SessionSummary[]> {
    const summaries: SessionSummary[] = [];
    const behind: string[] = [];
    for (const id of this.#listIds()) {
      const summary = this.#readCachedSummary(id);
      if (summary) summaries.push(summary);
      else behind.push(id);
    }
    for (let from = 0; from < behind.length; from += READ_CONCURRENCY) {
      const some = behind.slice(from, from + READ_CONCURRENCY);
      const read = await Promise.all(some.map((id) => this.#loadSummary(id)));
      summaries.push(...read.filter((summary) => summary !== undefined));
    }
    return selectSummaries(summaries, options);
  }

  /** Searches the logs themselves; takes as long as reading them does. */
  async search(query: string, options: SearchSessionsOptions = {}): Promise<readonly SearchHit[]> {
    const { sessionId, limit = DEFAULT_SEARCH_LIMIT, signal } = options;
    const wanted = new SearchQuery(query, options);
    if (wanted.words.length === 0) return [];
    const ids = sessionId === undefined ? (await this.list()).map(({ id }) => id) : [sessionId];
    const hits: SearchHit[] = [];
    for (const id of ids) {
      if (hits.length >= limit || signal?.aborted) break;
      const search = { sessionId: id, query: wanted, limit: limit - hits.length, signal };
      hits.push(...await this.#searchSession(search));
    }
    return hits;
  }

  /** Deletes a session and whatever stands beside its log. */
  async delete(id: string): Promise<void> {
    const paths = this.#getPaths(id);
    this.#statLog(id, paths);
    await this.#withLock(id, paths, (lock) => {
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

  #listIds(): string[] {
    return this.#files.listDirectory(this.#directory).filter((name) => name.endsWith(LOG_EXTENSION))
      .map((name) => name.slice(0, -LOG_EXTENSION.length)).filter(isValidSessionId);
  }

  #getPaths(id: string): SessionPaths {
    checkSessionId(id);
    const stem = `${this.#directory}/${id}`;
    const log = `${stem}${LOG_EXTENSION}`;
    return { directory: this.#directory, log, index: `${stem}.index`, lock: `${stem}.lock` };
  }

  #statLog(id: string, paths: SessionPaths): FileInfo {
    const facts = this.#files.stat(paths.log);
    if (!facts) throw createNotFoundError(id);
    return facts;
  }

  async #loadLog(id: string, paths: SessionPaths): Promise<LoadedLog> {
    try {
      return await loadLogIndex(this.#files, paths, { id, log: this.#statLog(id, paths) });
    } catch (error) {
      throw toSessionError(error, { id, reason: "read_failed" });
    }
  }

  /** Does something that needs the right to write; gives the right back when it fails. */
  async #withLock<Value>(
    id: string,
    paths: SessionPaths,
    act: (lock: WriterLock) => Promise<Value>,
  ): Promise<Value> {
    let lock: WriterLock | undefined;
    try {
      this.#files.makeDirectory(paths.directory);
      const answer = acquireWriterLock({
        files: this.#files,
        path: paths.lock,
        now: this.#now,
        name: this.#owner,
      });
      if (answer.type === "refused") throw createLockedError(id, answer.owner);
      lock = answer.lock;
      return await act(lock);
    } catch (error) {
      lock?.release();
      throw toSessionError(error, { id, reason: "write_failed" });
    }
  }

  #openSession(paths: SessionPaths, learnt: LoadedLog, lock?: WriterLock): Session {
    const {
      state: known,
      entries,
      hasHeader,
      lacksNewline: endsOpen,
      indexedEntries: indexed,
      indexedDamage,
    } = learnt;
    const log = new FileLog({
      files: this.#files,
      paths,
      state: known,
      isNew: false,
      needsHeader: !hasHeader,
      lacksNewline: endsOpen,
      indexedEntries: indexed,
      indexedDamage,
      ...(lock && { lock }),
    });
    const { header, tree, damage } = known;
    const access = lock ? "write" : "read";
    return this.#createSession({
      header,
      access,
      tree,
      damage: [...damage],
      loadedEntries: entries,
      log,
    });
  }

  #createSession(
    parts: Omit<ConstructorParameters<typeof LiveSession>[0], "now" | "newId">,
  ): Session {
    return new LiveSession({ ...parts, now: this.#now, newId: this.#newId });
  }

  /** The summary as it was listed before, or as the end of an up-to-date index tells it. */
  #readCachedSummary(id: string): SessionSummary | undefined {
    const paths = this.#getPaths(id);
    try {
      const log = this.#files.stat(paths.log);
      if (!log) return undefined;
      const listed = this.#summaryCache.get(id);
      if (listed && isUpToDate(listed, log)) return listed.summary;
      const index = readIndexSummary(this.#files.readEnd(paths.index, MAX_SUMMARY_BYTES));
      if (!index || !isUpToDate(index, log)) return undefined;
      this.#summaryCache.set(id, index);
      return index.summary;
    } catch {
      return undefined; // there is no index
    }
  }

  async #loadSummary(id: string): Promise<SessionSummary | undefined> {
    const paths = this.#getPaths(id);
    const facts = this.#files.stat(paths.log);
    if (!facts) return undefined;
    try {
      const learnt = await this.#loadLog(id, paths);
      await saveIndex(this.#files, paths, learnt);
      const { summary } = learnt.state;
      this.#summaryCache.set(id, { modified: facts.modified, summary });
      return summary;
    } catch (error) {
      const header = createHeader({ id, created: facts.modified });
      const summary = SummaryBuilder.from(header).build(facts.size);
      return { ...summary, problem: error instanceof Error ? error.message : String(error) };
    }
  }

  async #searchSession(search: Parameters<typeof searchLog>[1]): Promise<SearchHit[]> {
    const { sessionId: id } = search;
    const paths = this.#getPaths(id);
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

/** Keeps the entries that a session begins with, or fails. */
async function appendAll(log: FileLog, entries: Parameters<FileLog["append"]>[0]): Promise<void> {
  const { error } = await log.append(entries);
  if (error !== undefined) throw error;
  await log.sync();
}

function isValidSessionId(id: string): boolean {
  try {
    checkSessionId(id);
    return true;
  } catch (error) {
    if (error instanceof SessionError) return false;
    throw error;
  }
}
