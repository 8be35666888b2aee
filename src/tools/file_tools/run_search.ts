/**
 * The searches of the `search_files` tool.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { compileGlob, type PathMatcher } from "../../core/ignore/glob.ts";
import { truncateMiddle } from "../../core/text/output_limit.ts";
import { isExactPath } from "../../platform/paths.ts";
import { MAX_SMALL_FILE_BYTES } from "../../platform/small_file.ts";
import { quotePath } from "../files/file_error.ts";
import type { ToolKit } from "../kit/tool_kit.ts";
import { readCheckedFile } from "../sandbox/file_reading.ts";
import { suggestNames } from "../sandbox/name_suggestion.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { formatHits } from "../search/format_hits.ts";
import {
  countLines,
  MAX_SEARCHED_BYTES,
  searchLines,
  type SearchQuery,
  type SearchStart,
  walkEntries,
} from "../search/search_lines.ts";
import { SearchReport } from "../search/search_report.ts";
import { limitMatching } from "./limit_matching.ts";
import { toPrintable } from "./list_directory.ts";
import { createPathExclusion } from "./path_exclusion.ts";

/** The arguments of `search_files`. */
export interface SearchArguments {
  readonly pattern?: string | undefined;
  readonly glob?: string | undefined;
  readonly path?: string | undefined;
  readonly exclude_paths?: readonly string[] | undefined;
  readonly ignore_case?: boolean | undefined;
  readonly multiline?: boolean | undefined;
  readonly output?: "lines" | "files" | "count" | undefined;
  readonly context?: number | undefined;
  readonly max_results: number;
}

/** Where a search runs. */
export interface SearchContext {
  readonly kit: ToolKit;
  /** Cancels the search. */
  readonly signal: AbortSignal;
}

/** Maximum number of lines that are counted in one file. */
const MAX_COUNT = 1_000_000;

/** Searches files, and returns the text for the model. */
export async function runSearch(
  args: SearchArguments,
  { kit, signal }: SearchContext,
): Promise<string> {
  const { files } = kit.sandbox;
  const { pattern, glob, path = ".", exclude_paths, max_results } = args;
  if (!pattern && !glob) throw new BadRequestError("Set pattern, glob, or both");
  const start = await resolveStart(files, path);
  const matches = glob === undefined ? () => true : parseGlob(glob);
  const isExcluded = createPathExclusion(exclude_paths, files);
  const selection = { start, matches, isExcluded, signal };
  if (!pattern) return await findNames(files, { ...selection, limit: max_results });
  const { ignore_case = false, multiline = false, output = "lines", context = 0 } = args;
  const searched = { source: pattern, ignoreCase: ignore_case, multiline };
  const query = { ...selection, pattern: searched, report: new SearchReport() };
  return output === "lines"
    ? await findLines(kit, { ...query, limit: max_results + 1 }, context)
    : await listFiles(kit, { ...query, limit: MAX_COUNT }, { output, limit: max_results });
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
    return limitMatching(compileGlob(glob), { argument: "glob" });
  } catch (error) {
    throw new BadRequestError(
      `The glob ${quotePath(glob)} is invalid: ${getErrorMessage(error)}`,
    );
  }
}

type NameSearch = Omit<SearchQuery, "pattern" | "report">;

async function findNames(files: SandboxFiles, search: NameSearch): Promise<string> {
  const { start, matches, isExcluded, signal, limit } = search;
  const options = { signal, isExcluded };
  const names: string[] = [];
  for await (const { path, relativePath, name, kind } of walkEntries(files, start, options)) {
    // The files of a directory whose name is not UTF-8 are not known.
    if (kind === "directory" ? isExactPath(name) : !matches(relativePath)) continue;
    if (names.length === limit) return `${names.join("\n")}\n${formatLimitNotice(limit, "files")}`;
    names.push(toPrintable(files.toDisplayPath(path)));
  }
  return names.length === 0 ? "No files found" : names.join("\n");
}

/** Options for {@linkcode listFiles}. */
interface ListOptions {
  readonly output: "files" | "count";
  readonly limit: number;
}

/** Lists the files with matches, with or without the number of matching lines. */
async function listFiles(
  kit: ToolKit,
  query: SearchQuery,
  { output, limit }: ListOptions,
): Promise<string> {
  const { files } = kit.sandbox;
  const listed: string[] = [];
  let total = 0;
  let isComplete = true;
  for await (const { path, count } of countLines(kit.sandbox, query)) {
    if (listed.length === limit) {
      isComplete = false;
      break;
    }
    const name = toPrintable(files.toDisplayPath(path));
    listed.push(output === "count" ? `${name}: ${count}` : name);
    total += count;
  }
  if (output === "count" && listed.length > 1) listed.push(`Total: ${total}`);
  if (!isComplete) listed.push(formatLimitNotice(limit, "files"));
  return finish(listed.join("\n"), query, files);
}

/** Shows the matching lines. */
async function findLines(kit: ToolKit, query: SearchQuery, context: number): Promise<string> {
  const { files } = kit.sandbox;
  const { report, signal } = query;
  const maximum = query.limit - 1;
  const blocks: string[] = [];
  // The content of a file is no longer used when the next one is read.
  const buffer = new Uint8Array(MAX_SMALL_FILE_BYTES);
  let remaining = maximum;
  for await (const { path, hits } of searchLines(kit.sandbox, query)) {
    if (remaining === 0) {
      blocks.push(formatLimitNotice(maximum, "lines"));
      break;
    }
    // Reads the file with all checks of the sandbox, so that a swapped link cannot redirect the search.
    const options = { maxBytes: MAX_SEARCHED_BYTES, signal, buffer };
    const bytes = await readCheckedFile(files, path, options);
    const shown = hits.slice(0, remaining);
    const text = bytes && formatHits(shown, { bytes, context });
    if (text === undefined) {
      report.omit(bytes ? "changed" : "large", path);
      continue;
    }
    blocks.push(`${toPrintable(files.toDisplayPath(path))}\n${text}`);
    remaining -= shown.length;
    if (hits.length > shown.length) {
      blocks.push(formatLimitNotice(maximum, "lines"));
      break;
    }
  }
  return finish(blocks.join("\n\n"), query, files);
}

function finish(found: string, { report }: SearchQuery, files: SandboxFiles): string {
  const notices = report.describe((path) => toPrintable(files.toDisplayPath(path)));
  const { text } = truncateMiddle(found === "" ? "No matches" : found);
  return notices.length === 0 ? text : `${text}\n\n${notices.join("\n")}`;
}

function formatLimitNotice(limit: number, unit: "files" | "lines"): string {
  return `[Stopped after ${limit} ${unit}; narrow the search, or raise max_results]`;
}
