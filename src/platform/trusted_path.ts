/**
 * The search path for programs that this program runs with its own rights, such as `git` and `rg`.
 *
 * @module
 */

import { getRelativePath, isAbsolute, join } from "./paths.ts";
import { system } from "./system.ts";
import { isMissingPermission } from "./system_error.ts";
import { isInWritableDirectory } from "./writable_directories.ts";

/**
 * Returns a value of `PATH` without the directories that are relative, missing or in one that commands can write: a command
 * could make a program there, such as in the `bin` of an activated virtual environment.
 *
 * @param path Value of `PATH`.
 * @param writable Canonical paths of directories that commands can write, in addition to those of the sandboxes of this process.
 */
export function getTrustedPath(path: string, writable: readonly string[]): string {
  const separator = getSeparator();
  const directories = path.split(separator).filter(isAbsolute).flatMap(resolveIfExists);
  const isTrusted = (directory: string) =>
    !isInWritableDirectory(directory) &&
    writable.every((root) => getRelativePath(root, directory) === undefined);
  const trusted = [...new Set(directories)].filter(isTrusted);
  // An empty value would be the working directory.
  return trusted.length === 0 ? NO_DIRECTORY : trusted.join(separator);
}

/**
 * Finds a program as a shell does, but only in directories that commands cannot write. Returns its path; `undefined` if there
 * is none.
 *
 * @param name Name of the program, such as `sh`.
 * @param path Value of `PATH`.
 */
export function findTrustedProgram(name: string, path: string): string | undefined {
  const directories = getTrustedPath(path, []).split(getSeparator());
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    const { isFile, mode } = system.statSync(path);
    return isFile && (mode === null || (mode & 0o111) !== 0);
  } catch {
    return false;
  }
}

function getSeparator(): string {
  return system.build.os === "windows" ? ";" : ":";
}

/** A path in which no program can be. */
const NO_DIRECTORY = "/dev/null";

/** Returns the canonical path, since a command could replace a link; the path itself without the permission to read it. */
function resolveIfExists(directory: string): string[] {
  try {
    return [system.realPathSync(directory)];
  } catch (error) {
    return isMissingPermission(error) ? [directory] : [];
  }
}
