/**
 * Searches the files of a sandbox: with `rg` where it is installed, and with our own matcher elsewhere. Both have the same
 * hits, in the order of the paths.
 *
 * @module
 */

import type { PathMatcher } from "../../core/ignore/glob.ts";
import { isExactPath } from "../../platform/paths.ts";
import { MAX_SMALL_FILE_BYTES } from "../../platform/small_file.ts";
import { TimeBudget } from "../budget/time_budget.ts";
import { findExcludeFile } from "../files/parent_ignore_rules.ts";
import { readWalkedFile } from "../sandbox/file_reading.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import type { LineHit } from "./find_lines.ts";
import { guardIgnoreFiles } from "./ignore_file_guard.ts";
import { createLineMatcher } from "./line_matcher.ts";
import { countLinesWithRipgrep, findLinesWithRipgrep, type RipgrepQuery } from "./ripgrep.ts";
import type { SearchPattern } from "./search_pattern.ts";
import type { SearchReport } from "./search_report.ts";
import { isStartIgnored, type WalkEntry, walkFiles, type WalkOptions } from "./walk_files.ts";

/** Maximum size of a file that is searched or shown in this program. */
export const MAX_SEARCHED_BYTES = 50_000_000;

/** Time limits of a search, and of a pattern on one file. */
const SEARCH_LIMIT_MS = 30_000;
const FILE_LIMIT_MS = 3_000;

/** A directory or file to search. */
export interface SearchStart {
  /** Canonical path. */
  readonly path: string;
  /** Whether it is a directory. */
  readonly isDirectory: boolean;
}

/** A search. */
export interface SearchQuery {
  /** The pattern. */
  readonly pattern: SearchPattern;
  /** The directory or file. */
  readonly start: SearchStart;
  /** Selects the files by their paths relative to the directory. */
  readonly matches: PathMatcher;
  /** Returns whether a canonical path is left out, with all below it. Default: none. */
  readonly isExcluded?: ((path: string) => boolean) | undefined;
  /** Maximum number of matching lines of each file. */
  readonly limit: number;
  /** Time limit in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Ends the search. */
  readonly signal: AbortSignal;
  /** Collects the files that are left out. */
  readonly report: SearchReport;
}

/** Matching lines of a file. */
export interface FileHits {
  /** Canonical path. */
  readonly path: string;
  /** The lines in order; not empty. */
  readonly hits: readonly LineHit[];
}

/** Number of matching lines of a file. */
export interface FileCount {
  /** Canonical path. */
  readonly path: string;
  /** The number, at least 1. */
  readonly count: number;
}

/** Yields the files with matching lines. @throws {BadRequestError} When the pattern is invalid. */
export async function* searchLines(
  sandbox: Sandbox,
  query: SearchQuery,
): AsyncGenerator<FileHits> {
  const ripgrepQuery = await toRipgrepQuery(sandbox, query);
  const found = await guardIgnoreFiles(
    sandbox,
    ripgrepQuery,
    (signal) => findLinesWithRipgrep(sandbox, { ...ripgrepQuery, signal }),
  );
  if (!found) {
    yield* walkAndMatch(sandbox.files, query);
    return;
  }
  const { report } = query;
  if (found.hasUnreadable) report.omitUnnamed();
  if (found.isTimedOut) report.timeOut();
  for (const { path, hits, isBinary } of found.files) {
    if (query.isExcluded?.(path)) continue;
    if (!isExactPath(path)) report.omit("name", path);
    if (hits.length === 0 || !(await isIncluded(sandbox.files, query, path))) continue;
    if (isBinary) report.omit("binary", path);
    else yield { path, hits };
  }
}

/** Yields the files with matching lines and the number of these. @throws {BadRequestError} When the pattern is invalid. */
export async function* countLines(
  sandbox: Sandbox,
  query: SearchQuery,
): AsyncGenerator<FileCount> {
  const ripgrepQuery = await toRipgrepQuery(sandbox, query);
  const found = await guardIgnoreFiles(
    sandbox,
    ripgrepQuery,
    (signal) => countLinesWithRipgrep(sandbox, { ...ripgrepQuery, signal }),
  );
  if (!found) {
    for await (const { path, hits } of walkAndMatch(sandbox.files, query)) {
      yield { path, count: hits.length };
    }
    return;
  }
  const { report } = query;
  if (found.hasUnreadable) report.omitUnnamed();
  if (found.isTimedOut) report.timeOut();
  const paths = [...found.binaryFiles, ...found.counts.map(({ path }) => path)];
  for (const path of paths) {
    if (!isExactPath(path) && !query.isExcluded?.(path)) report.omit("name", path);
  }
  for (const path of found.binaryFiles) {
    if (await isIncluded(sandbox.files, query, path)) report.omit("binary", path);
  }
  for (const file of found.counts) {
    if (await isIncluded(sandbox.files, query, file.path)) yield file;
  }
}

async function toRipgrepQuery(sandbox: Sandbox, query: SearchQuery): Promise<RipgrepQuery> {
  const { pattern, start, limit, timeoutMs = SEARCH_LIMIT_MS, signal } = query;
  const isIgnored = start.isDirectory && await isStartIgnored(sandbox.files, start.path);
  return {
    pattern,
    start: start.path,
    isIgnored,
    excludeFile: isIgnored ? undefined : await findExcludeFile(sandbox.root),
    // Whether a glob selects a name that is not UTF-8 is not known.
    isSelected: (path) => !isExactPath(path) || isSelected(query, path),
    limit,
    timeoutMs,
    signal,
  };
}

/** Whether the search includes a file and the rules of the sandbox allow to read it. */
async function isIncluded(
  files: SandboxFiles,
  query: SearchQuery,
  path: string,
): Promise<boolean> {
  if (!isSelected(query, path)) return false;
  return await files.resolve(path, "read").then((canonical) => canonical === path, () => false);
}

/** Whether the arguments of the search select a file. */
function isSelected({ start, matches, isExcluded }: SearchQuery, path: string): boolean {
  const { isDirectory } = start;
  const relativePath = path.slice(isDirectory ? start.path.length + 1 : path.lastIndexOf("/") + 1);
  return !isExcluded?.(path) && matches(relativePath);
}

async function* walkAndMatch(files: SandboxFiles, query: SearchQuery): AsyncGenerator<FileHits> {
  const { pattern, start, matches, isExcluded, limit, signal, report } = query;
  const { timeoutMs: limitMs = SEARCH_LIMIT_MS } = query;
  await using matcher = createLineMatcher(pattern, { signal });
  const budget = new TimeBudget({ work: "The search", signal, limitMs });
  // The content of a file is no longer used when the next one is read.
  const buffer = new Uint8Array(MAX_SMALL_FILE_BYTES);
  const onUnreadable = (path: string) => report.omit("unreadable", path);
  const options = { signal, isExcluded, onUnreadable };
  for await (const entry of walkEntries(files, start, options)) {
    if (!isExactPath(entry.name)) report.omit("name", entry.path);
    if (!isSearched(entry) || !matches(entry.relativePath)) continue;
    await budget.yield();
    if (budget.isExceeded) {
      report.timeOut();
      return;
    }
    const { path } = entry;
    const bytes = await readWalkedFile(files, path, { maxBytes: MAX_SEARCHED_BYTES, buffer });
    if (!bytes) {
      await reportUnread(files, path, report);
      continue;
    }
    const timeoutMs = Math.min(FILE_LIMIT_MS, Math.max(budget.remainingMs, 1));
    const found = await matcher.match(bytes, { limit, timeoutMs });
    if (!found) report.omit("slow", path);
    else if (found.hits.length > 0 && found.isBinary) report.omit("binary", path);
    else if (found.hits.length > 0) yield { path, hits: found.hits };
  }
}

function isSearched({ kind, name }: WalkEntry): boolean {
  return kind === "file" && isExactPath(name);
}

async function reportUnread(
  files: SandboxFiles,
  path: string,
  report: SearchReport,
): Promise<void> {
  const options = { maxBytes: MAX_SEARCHED_BYTES };
  const error = await files.readIfExists(path, options).then(() => undefined, (reason) => reason);
  if (error === undefined) return;
  report.omit(/larger than/.test(String(error)) ? "large" : "unreadable", path);
}

/** Yields the file itself, or all entries below the directory. */
export async function* walkEntries(
  files: SandboxFiles,
  { path, isDirectory }: SearchStart,
  options: WalkOptions,
): AsyncGenerator<WalkEntry> {
  if (isDirectory) {
    yield* walkFiles(files, path, options);
    return;
  }
  if (options.isExcluded?.(path)) return;
  const name = path.slice(path.lastIndexOf("/") + 1);
  yield { path, relativePath: name, name, kind: "file", depth: 0 };
}
