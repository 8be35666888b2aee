/**
 * The summaries of the logs in a directory.
 *
 * @module
 */

import type { SessionSummary } from "../../core/sessions/session.ts";
import { decodeFileName, encodeFileName } from "../store/file_name.ts";
import { createHeader } from "../store/jsonl.ts";
import { toSessionError } from "../store/session_errors.ts";
import { SummaryBuilder } from "../store/summary.ts";
import { isUpToDate, readIndexSummary } from "./file_index.ts";
import type { FileInfo, FileSystem } from "./file_system.ts";
import { limitUpdated } from "./limit_updated.ts";
import { saveIndex } from "./load_log_index.ts";
import type { ListedLog, LogDirectory } from "./log_directory.ts";
import { LOG_EXTENSION } from "./session_paths.ts";

/** Number of logs that are read concurrently when their indexes are outdated. */
export const READ_CONCURRENCY = 16;

/** A summary, and the modification time of the log that it is about. */
interface CachedSummary {
  readonly modified: number;
  readonly summary: SessionSummary;
}

/** Reads summaries: from memory or an index where they are up to date, else from the log. */
export class LogSummaries {
  readonly #files: FileSystem;
  readonly #directory: LogDirectory;
  readonly #cache = new Map<string, CachedSummary>();

  constructor(files: FileSystem, directory: LogDirectory) {
    this.#files = files;
    this.#directory = directory;
  }

  /** Returns the summaries of logs, in any order. Updates outdated indexes. */
  async read(logs: readonly ListedLog[]): Promise<SessionSummary[]> {
    const summaries: SessionSummary[] = [];
    const outdated: ListedLog[] = [];
    const add = (summary: SessionSummary | undefined, { modified }: ListedLog) => {
      if (summary) summaries.push(limitUpdated(summary, modified));
    };
    for (const log of logs) {
      const summary = this.readCached(log.name);
      if (summary) add(summary, log);
      else outdated.push(log);
    }
    for (let from = 0; from < outdated.length; from += READ_CONCURRENCY) {
      await Promise.all(
        outdated.slice(from, from + READ_CONCURRENCY)
          .map(async (log) => add(await this.#load(log.name), log)),
      );
    }
    return summaries;
  }

  /** Returns the summary from memory or from an up-to-date index; `undefined` if the log has to be read. */
  readCached(name: string): SessionSummary | undefined {
    const path = `${this.#directory.path}/${name}`;
    try {
      const log = this.#files.stat(`${path}${LOG_EXTENSION}`);
      if (!log) return undefined;
      const cached = this.#cache.get(name);
      if (cached && isUpToDate(cached, log)) return cached.summary;
      const index = readIndexSummary(this.#files, `${path}.index`);
      // Of a log that was copied or renamed with its index, the index has another id.
      if (!index || !isUpToDate(index, log) || encodeFileName(index.summary.id) !== name) {
        return undefined;
      }
      this.#cache.set(name, index);
      return index.summary;
    } catch {
      return undefined; // The index is missing or cannot be read.
    }
  }

  /** Forgets the summary of a log that was deleted. */
  forget(name: string): void {
    this.#cache.delete(name);
  }

  /** Loads a log and updates its index. A log that cannot be opened gives a summary with a `problem`. */
  async #load(name: string): Promise<SessionSummary | undefined> {
    let id = decodeFileName(name);
    let info: FileInfo | undefined;
    try {
      id ??= await this.#directory.readId(name);
      if (id === undefined) return undefined;
      const paths = this.#directory.getPaths(id);
      info = this.#files.stat(paths.log);
      if (!info) return undefined;
      const loaded = await this.#directory.load(id);
      await saveIndex(this.#files, paths, loaded);
      const { summary } = loaded.state;
      this.#cache.set(name, { modified: info.modified, summary });
      return summary;
    } catch (error) {
      const { message, reason } = toSessionError(error, { id, reason: "read_failed" });
      if (id === undefined || reason === "not_found") return undefined;
      const { modified: created, size } = info ?? { modified: 0, size: 0 };
      const header = createHeader({ id, created });
      return { ...SummaryBuilder.from(header).build(size), problem: message };
    }
  }
}
