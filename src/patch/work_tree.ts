/**
 * Finds the files of a directory that git would not ignore.
 *
 * @module
 */

import { AbortedError } from "../core/errors/errors.ts";
import { type IgnoreRules, isIgnored, parseIgnoreFile } from "../core/ignore/git_ignore.ts";
import type { FileStatus } from "../platform/file_calls.ts";
import { listNames } from "../platform/list_names.ts";
import { dirname, getRelativePath, isExactPath, join, SEPARATOR } from "../platform/paths.ts";
import { system } from "../platform/system.ts";
import { readUntrustedText } from "../platform/untrusted_file.ts";
import { findCommonDirectory } from "./git_directory.ts";

/** A directory and the repository that contains it. */
export interface WorkTree {
  /** Root of the repository; outside of one, the directory itself. */
  readonly root: string;
  /** The directory relative to the root; empty, or with a `/` at its end. */
  readonly start: string;
  /** Ignore rules from outside of the directory. */
  readonly rules: readonly IgnoreRules[];
}

/** A file or link found by a walk. */
export interface WalkedPath {
  /** Path relative to the root, with `/`. */
  readonly path: string;
  /** Status of the file, or of the link itself. */
  readonly stat: FileStatus;
}

/** Options for {@linkcode walkWorkTree}. */
export interface WalkOptions {
  /** Aborts the walk with an {@linkcode AbortedError}. */
  readonly signal?: AbortSignal | undefined;
  /** Called with every ignored path. */
  readonly onIgnored?: (path: string) => void;
  /** Called with every path that is not UTF-8, whose file or directory cannot be opened. */
  readonly onInexact?: (path: string) => void;
}

/** Interval at which a walk yields to the event loop. */
const YIELD_INTERVAL_MS = 50;

/** Ignore rules outside of a repository: caches and installed packages. */
const DEFAULT_IGNORES = "node_modules/\n__pycache__/\n.pytest_cache/\n.mypy_cache/\n.DS_Store\n";

/** Finds the repository that contains a directory, and the ignore rules that the directory inherits. */
export async function findWorkTree(directory: string): Promise<WorkTree> {
  const repository = findRepository(directory);
  const root = repository ?? directory;
  const path = (getRelativePath(root, directory) ?? "").replaceAll(SEPARATOR, "/");
  const start = path === "" ? "" : `${path}/`;
  const rootRules = repository === undefined
    ? [parseIgnoreFile(DEFAULT_IGNORES, "")]
    : await readRulesFile(join(await findCommonDirectory(root), "info"), {
      name: "exclude",
      prefix: "",
    });
  const parents = start.split("/").slice(0, -1).map((_, depth, names) =>
    depth === 0 ? "" : `${names.slice(0, depth).join("/")}/`
  );
  const parentRules = await Promise.all(parents.map((parent) => readDirectoryRules(root, parent)));
  return { root, start, rules: [...rootRules, ...parentRules.flat()] };
}

/** Yields the files and links of a work tree that are not ignored. Skips unreadable directories. */
export async function* walkWorkTree(
  { root, start, rules }: WorkTree,
  { signal, onIgnored, onInexact }: WalkOptions = {},
): AsyncGenerator<WalkedPath> {
  const directories = [{ prefix: start, rules }];
  let lastYield = performance.now();
  for (let directory = directories.pop(); directory; directory = directories.pop()) {
    // The walk is synchronous, which is several times as fast, except for this pause.
    if (performance.now() - lastYield > YIELD_INTERVAL_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      lastYield = performance.now();
    }
    if (signal?.aborted) throw new AbortedError("The snapshot was cancelled");
    const { prefix } = directory;
    const names = listNames(toFilePath(root, prefix));
    const ownRules = names.includes(GITIGNORE) ? await readDirectoryRules(root, prefix) : [];
    const directoryRules = [...directory.rules, ...ownRules];
    for (const name of names) {
      const path = prefix + name;
      if (!isExactPath(name)) {
        onInexact?.(path);
        continue;
      }
      const stat = tryLstat(toFilePath(root, path));
      if (!stat || name === ".git") continue;
      if (isIgnored(path, stat.isDirectory, directoryRules)) onIgnored?.(path);
      else if (stat.isDirectory) directories.push({ prefix: `${path}/`, rules: directoryRules });
      else if (stat.isFile || stat.isSymlink) yield { path, stat };
    }
  }
}

/** Returns the path of a file, faster than `join()`. */
export function toFilePath(root: string, path: string): string {
  return root.endsWith(SEPARATOR) ? root + path : root + SEPARATOR + path;
}

/** Returns the status of a path, without following a link; `undefined` if it cannot be read. */
function tryLstat(path: string): FileStatus | undefined {
  try {
    return system.lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Returns the status of a path in a work tree as `tryLstat()` does; `undefined` behind a link, where git has no files. */
export function tryLstatInTree(root: string, path: string): FileStatus | undefined {
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
    if (!tryLstat(toFilePath(root, path.slice(0, end)))?.isDirectory) return undefined;
  }
  return tryLstat(toFilePath(root, path));
}

function findRepository(directory: string): string | undefined {
  for (let path = directory;; path = dirname(path)) {
    if (tryLstat(join(path, ".git"))) return path;
    if (dirname(path) === path) return undefined;
  }
}

function readDirectoryRules(root: string, prefix: string): Promise<IgnoreRules[]> {
  return readRulesFile(join(root, prefix), { name: GITIGNORE, prefix });
}

const GITIGNORE = ".gitignore";

/** Maximum size of an ignore file. */
const MAX_IGNORE_BYTES = 1_000_000;

async function readRulesFile(
  directory: string,
  { name, prefix }: { readonly name: string; readonly prefix: string },
): Promise<IgnoreRules[]> {
  const options = { within: directory, maxBytes: MAX_IGNORE_BYTES };
  const text = await readUntrustedText(join(directory, name), options);
  return text === undefined ? [] : [parseIgnoreFile(text, prefix)];
}
