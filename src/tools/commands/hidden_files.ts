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

/** Formats notices about the hidden files that a command or its errors name, and about directories that were not searched. */
export function formatHiddenFiles(
  hidden: SecretFiles | undefined,
  { command, output, files }: EndedCommand,
): string[] {
  if (!hidden) return [];
  const errors = output.split("\n").filter((line) => /permission denied/i.test(line));
  const text = [command, ...errors].join("\n").slice(0, MAX_CHARACTERS);
  const named = hidden.secrets.filter((path) => hasName(text, basename(path)));
  const list = (paths: readonly string[]) =>
    formatPaths(paths.map((path) => quoteUnusual(files.toDisplayPath(path))));
  return [
    ...(named.length === 0 ? [] : [
      `[Sandbox: commands cannot read these files, which usually hold secrets: ${list(named)}]`,
    ]),
    ...(hidden.unsearched.length === 0 ? [] : [
      `[Sandbox: commands cannot read these directories, because there are too many files to search them for secrets: ${
        list(hidden.unsearched)
      }]`,
    ]),
  ];
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
