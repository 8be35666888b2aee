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
import { alreadyExists, lockedBy, notFound, sessionFailure } from "../store/failure.ts";
import { isUpToDate, readIndexSummary, SUMMARY_BYTES } from "./file_index.ts";
import { FileLog, type SessionPaths } from "./file_log.ts";
import type { FileFacts, FileSystem } from "./file_system.ts";
import { headerOf, SESSION_VERSION } from "../store/jsonl.ts";
import { LinePlaces } from "./line_places.ts";
import { learnLog, type LearntLog, saveIndex } from "./learn_log.ts";
import { adoptEntries, LiveSession } from "../store/live_session.ts";
import { searchLog } from "./search_log.ts";
import { DEFAULT_SEARCH_LIMIT, SearchQuery } from "../store/search.ts";
import { checkSessionId, newSessionId, randomName } from "../store/session_id.ts";
import { SessionTree } from "../store/session_tree.ts";
import { chosenSummaries, SummaryDraft } from "../store/summary.ts";
import { oldLogPath, upgradeLog } from "./upgrade_log.ts";
import { acquireWriterLock, type WriterLock } from "./writer_lock.ts";

const LOG_ENDING = ".jsonl";
/** How many logs are read at a time when their indexes are behind. */
const READ_AT_ONCE = 16;

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
  readonly #listed = new Map<string, { readonly modified: number; summary: SessionSummary }>();

  /** Takes a folder; nothing is read or written yet. */
  constructor(options: FileSessionStoreOptions) {
    this.#directory = options.directory.replace(/[/\\]+$/, "") || "/";
    this.#owner = options.owner;
    this.#now = options.now ?? Date.now;
    this.#newId = options.newId ?? randomName;
    this.#files = options.files ?? denoFileSystem;
  }

  /** Begins a session. Its file is made with its first entry. */
  async create(options: CreateSessionOptions = {}): Promise<Session> {
    const { id = newSessionId(this.#now()) } = options;
    const paths = this.#pathsOf(id);
    return await this.#withLock(id, paths, async (lock) => {
      if (this.#files.facts(paths.log)) throw alreadyExists(id);
      const header = headerOf({ ...options, id, created: this.#now() });
      const tree = new SessionTree();
      const entries = adoptEntries(tree, options.entries ?? []);
      const summary = SummaryDraft.of(header).finish(0);
      const log = new FileLog({
        files: this.#files,
        paths,
        known: { header, tree, places: new LinePlaces(), damage: [], summary },
        isNew: true,
        needsHeader: true,
        endsOpen: false,
        indexed: 0,
        indexedDamage: 0,
        lock,
      });
      if (entries.length > 0) await keepAll(log, entries);
      return this.#session({ header, access: "write", tree, known: entries, log });
    });
  }

  /** Opens a session. One of an older version is upgraded when it is opened for writing. */
  async open(
    id: string,
    { access = "write" }: { readonly access?: SessionAccess } = {},
  ): Promise<Session> {
    const paths = this.#pathsOf(id);
    this.#factsOf(id, paths);
    if (access === "read") return this.#opened(paths, await this.#learn(id, paths));
    return await this.#withLock(id, paths, async (lock) => {
      let learnt = await this.#learn(id, paths);
      if (learnt.version < SESSION_VERSION) {
        await upgradeLog(this.#files, paths, learnt);
        learnt = await this.#learn(id, paths);
      }
      return this.#opened(paths, learnt, lock);
    });
  }

  /** All sessions, the one that was written to last first. Indexes that are behind are brought up to date. */
  async list(options: ListSessionsOptions = {}): Promise<readonly SessionSummary[]> {
    const summaries: SessionSummary[] = [];
    const behind: string[] = [];
    for (const id of this.#ids()) {
      const summary = this.#quickSummary(id);
      if (summary) summaries.push(summary);
      else behind.push(id);
    }
    for (let from = 0; from < behind.length; from += READ_AT_ONCE) {
      const some = behind.slice(from, from + READ_AT_ONCE);
      const read = await Promise.all(some.map((id) => this.#slowSummary(id)));
      summaries.push(...read.filter((summary) => summary !== undefined));
    }
    return chosenSummaries(summaries, options);
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
      hits.push(...await this.#search(search));
    }
    return hits;
  }

  /** Deletes a session and whatever stands beside its log. */
  async delete(id: string): Promise<void> {
    const paths = this.#pathsOf(id);
    this.#factsOf(id, paths);
    await this.#withLock(id, paths, (lock) => {
      this.#files.remove(paths.log);
      this.#files.remove(paths.index);
      for (let version = 0; version < SESSION_VERSION; version++) {
        this.#files.remove(oldLogPath(paths, version));
      }
      lock.release();
      return Promise.resolve();
    });
    this.#listed.delete(id);
  }

  #ids(): string[] {
    return this.#files.namesIn(this.#directory).filter((name) => name.endsWith(LOG_ENDING))
      .map((name) => name.slice(0, -LOG_ENDING.length)).filter(isSafe);
  }

  #pathsOf(id: string): SessionPaths {
    checkSessionId(id);
    const stem = `${this.#directory}/${id}`;
    const log = `${stem}${LOG_ENDING}`;
    return { folder: this.#directory, log, index: `${stem}.index`, lock: `${stem}.lock` };
  }

  #factsOf(id: string, paths: SessionPaths): FileFacts {
    const facts = this.#files.facts(paths.log);
    if (!facts) throw notFound(id);
    return facts;
  }

  async #learn(id: string, paths: SessionPaths): Promise<LearntLog> {
    try {
      return await learnLog(this.#files, paths, { id, log: this.#factsOf(id, paths) });
    } catch (error) {
      throw sessionFailure(error, { id, reason: "read_failed" });
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
      this.#files.makeFolder(paths.folder);
      const answer = acquireWriterLock({
        files: this.#files,
        path: paths.lock,
        now: this.#now,
        name: this.#owner,
      });
      if (answer.type === "refused") throw lockedBy(id, answer.owner);
      lock = answer.lock;
      return await act(lock);
    } catch (error) {
      lock?.release();
      throw sessionFailure(error, { id, reason: "write_failed" });
    }
  }

  #opened(paths: SessionPaths, learnt: LearntLog, lock?: WriterLock): Session {
    const { known, entries, hasHeader, endsOpen, indexed, indexedDamage } = learnt;
    const log = new FileLog({
      files: this.#files,
      paths,
      known,
      isNew: false,
      needsHeader: !hasHeader,
      endsOpen,
      indexed,
      indexedDamage,
      ...(lock && { lock }),
    });
    const { header, tree, damage } = known;
    const access = lock ? "write" : "read";
    return this.#session({ header, access, tree, damage: [...damage], known: entries, log });
  }

  #session(parts: Omit<ConstructorParameters<typeof LiveSession>[0], "now" | "newId">): Session {
    return new LiveSession({ ...parts, now: this.#now, newId: this.#newId });
  }

  /** The summary as it was listed before, or as the end of an up-to-date index tells it. */
  #quickSummary(id: string): SessionSummary | undefined {
    const paths = this.#pathsOf(id);
    try {
      const log = this.#files.facts(paths.log);
      if (!log) return undefined;
      const listed = this.#listed.get(id);
      if (listed && isUpToDate(listed, log)) return listed.summary;
      const index = readIndexSummary(this.#files.readEnd(paths.index, SUMMARY_BYTES));
      if (!index || !isUpToDate(index, log)) return undefined;
      this.#listed.set(id, index);
      return index.summary;
    } catch {
      return undefined; // there is no index
    }
  }

  async #slowSummary(id: string): Promise<SessionSummary | undefined> {
    const paths = this.#pathsOf(id);
    const facts = this.#files.facts(paths.log);
    if (!facts) return undefined;
    try {
      const learnt = await this.#learn(id, paths);
      await saveIndex(this.#files, paths, learnt);
      const { summary } = learnt.known;
      this.#listed.set(id, { modified: facts.modified, summary });
      return summary;
    } catch (error) {
      const header = headerOf({ id, created: facts.modified });
      const summary = SummaryDraft.of(header).finish(facts.bytes);
      return { ...summary, problem: error instanceof Error ? error.message : String(error) };
    }
  }

  async #search(search: Parameters<typeof searchLog>[1]): Promise<SearchHit[]> {
    const { sessionId: id } = search;
    const paths = this.#pathsOf(id);
    this.#factsOf(id, paths);
    try {
      const file = await this.#files.openToRead(paths.log);
      try {
        return await searchLog(file, search);
      } finally {
        file.close();
      }
    } catch (error) {
      throw sessionFailure(error, { id, reason: "read_failed" });
    }
  }
}

/** Keeps the entries that a session begins with, or fails. */
async function keepAll(log: FileLog, entries: Parameters<FileLog["append"]>[0]): Promise<void> {
  const { error } = await log.append(entries);
  if (error !== undefined) throw error;
  await log.sync();
}

function isSafe(id: string): boolean {
  try {
    checkSessionId(id);
    return true;
  } catch (error) {
    if (error instanceof SessionError) return false;
    throw error;
  }
}
