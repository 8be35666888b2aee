/**
 * Paths of the command line.
 *
 * @module
 */

import { dirname, isAbsolute, join } from "../../../src/platform/paths.ts";
import { UsageError } from "../../host/cli_error.ts";

/** Resolves a path against the current directory. */
export function resolvePath(path: string): string {
  return isAbsolute(path) ? join(path) : join(Deno.cwd(), path);
}

/** Returns a path that begins with `~` with the home directory; other paths, and all without one, unchanged. */
export function expandHome(path: string, home: string | undefined): string {
  return home && /^~(?:\/|$)/.test(path) ? join(home, path.slice(1)) : path;
}

/**
 * Resolves the path of a directory, by default that of the working directory.
 *
 * @throws {UsageError} If it is not a directory.
 */
export function resolveDirectory(path = ".", flag = "--cwd"): string {
  const directory = resolvePath(path);
  if (isDirectory(directory)) return directory;
  const problem = statFile(directory) ? "not a directory" : "the directory does not exist";
  throw new UsageError(`Invalid value ${JSON.stringify(path)} for ${flag}: ${problem}`);
}

/**
 * Resolves and checks the path of a file that is written after the run, which may take an hour.
 *
 * @throws {UsageError} If the file is a directory, or its directory does not exist.
 */
export function resolveNewFile(flag: string, path: string): string {
  const file = resolvePath(path);
  const message = `Invalid value ${JSON.stringify(path)} for ${flag}`;
  if (isDirectory(file)) throw new UsageError(`${message}: is a directory`);
  if (isDirectory(dirname(file))) return file;
  throw new UsageError(`${message}: there is no directory ${dirname(file)}`);
}

/**
 * Resolves the path of a recording, which is replaced when the run ends: a link stays, and a device is no recording.
 *
 * @throws {UsageError} If the path is not that of a regular file, or its directory does not exist.
 */
export function resolveRecording(path: string): string {
  const file = resolveNewFile("--record", path);
  const info = statFile(file);
  if (!info) return file;
  if (info.isFile) return Deno.realPathSync(file);
  throw new UsageError(`Invalid value ${JSON.stringify(path)} for --record: not a regular file`);
}

/**
 * Resolves the path of a recording that answers requests. One that does not exist is reported where it is read.
 *
 * @throws {UsageError} If it is a directory, a device or a pipe.
 */
export function resolveReplay(path: string): string {
  const file = resolvePath(path);
  if (statFile(file)?.isFile ?? true) return file;
  throw new UsageError(`Invalid value ${JSON.stringify(path)} for --replay: not a regular file`);
}

function isDirectory(path: string): boolean {
  return statFile(path)?.isDirectory ?? false;
}

function statFile(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined;
  }
}

/** Whether a path is a file, or anything else that is no directory. */
export function isFile(path: string): boolean {
  try {
    return !Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
