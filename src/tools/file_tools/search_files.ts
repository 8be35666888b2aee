/**
 * The tool that searches files by name and by content.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors.ts";
import { type AgentTool, defineTool, textResult } from "../../core/tool.ts";
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

/** Larger files are data, not for searching. */
const MAX_FILE_BYTES = 10_000_000;

const DEFAULT_RESULTS = 200;

/** Makes `search_files`. */
export function searchFilesTool(kit: ToolKit): AgentTool {
  const { files } = kit.sandbox;
  return defineTool({
    name: "search_files",
    label: "Search files",
    description:
      "Finds lines that fit a regular expression (JavaScript syntax), or, without pattern, files by name. Leaves " +
      "out what git ignores, and binary files.",
    parameters: {
      type: "object",
      properties: {
        pattern: { type: "string", description: "Regular expression, per line" },
        glob: {
          type: "string",
          description: 'Only files like this, e.g. "*.ts" or "src/**/*.{c,h}"',
        },
        path: { type: "string", description: "Folder or file. Default: the working directory" },
        ignore_case: { type: "boolean" },
        context: {
          type: "integer",
          minimum: 0,
          maximum: 20,
          description: "Lines to show around each match. Default: 0",
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
      if (!pattern && !glob) throw new BadRequestError("Give a pattern, a glob, or both");
      const start = await resolveStart(files, path);
      const fits = glob === undefined ? () => true : parseGlob(glob);
      if (!pattern) {
        return textResult(
          await findNames(files, { start, matches: fits, signal, limit: max_results }),
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
          entries: filterFiles(
            entries,
            (entry) => candidates(entry.path) && fits(entry.relativePath),
          ),
          context: args.context ?? 0,
          limit: max_results,
          signal,
        }),
      );
    }),
  });
}

/** Where a search begins. */
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
    throw new BadRequestError(`${quotePath(path)} is neither a file nor a folder`);
  }
  return { path: await files.resolve(path, "read"), isDirectory: kind === "directory" };
}

function parseGlob(glob: string): PathMatcher {
  try {
    return compileGlob(glob);
  } catch (error) {
    throw new BadRequestError(
      `The glob ${quotePath(glob)} cannot be read: ${getErrorMessage(error)}`,
    );
  }
}

function compilePattern(pattern: string, ignoreCase: boolean): RegExp {
  const flags = ignoreCase ? "i" : "";
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch {
    try {
      // Patterns from other tools often escape what needs no escape, which only the older syntax forgives.
      return new RegExp(pattern, flags);
    } catch (error) {
      throw new BadRequestError(`The pattern cannot be read: ${getErrorMessage(error)}`);
    }
  }
}

/** A file stands for itself, a folder for all below it. */
async function* walkEntries(
  files: SandboxFiles,
  { path, isDirectory: isFolder }: SearchStart,
  options: WalkOptions,
): AsyncGenerator<WalkEntry> {
  if (isFolder) {
    yield* walkFiles(files, path, options);
    return;
  }
  const name = path.slice(path.lastIndexOf("/") + 1);
  yield { path, relativePath: name, name, kind: "file", depth: 0 };
}

async function* filterFiles(
  entries: AsyncIterable<WalkEntry>,
  fits: (entry: WalkEntry) => boolean,
): AsyncGenerator<WalkEntry> {
  for await (const entry of entries) if (entry.kind === "file" && fits(entry)) yield entry;
}

interface NameSearch {
  readonly start: SearchStart;
  readonly matches: PathMatcher;
  readonly signal: AbortSignal;
  readonly limit: number;
}

async function findNames(files: SandboxFiles, search: NameSearch): Promise<string> {
  const { start, matches: fits, signal, limit } = search;
  const names: string[] = [];
  for await (const { path, relativePath: below, kind } of walkEntries(files, start, { signal })) {
    if (kind === "directory" || !fits(below)) continue;
    if (names.length === limit) return `${names.join("\n")}\n${formatLimitNotice(limit, "files")}`;
    names.push(toPrintable(files.toDisplayPath(path)));
  }
  return names.length === 0 ? "No files found" : names.join("\n");
}

interface LineSearch {
  readonly expression: RegExp;
  readonly entries: AsyncIterable<WalkEntry>;
  readonly context: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

async function findLines(files: SandboxFiles, search: LineSearch): Promise<string> {
  const blocks: string[] = [];
  let room = search.limit;
  for await (const match of findMatchingFiles(files, search)) {
    const shownLines = match.lines.slice(0, room);
    blocks.push(
      `${toPrintable(files.toDisplayPath(match.path))}\n${
        shownLines.map(({ text }) => text).join("\n")
      }`,
    );
    room -= shownLines.length;
    if (shownLines.length < match.lines.length || room === 0) {
      return truncateMiddle(`${blocks.join("\n\n")}\n\n${formatLimitNotice(search.limit, "lines")}`)
        .text;
    }
  }
  return blocks.length === 0 ? "No matches" : truncateMiddle(blocks.join("\n\n")).text;
}

function formatLimitNotice(limit: number, what: string): string {
  return `[Stopped after ${limit} ${what}; narrow the search, or raise max_results]`;
}

/** How long a search runs before it lets something else run, an abort above all. */
const YIELD_INTERVAL_MS = 15;

/** Files with matches, in the order of the walk. */
async function* findMatchingFiles(
  files: SandboxFiles,
  { entries, expression, context, signal }: LineSearch,
): AsyncGenerator<FileMatch> {
  using matcher = createLineMatcher({ expression, context }, signal);
  let sliceEnd = performance.now() + YIELD_INTERVAL_MS;
  for await (const { path } of entries) {
    if (performance.now() > sliceEnd) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      signal.throwIfAborted();
      sliceEnd = performance.now() + YIELD_INTERVAL_MS;
    }
    const bytes = await readWalkedFile(files, path, MAX_FILE_BYTES);
    if (!bytes || (await matcher.match(bytes)).length === 0) continue;
    const lines = await matcher.match(await readVerified(files, path));
    if (lines.length > 0) yield { path, lines };
  }
}

/** What is shown is read by a way that no swapped link redirects. */
async function readVerified(files: SandboxFiles, path: string): Promise<Uint8Array> {
  const bytes = await files.readIfExists(path, { maxBytes: MAX_FILE_BYTES }).catch(() => undefined);
  return bytes ?? new Uint8Array();
}
