/**
 * The directories of the file system to which the words of a script lead.
 *
 * @module
 */

import type { NamedEntry } from "../../../platform/file_calls.ts";
import { isDirectory } from "../../../platform/is_directory.ts";
import { pathExists } from "../../../platform/path_exists.ts";
import { dirname, join } from "../../../platform/paths.ts";
import { system } from "../../../platform/system.ts";
import type { ShellWord } from "../../kit/simple_command.ts";
import { readEnvironmentVariable } from "../../process/command_environment.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** Matches what the shell replaces by names. */
export const PATTERN = /[*?[]/;

/**
 * Matches directories of the kernel, which may be other ones for a command than for this program, or missing. Devices such as
 * `/dev/stdin` are none unless a redirection opens one.
 */
const KERNEL_DIRECTORY =
  /^\/(?:dev\/(?:[^/]+\/|(?:fd|shm|pts|mqueue)$)|dev$|proc\/(?:\d+|self|thread-self)(?:\/|$))/;

/** The home, the working directory or that of the repository at the beginning of a word. */
export const KNOWN_VARIABLE =
  /^(?:~\+?|\$\{?(?:HOME|PWD)\}?|\$\((?:pwd|git rev-parse --show-toplevel)\)|`(?:pwd|git rev-parse --show-toplevel)`)(?=\/|$)/;

/** Whether a word has no expansion whose value is not known. */
export function isKnown({ text, literal }: ShellWord): boolean {
  return literal || !/[$`]/.test(text.replace(KNOWN_VARIABLE, ""));
}

/** Matches paths of installed programs and packages, to which package managers link. */
const INSTALLED = new RegExp(
  [
    "^/(?:bin|lib\\w*|nix|opt|sbin|usr)/",
    "/(?:node_modules|site-packages)(?:/|$)",
    "/\\.cargo/(?:registry|git/checkouts)(?:/|$)",
    "/\\.rustup/toolchains(?:/|$)",
    "/go/pkg/mod(?:/|$)",
    "/\\.m2/repository(?:/|$)",
    "/\\.gradle/caches(?:/|$)",
    "/\\.cache/deno/npm(?:/|$)",
  ].join("|"),
);

/** Maximum number of paths to examine; a script with more may search anywhere. */
export const MAX_PATHS = 200;

/** Maximum length of a path in characters, as for the kernel. */
const MAX_PATH_LENGTH = 4_096;

/** Maximum number of directories to list for the patterns of a script. */
export const MAX_LISTS = 1_000;

/** The directories that may still be listed. */
export interface ListBudget {
  left: number;
}

/** Lists the directories in which commands may run that move from one to another, or do not. */
export async function listBases(
  directories: readonly string[],
  { targets, repeats, budget }: {
    readonly targets: readonly ShellWord[];
    readonly repeats: boolean;
    readonly budget: ListBudget;
  },
): Promise<ReadonlySet<string>> {
  let bases: ReadonlySet<string> = new Set(directories);
  if (targets.length > MAX_PATHS) throw new RangeError("The shell moves too often");
  let known: number;
  do {
    known = countDirectories(bases);
    for (const target of targets) {
      bases = new Set([...bases, ...await listMoved(bases, target, budget)]);
      if (bases.size > MAX_PATHS) throw new RangeError("The shell may be in too many directories");
    }
    // From a missing directory, the shell gets no higher than from those above it.
  } while (repeats && countDirectories(bases) > known);
  return bases;
}

function countDirectories(paths: ReadonlySet<string>): number {
  return [...paths].filter(isDirectory).length;
}

/** Lists where a command that moves the shell leads from directories. */
export async function listMoved(
  bases: ReadonlySet<string>,
  target: ShellWord,
  budget: ListBudget = { left: MAX_LISTS },
): Promise<ReadonlySet<string>> {
  const moved = new Set<string>();
  const paths = [...bases].flatMap((base) => listDirectories(target, base, budget));
  // Where a link is left, the shell goes back to the directory with the link, and programs to that behind it.
  for (const path of new Set(paths.flatMap((path) => [path, join(path)]))) {
    if (isDirectory(path)) moved.add(await system.realPath(path)).add(join(path));
    // An earlier command may create it, and a later one may lead out of it.
    else if (!pathExists(path)) moved.add(join(path));
  }
  return moved;
}

/**
 * Lists the path of a word, or for a pattern those of directories and links that it may match.
 *
 * @throws {RangeError} When there are more than `MAX_PATHS`, when the budget is spent, or for an expansion whose value
 * is not known.
 */
export function listDirectories(
  word: ShellWord,
  base: string,
  budget: ListBudget,
): readonly string[] {
  const { text, literal } = word;
  if (!isKnown(word)) throw new RangeError("The directory is that of an expansion");
  if (literal || !PATTERN.test(text)) {
    const path = toAbsolute(text, base);
    if (path.length > MAX_PATH_LENGTH) throw new RangeError("The path is too long");
    if (isKernelPath(path)) throw new RangeError("The directory is one of the kernel");
    // An earlier command may create the directory that `..` leads out of.
    return pathExists(path) ? [path] : [...new Set([path, join(path)])];
  }
  const [first = "", ...rest] = text.split("/");
  // A name that was found may have the characters of patterns.
  let paths: readonly string[] = PATTERN.test(first)
    ? listMatches(base, first, budget)
    : [toAbsolute(first, first === "" ? "" : base)];
  for (const segment of rest) {
    paths = PATTERN.test(segment)
      ? paths.flatMap((path) => listMatches(path, segment, budget))
      : paths.map((path) => `${path}/${segment}`);
    if (paths.length > MAX_PATHS) throw new RangeError("The pattern matches too many directories");
  }
  if (paths.some(isKernelPath)) throw new RangeError("The directory is one of the kernel");
  return paths;
}

function isKernelPath(path: string): boolean {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return KERNEL_DIRECTORY.test(`/${names.join("/")}`) || KERNEL_DIRECTORY.test(join(path));
}

function listMatches(directory: string, pattern: string, budget: ListBudget): readonly string[] {
  if (budget.left-- <= 0) throw new RangeError("The patterns list too many directories");
  const start = pattern.slice(0, pattern.search(PATTERN));
  const end = pattern.replace(/^.*[*?\]]/s, "");
  const names = listEntries(directory || "/").filter(({ isFile }) => !isFile)
    .map(({ name }) => name);
  // Before version 5.2 of bash, a pattern with a dot at its beginning matches `..`.
  return [...names, ...(start.startsWith(".") ? [".."] : [])]
    .filter((name) => name.startsWith(start) && name.endsWith(end))
    .map((name) => `${directory}/${name}`);
}

function listEntries(directory: string): readonly NamedEntry[] {
  try {
    return [...system.readDirSync(directory)];
  } catch {
    return [];
  }
}

/**
 * Keeps `..`, which leads out of the directory behind a link.
 *
 * @throws {RangeError} When the path begins with the home directory of another user.
 */
function toAbsolute(path: string, base: string): string {
  if (path.startsWith("/")) return path;
  const [name] = KNOWN_VARIABLE.exec(path) ?? [];
  if (name === undefined) {
    if (path.startsWith("~")) throw new RangeError("The home directory is that of another user");
    return `${base}/${path}`;
  }
  if (name.includes("git")) return `${findRepository(base) ?? base}/${path.slice(name.length)}`;
  const start = /[+Pp]/.test(name) ? base : readEnvironmentVariable("HOME") ?? "";
  return `${start}/${path.slice(name.length)}`;
}

/** Whether a path is that of a directory outside those of a sandbox. */
export async function isOutside(path: string, files: Sandbox["files"]): Promise<boolean> {
  try {
    const target = await system.realPath(path);
    if (INSTALLED.test(target) || !system.statSync(target).isDirectory) return false;
  } catch {
    return false;
  }
  try {
    await files.resolve(path, "read");
    return false;
  } catch {
    return true;
  }
}

/** Returns the directory of the repository that a directory is in. */
export function findRepository(directory: string): string | undefined {
  for (let path = directory;; path = dirname(path)) {
    if (pathExists(join(path, ".git"))) return path;
    if (path === dirname(path)) return undefined;
  }
}
