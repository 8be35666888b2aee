/**
 * The `search_files` tool.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors.ts";
import { type AgentTool, defineTool } from "../../core/tool.ts";
import { textResult } from "../../core/tool_result.ts";
import { quotePath } from "../files/file_error.ts";
import { compileGlob, type PathMatcher } from "../../core/ignore/glob.ts";
import { toPrintable } from "./list_directory.ts";
import { createLineMatcher } from "../search/line_matcher.ts";
import type { FileMatch } from "../search/match_lines.ts";
import { suggestNames } from "../sandbox/name_suggestion.ts";
import { truncateMiddle } from "../text/output_limit.ts";
import { findCandidates } from "../search/ripgrep.ts";
import { readWalkedFile } from "../sandbox/file_reading.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { catchAsErrorResult, type ToolKit } from "../kit/tool_kit.ts";
import { type WalkEntry, walkFiles, type WalkOptions } from "../search/walk_files.ts";

/** Maximum size of a searched file; larger ones are skipped. */
const MAX_FILE_BYTES = 10_000_000;

const DEFAULT_RESULTS = 200;

/** Creates `search_files`. */
export function searchFilesTool(kit: ToolKit): AgentTool {
  const { files } = kit.sandbox;
  return defineTool({
    name: "search_files",
    label: "Search files",
    description:
      "Finds lines that match a regular expression (JavaScript syntax), or, without a pattern, files by name. Omits " +
      "binary files and files that git ignores.",
    parameters: {
      type: "object",
      properties: {
        pattern: { type: "string", description: "Regular expression, matched per line" },
        glob: {
          type: "string",
          description: 'Only files that match, e.g. "*.ts" or "src/**/*.{c,h}"',
        },
        path: { type: "string", description: "Directory or file. Default: the working directory" },
        ignore_case: { type: "boolean" },
        context: {
          type: "integer",
          minimum: 0,
          maximum: 20,
          description: "Lines of context around each match. Default: 0",
        },
        max_results: {
          type: "integer",
          minimum: 1,
          maximum: 2_000,
          description: `Default: ${DEFAULT_RESULTS}`,
        },
      },
      additionalProperties: false,
    },
    readOnly: true,
    execute: catchAsErrorResult(async (args, { signal }) => {
      const { pattern, glob, path = ".", max_results = DEFAULT_RESULTS } = args;
      if (!pattern && !glob) throw new BadRequestError("Set pattern, glob, or both");
      const start = await resolveStart(files, path);
      const matchesGlob = glob === undefined ? () => true : parseGlob(glob);
      if (!pattern) {
        return textResult(
          await findNames(files, { start, matches: matchesGlob, signal, limit: max_results }),
        );
      }
      const expression = compilePattern(pattern, args.ignore_case === true);
      const candidates = start.isDirectory
        ? await findCandidates(kit.sandbox, { expression, start: start.path, signal })
        : () => true;
      const entries = walkEntries(files, start, { signal, shouldEnter: candidates });
      return textResult(
        await findLines(files, {
          expression,
          entries,
          isSearched: (entry) => candidates(entry.path) && matchesGlob(entry.relativePath),
          context: args.context ?? 0,
          limit: max_results,
          signal,
        }),
      );
    }),
  });
}

/** The directory or file that is searched. */
interface SearchStart {
  readonly path: string;
  readonly isDirectory: boolean;
}

async function resolveStart(files: SandboxFiles, path: string): Promise<SearchStart> {
  const kind = await files.getKind(path);
  if (kind === undefined) {
    throw new BadRequestError(
      `${quotePath(path)} does not exist${await suggestNames(files, path)}`,
    );
  }
  if (kind === "other") {
    throw new BadRequestError(`${quotePath(path)} is neither a file nor a directory`);
  }
  return { path: await files.resolve(path, "read"), isDirectory: kind === "directory" };
}

function parseGlob(glob: string): PathMatcher {
  try {
    return compileGlob(glob);
  } catch (error) {
    throw new BadRequestError(
      `The glob ${quotePath(glob)} is invalid: ${getErrorMessage(error)}`,
    );
  }
}

function compilePattern(pattern: string, ignoreCase: boolean): RegExp {
  const flags = ignoreCase ? "i" : "";
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch {
    try {
      // Only the syntax without the u flag accepts the unnecessary escapes that models often write.
      return new RegExp(pattern, flags);
    } catch (error) {
      throw new BadRequestError(`The pattern is invalid: ${getErrorMessage(error)}`);
    }
  }
}

/** Yields the file itself, or all entries below the directory. */
async function* walkEntries(
  files: SandboxFiles,
  { path, isDirectory }: SearchStart,
  options: WalkOptions,
): AsyncGenerator<WalkEntry> {
  if (isDirectory) {
    yield* walkFiles(files, path, options);
    return;
  }
  const name = path.slice(path.lastIndexOf("/") + 1);
  yield { path, relativePath: name, name, kind: "file", depth: 0 };
}

interface NameSearch {
  readonly start: SearchStart;
  readonly matches: PathMatcher;
  readonly signal: AbortSignal;
  readonly limit: number;
}

async function findNames(files: SandboxFiles, search: NameSearch): Promise<string> {
  const { start, matches, signal, limit } = search;
  const names: string[] = [];
  for await (const { path, relativePath, kind } of walkEntries(files, start, { signal })) {
    if (kind === "directory" || !matches(relativePath)) continue;
    if (names.length === limit) return `${names.join("\n")}\n${formatLimitNotice(limit, "files")}`;
    names.push(toPrintable(files.toDisplayPath(path)));
  }
  return names.length === 0 ? "No files found" : names.join("\n");
}

interface LineSearch {
  readonly expression: RegExp;
  readonly entries: AsyncIterable<WalkEntry>;
  /** Whether to search a file. */
  readonly isSearched: (file: WalkEntry) => boolean;
  readonly context: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

async function findLines(files: SandboxFiles, search: LineSearch): Promise<string> {
  const blocks: string[] = [];
  let remaining = search.limit;
  for await (const match of findMatchingFiles(files, search)) {
    const lines = match.lines.slice(0, remaining);
    const heading = toPrintable(files.toDisplayPath(match.path));
    blocks.push(`${heading}\n${lines.map(({ text }) => text).join("\n")}`);
    remaining -= lines.length;
    if (lines.length < match.lines.length || remaining === 0) {
      return truncateMiddle(`${blocks.join("\n\n")}\n\n${formatLimitNotice(search.limit, "lines")}`)
        .text;
    }
  }
  return blocks.length === 0 ? "No matches" : truncateMiddle(blocks.join("\n\n")).text;
}

function formatLimitNotice(limit: number, unit: "files" | "lines"): string {
  return `[Stopped after ${limit} ${unit}; narrow the search, or raise max_results]`;
}

/** Interval at which a search yields to the event loop, so that an abort takes effect. */
const YIELD_INTERVAL_MS = 15;

/** Yields the files with matches in the order of the walk. */
async function* findMatchingFiles(
  files: SandboxFiles,
  { entries, isSearched, expression, context, signal }: LineSearch,
): AsyncGenerator<FileMatch> {
  using matcher = createLineMatcher({ expression, context }, signal);
  let sliceEnd = performance.now() + YIELD_INTERVAL_MS;
  for await (const entry of entries) {
    if (entry.kind !== "file" || !isSearched(entry)) continue;
    const { path } = entry;
    if (performance.now() > sliceEnd) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      signal.throwIfAborted();
      sliceEnd = performance.now() + YIELD_INTERVAL_MS;
    }
    const bytes = await readWalkedFile(files, path, MAX_FILE_BYTES);
    if (!bytes || (await matcher.match(bytes)).length === 0) continue;
    // Reads the file again with all checks of the sandbox, so that a swapped link cannot redirect the read.
    const options = { maxBytes: MAX_FILE_BYTES };
    const verified = await files.readIfExists(path, options).catch(() => undefined);
    const lines = await matcher.match(verified ?? new Uint8Array());
    if (lines.length > 0) yield { path, lines };
  }
}
