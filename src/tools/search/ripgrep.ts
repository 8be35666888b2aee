/**
 * Searches with `rg`, if it is installed.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { finishAll } from "../../core/ports/finish_all.ts";
import { decodeBase64 } from "../../core/text/byte_encoding.ts";
import { LineSplitter } from "../../core/text/line_splitter.ts";
import { getRelativePath, join } from "../../platform/paths.ts";
import type { ExcludeFile } from "../files/parent_ignore_rules.ts";
import { type ProcessOutcome, watchProcess } from "../process/watch_process.ts";
import { startTrustedProgram } from "../sandbox/local_sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { LineHit } from "./find_lines.ts";
import { escapeLiteralBraces, needsJavaScript } from "./pattern.ts";
import type { SearchPattern } from "./search_pattern.ts";

/**
 * Maximum length of a message of `rg`, which has a complete line and the place of each match in it. A file of 5 MB with one
 * line may have a message of 250 MB.
 */
const MAX_MESSAGE_CHARACTERS = 16_000_000;

/** Query of a search with `rg`. */
export interface RipgrepQuery {
  /** The pattern. */
  readonly pattern: SearchPattern;
  /** Canonical path of the directory or file to search. */
  readonly start: string;
  /** Whether the ignore rules of the directories above do not apply: one of them ignores the directory. */
  readonly isIgnored: boolean;
  /** The exclude file of the repository, if it applies. */
  readonly excludeFile?: ExcludeFile | undefined;
  /** Selects the files by their canonical paths; hits in others are dropped, and do not end the search. */
  readonly isSelected: (path: string) => boolean;
  /** Maximum number of matching lines of each file. */
  readonly limit: number;
  /** Time limit in milliseconds. */
  readonly timeoutMs: number;
  /** Ends `rg`. */
  readonly signal: AbortSignal;
}

/** Hits of one file. */
export interface RipgrepFile {
  /** Canonical path. */
  readonly path: string;
  /** The matching lines in order. */
  readonly hits: readonly LineHit[];
  /** Whether the file is binary. */
  readonly isBinary: boolean;
}

/** Result of {@linkcode findLinesWithRipgrep}. */
export interface RipgrepResult {
  /** The files with hits, by path. */
  readonly files: readonly RipgrepFile[];
  /** Whether some files or directories could not be read. */
  readonly hasUnreadable: boolean;
  /** Whether the time was used up. */
  readonly isTimedOut: boolean;
}

/** Result of {@linkcode countLinesWithRipgrep}. */
export interface RipgrepCounts extends Omit<RipgrepResult, "files"> {
  /** The text files with hits, and the number of their matching lines. */
  readonly counts: readonly { readonly path: string; readonly count: number }[];
  /** The binary files with hits. */
  readonly binaryFiles: readonly string[];
}

/** Maximum size of the output of a search in parallel, whose order is not fixed. */
const MAX_OUTPUT_BYTES = 4_000_000;

/**
 * Finds the matching lines. Returns `undefined` when `rg` is missing, does not accept the pattern, or has a message for a line
 * that is too long.
 *
 * A search with few hits runs in parallel, and the hits are sorted. One with many runs in the order of the paths and ends
 * early, after `limit` hits.
 */
export async function findLinesWithRipgrep(
  sandbox: Sandbox,
  query: RipgrepQuery,
): Promise<RipgrepResult | undefined> {
  if (needsJavaScript(query.pattern.source)) return undefined;
  const args = ["--json", "--binary", "--max-count", String(query.limit)];
  const parallel = await collectHits(sandbox, { query, args, maxBytes: MAX_OUTPUT_BYTES });
  if (parallel?.type !== "too_large") return parallel?.result;
  const sorted = [...args, "--sort", "path"];
  const inOrder = await collectHits(sandbox, { query, args: sorted, maxHits: query.limit + 1 });
  return inOrder?.type === "complete" ? inOrder.result : undefined;
}

interface CollectOptions {
  readonly query: RipgrepQuery;
  readonly args: readonly string[];
  readonly maxBytes?: number;
  /** Number of hits after which the search ends. */
  readonly maxHits?: number;
}

type CollectedHits = { readonly type: "too_large"; readonly result?: undefined } | {
  readonly type: "complete";
  readonly result: RipgrepResult;
};

async function collectHits(
  sandbox: Sandbox,
  { query, args, maxBytes = Infinity, maxHits = Infinity }: CollectOptions,
): Promise<CollectedHits | undefined> {
  const parser = new HitParser(query);
  const stopped = new AbortController();
  let bytes = 0;
  const outcome = await runRipgrep(sandbox, {
    query: { ...query, signal: AbortSignal.any([query.signal, stopped.signal]) },
    args,
    onOutput(chunk) {
      bytes += chunk.length;
      if (bytes <= maxBytes) parser.push(chunk);
      if (bytes > maxBytes || parser.hitCount > maxHits || parser.isTooLong) stopped.abort();
    },
  });
  query.signal.throwIfAborted();
  if (!outcome || parser.isTooLong) return undefined;
  if (bytes > maxBytes) return { type: "too_large" };
  const isTimedOut = outcome.type === "timed_out";
  const hasFailed = outcome.type === "exited" && outcome.exit.code > 1;
  // Without a summary, `rg` has rejected the pattern, or does not exist.
  if (hasFailed && !parser.hasSummary) return undefined;
  const files = parser.finish().sort((a, b) => comparePaths(a.path, b.path));
  return { type: "complete", result: { files, hasUnreadable: hasFailed, isTimedOut } };
}

/** Counts the matching lines of each file. Returns `undefined` as {@linkcode findLinesWithRipgrep}. */
export async function countLinesWithRipgrep(
  sandbox: Sandbox,
  query: RipgrepQuery,
): Promise<RipgrepCounts | undefined> {
  if (needsJavaScript(query.pattern.source)) return undefined;
  if (query.pattern.multiline) return await countMultilineHits(sandbox, query);
  const [counted, listed] = await finishAll([
    listWithRipgrep(sandbox, query, ["--count", "--with-filename", "--null"]),
    listWithRipgrep(sandbox, query, ["--files-with-matches", "--binary", "--null"]),
  ]);
  if (!counted || !listed) return undefined;
  const counts = [...counted.text.matchAll(/([^\0]+)\0(\d+)\r?\n/g)]
    .map(([, path = "", count]) => ({
      path: toCanonicalPath(path, query),
      count: Number(count),
    }))
    .sort((a, b) => comparePaths(a.path, b.path));
  const textFiles = new Set(counts.map(({ path }) => path));
  return {
    counts,
    binaryFiles: listed.text.split("\0").filter((path) => path !== "")
      .map((path) => toCanonicalPath(path, query)).filter((path) => !textFiles.has(path))
      .sort(comparePaths),
    hasUnreadable: counted.hasUnreadable,
    isTimedOut: counted.isTimedOut || listed.isTimedOut,
  };
}

/** Counts the matching lines of a search in which `--count` counts the matches: a match may span lines. */
async function countMultilineHits(
  sandbox: Sandbox,
  query: RipgrepQuery,
): Promise<RipgrepCounts | undefined> {
  const decoder = new TextDecoder();
  const counts: { readonly path: string; readonly count: number }[] = [];
  const binaryFiles: string[] = [];
  let line = "";
  let hasSummary = false;
  const readLine = () => {
    hasSummary ||= line.includes('"type":"summary"');
    if (!line.startsWith('{"type":"end"')) return;
    const { path, count, isBinary } = parseEnd(line);
    if (isBinary) binaryFiles.push(toCanonicalPath(path, query));
    else counts.push({ path: toCanonicalPath(path, query), count });
  };
  const outcome = await runRipgrep(sandbox, {
    query,
    args: ["--json", "--binary"],
    onOutput(chunk) {
      for (const [index, part] of decoder.decode(chunk, { stream: true }).split("\n").entries()) {
        if (index > 0) {
          readLine();
          line = "";
        }
        // A match, which is not needed, may be a complete file.
        if (line.length < MAX_END_CHARACTERS) line += part;
      }
    },
  });
  query.signal.throwIfAborted();
  const hasFailed = outcome?.type === "exited" && outcome.exit.code > 1;
  if (!outcome || (hasFailed && !hasSummary)) return undefined;
  return {
    counts: counts.sort((a, b) => comparePaths(a.path, b.path)),
    binaryFiles: binaryFiles.sort(comparePaths),
    hasUnreadable: hasFailed,
    isTimedOut: outcome.type === "timed_out",
  };
}

/** Maximum length of the line for the end of a file, which has its path. */
const MAX_END_CHARACTERS = 64 * 1024;

interface FileEnd {
  readonly path: string;
  readonly count: number;
  readonly isBinary: boolean;
}

function parseEnd(line: string): FileEnd {
  const { data }: JsonObject = JSON.parse(line);
  const { path, stats, binary_offset } = isJsonObject(data) ? data : {};
  const count = isJsonObject(stats) ? stats.matched_lines : 0;
  return {
    path: decodeText(path) ?? "",
    count: typeof count === "number" ? count : 0,
    isBinary: typeof binary_offset === "number",
  };
}

interface ListedText extends Omit<RipgrepResult, "files"> {
  readonly text: string;
}

async function listWithRipgrep(
  sandbox: Sandbox,
  query: RipgrepQuery,
  args: readonly string[],
): Promise<ListedText | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  const outcome = await runRipgrep(sandbox, {
    query,
    args,
    onOutput: (chunk) => text += decoder.decode(chunk, { stream: true }),
  });
  query.signal.throwIfAborted();
  const hasFailed = outcome?.type === "exited" && outcome.exit.code > 1;
  // Without output, `rg` may have rejected the pattern.
  if (!outcome || (hasFailed && text === "")) return undefined;
  return { text, hasUnreadable: hasFailed, isTimedOut: outcome.type === "timed_out" };
}

interface RunOptions {
  readonly query: RipgrepQuery;
  readonly args: readonly string[];
  readonly onOutput: (chunk: Uint8Array) => void;
}

/** Runs `rg` with the rules of `search_files`; returns `undefined` when it cannot be started. */
async function runRipgrep(
  sandbox: Sandbox,
  { query, args, onOutput }: RunOptions,
): Promise<ProcessOutcome | undefined> {
  const { pattern, start, isIgnored, excludeFile, timeoutMs, signal } = query;
  const allArgs = [
    ...["--no-config", "--no-messages", "--color=never", "--crlf", "--hidden", "--glob=!.git"],
    ...["--no-require-git", "--no-ignore-global", "--no-ignore-dot"],
    ...(isIgnored ? ["--no-ignore-parent"] : []),
    // `rg` would follow a `.git` file to other places; the file of the repository is passed by its path.
    ...["--no-ignore-exclude", ...(excludeFile ? ["--ignore-file", excludeFile.path] : [])],
    ...(pattern.ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(pattern.multiline ? ["--multiline"] : []),
    ...args,
    ...["--regexp", escapeLiteralBraces(pattern.source), "--", toArgument(start, excludeFile)],
  ];
  try {
    const launch = { program: "rg", args: allArgs, cwd: excludeFile?.repository };
    const process = startTrustedProgram(sandbox, launch);
    return process && await watchProcess(process, { signal, timeoutMs, onOutput });
  } catch {
    return undefined;
  }
}

/** `rg` applies an exclude file to paths relative to its working directory. */
function toArgument(start: string, excludeFile: ExcludeFile | undefined): string {
  const path = excludeFile && getRelativePath(excludeFile.repository, start);
  return path === "" ? "." : path ?? start;
}

/** Returns the canonical path of a file in the output of `rg`. */
function toCanonicalPath(path: string, { excludeFile }: RipgrepQuery): string {
  return excludeFile && !path.startsWith("/")
    ? join(excludeFile.repository, path.replace(/^\.\//, ""))
    : path;
}

/** Parses the output of `rg --json`. */
class HitParser {
  readonly #query: RipgrepQuery;
  readonly #decoder = new TextDecoder();
  readonly #files: RipgrepFile[] = [];
  readonly #lines = new LineSplitter();
  #hits: LineHit[] = [];
  /** Hits of each file that is being searched. */
  #open: string | undefined;
  #isSelected = true;
  hitCount = 0;
  hasSummary = false;

  constructor(query: RipgrepQuery) {
    this.#query = query;
  }

  /** Whether a message exceeds the maximum length. Nothing more is parsed then. */
  get isTooLong(): boolean {
    return this.#lines.pendingLength > MAX_MESSAGE_CHARACTERS;
  }

  push(chunk: Uint8Array): void {
    if (this.isTooLong) return;
    for (const line of this.#lines.push(this.#decoder.decode(chunk, { stream: true }))) {
      this.#parseLine(line);
    }
  }

  finish(): RipgrepFile[] {
    if (this.#open !== undefined && this.#hits.length > 0) {
      this.#files.push({ path: this.#open, hits: this.#hits, isBinary: false });
    }
    return this.#files;
  }

  #parseLine(line: string): void {
    const message: unknown = JSON.parse(line);
    if (!isJsonObject(message) || !isJsonObject(message.data)) return;
    const { data } = message;
    switch (message.type) {
      case "begin":
        this.#open = this.#toPath(data.path);
        this.#isSelected = this.#query.isSelected(this.#open);
        this.#hits = [];
        break;
      case "match":
        if (this.#isSelected) this.#addMatch(data);
        break;
      case "end": {
        const path = this.#toPath(data.path);
        const isBinary = typeof data.binary_offset === "number";
        if (this.#isSelected) this.#files.push({ path, hits: this.#hits, isBinary });
        this.#open = undefined;
        break;
      }
      case "summary":
        this.hasSummary = true;
        break;
    }
  }

  #toPath(value: unknown): string {
    return toCanonicalPath(decodeText(value) ?? "", this.#query);
  }

  #addMatch({ lines, line_number, absolute_offset, submatches }: JsonObject): void {
    const text = decodeText(lines) ?? "";
    const first = typeof line_number === "number" ? line_number : 1;
    const isText = isJsonObject(lines) && typeof lines.text === "string";
    for (const [index, line] of text.replace(/\n$/, "").split("\n").entries()) {
      const column = index === 0 ? getColumn(text, submatches) : 0;
      // Later lines of a match are found by their numbers.
      const offset = index === 0 && typeof absolute_offset === "number"
        ? absolute_offset
        : undefined;
      this.#hits.push({
        line: first + index,
        column,
        ...(isText && { text: line, ...(offset !== undefined && { offset }) }),
      });
      this.hitCount++;
    }
  }
}

/** Decodes a text or, if it is not UTF-8, its bytes. */
function decodeText(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  if (typeof value.text === "string") return value.text;
  return typeof value.bytes === "string"
    ? new TextDecoder().decode(decodeBase64(value.bytes))
    : undefined;
}

/** Returns the index of the first match in UTF-16 code units. */
function getColumn(text: string, submatches: unknown): number {
  const first: unknown = Array.isArray(submatches) ? submatches[0] : undefined;
  if (!isJsonObject(first) || typeof first.start !== "number") return 0;
  const bytes = new TextEncoder().encode(text).subarray(0, first.start);
  return new TextDecoder().decode(bytes).length;
}

/** Compares paths in the order of a walk: by the names on each level. */
function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split("/"), b.split("/")];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const [first = "", second = ""] = [left[index], right[index]];
    if (first !== second) return first < second ? -1 : 1;
  }
  return left.length - right.length;
}
