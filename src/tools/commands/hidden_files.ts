/**
 * Notices about files that a command could not read, so that the model does not take them for empty or missing.
 *
 * @module
 */

import { basename } from "../../platform/paths.ts";
import type { SecretFiles } from "../sandbox/find_secret_files.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";

/** Maximum number of paths in a notice. */
const MAX_PATHS = 5;

/** Maximum length of the text that is searched for names, of which there may be thousands. */
const MAX_CHARACTERS = 10_000;

/** A command that has ended. */
export interface EndedCommand {
  /** The command. */
  readonly command: string;
  /** Its output. */
  readonly output: string;
  /** The files of its sandbox. */
  readonly files: Pick<SandboxFiles, "toDisplayPath">;
}

/** Lines before an error, which may have the name of its file. */
const LINES_BEFORE = 4;

/** Matches what `git status` and `git diff` show of a changed file before its name, or of one that they cannot read. */
const CHANGED = /^(?:\tmodified: +|[ MARC]M |M\t|1 [.MARC]M |fatal: cannot hash )/;

/**
 * Formats notices about the hidden files that a command or its errors name or that git shows as changed, and about
 * directories that were not searched.
 */
export function formatHiddenFiles(
  hidden: SecretFiles | undefined,
  { command, output, files }: EndedCommand,
): string[] {
  if (!hidden) return [];
  const lines = output.split("\n");
  const named = selectNamed(hidden.secrets, [command, ...listErrors(lines)]);
  const changed = /\bgit\b/.test(command)
    ? selectNamed(hidden.secrets, lines.filter((line) => CHANGED.test(line)))
    : [];
  const list = (paths: readonly string[]) =>
    formatPaths(paths.map((path) => quoteUnusual(files.toDisplayPath(path))));
  return [
    ...(named.length === 0 ? [] : [
      `[Sandbox: commands cannot read these files, which usually hold secrets: ${list(named)}]`,
    ]),
    ...(changed.length === 0 ? [] : [
      `[Sandbox: git cannot read these files, and may show unchanged ones as changed; leave them out, as in "git diff -- ':!NAME'": ${
        list(changed)
      }]`,
    ]),
    ...(hidden.unsearched.length === 0 ? [] : [
      `[Sandbox: commands cannot read these directories, because there are too many files to search them for secrets: ${
        list(hidden.unsearched)
      }]`,
    ]),
  ];
}

/** Selects the files whose names are in a text. */
function selectNamed(paths: readonly string[], lines: readonly string[]): readonly string[] {
  const text = lines.join("\n").slice(0, MAX_CHARACTERS);
  return paths.filter((path) => hasName(text, basename(path)));
}

/** Lists the lines with an error of the sandbox, and those before them. */
function listErrors(lines: readonly string[]): readonly string[] {
  const ends = lines.flatMap((line, index) =>
    /permission denied|\bEACCES\b/i.test(line) ? [index] : []
  );
  const indices = ends.flatMap((end) =>
    Array.from({ length: LINES_BEFORE + 1 }, (_, index) => end - LINES_BEFORE + index)
  );
  return [...new Set(indices)].flatMap((index) => lines[index] ?? []);
}

/** Whether a text has a name that is not part of another one, as in `process.env`. */
function hasName(text: string, name: string): boolean {
  for (let start = text.indexOf(name); start >= 0; start = text.indexOf(name, start + 1)) {
    const end = start + name.length;
    const isPart = /[\w.-]/.test(text.charAt(start - 1)) ||
      /^(?:[\w-]|\.\w)/.test(text.slice(end, end + 2));
    if (!isPart) return true;
  }
  return false;
}

/** Quotes a path with control characters, which could look like a line of the result. */
function quoteUnusual(path: string): string {
  return /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
}

function formatPaths(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_PATHS).join(", ");
  return paths.length > MAX_PATHS ? `${shown} and ${paths.length - MAX_PATHS} more` : shown;
}
