/**
 * The files of a folder that belong into a patch: what git would not ignore.
 *
 * @module
 */

import { dirname, join, relative, sep } from "node:path";
import { type IgnoreRules, isIgnored, parseIgnoreFile } from "../core/ignore/git_ignore.ts";

/** A folder and the repository around it. */
export interface WorkTree {
  /** The root of the repository; outside of one, the folder itself. */
  readonly root: string;
  /** The folder, relative to the root; empty, or with a `/` at its end. */
  readonly start: string;
  /** Rules that hold for all of it. */
  readonly rules: readonly IgnoreRules[];
}

/** A file or link that a walk found. */
export interface WalkedPath {
  /** Its path, relative to the root. */
  readonly path: string;
  /** What the file system says of it. */
  readonly stat: Deno.FileInfo;
}

/** How a walk goes. */
export interface WalkOptions {
  /** Ends the walk where it is. */
  readonly signal: AbortSignal;
  /** Told of every path that is left out. */
  readonly onIgnored: (path: string) => void;
}

/** How long nothing else gets its turn, in milliseconds. */
const YIELD_INTERVAL_MS = 50;

/** What programs leave behind in a folder that no `.gitignore` speaks of. */
const DEFAULT_IGNORES = "node_modules/\n__pycache__/\n.pytest_cache/\n.mypy_cache/\n.DS_Store\n";

/** Finds the repository around a folder. */
export function findWorkTree(folder: string): WorkTree {
  const repository = findRepository(folder);
  const root = repository ?? folder;
  const below = relative(root, folder).replaceAll(sep, "/");
  const start = below === "" ? "" : `${below}/`;
  const base = repository === undefined
    ? [parseIgnoreFile(DEFAULT_IGNORES, "")]
    : readRulesFile(join(root, ".git", "info", "exclude"), "");
  const above = start.split("/").slice(0, -1).map((_, depth, names) =>
    depth === 0 ? "" : `${names.slice(0, depth).join("/")}/`
  );
  return { root, start, rules: [...base, ...above.flatMap((at) => readDirectoryRules(root, at))] };
}

/** Finds the files and links of a folder. What cannot be looked at is passed over. */
export async function* walkWorkTree(
  { root, start, rules }: WorkTree,
  options: WalkOptions,
): AsyncGenerator<WalkedPath> {
  const folders: { readonly at: string; readonly levels: readonly IgnoreRules[] }[] = [
    { at: start, levels: rules },
  ];
  let lastPause = performance.now();
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    // Let signals through: the rest of the walk is synchronous, which is several times as fast.
    if (performance.now() - lastPause > YIELD_INTERVAL_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      lastPause = performance.now();
    }
    if (options.signal.aborted) return;
    const { at } = folder;
    const levels = [...folder.levels, ...readDirectoryRules(root, at)];
    for (const name of listNames(join(root, at))) {
      const path = at + name;
      const stat = tryLstat(join(root, path));
      if (!stat || name === ".git") continue;
      if (isIgnored(path, stat.isDirectory, levels)) options.onIgnored(path);
      else if (stat.isDirectory) folders.push({ at: `${path}/`, levels });
      else if (stat.isFile || stat.isSymlink) yield { path, stat };
    }
  }
}

/** What is at a path; `undefined` for nothing that can be looked at. */
export function tryLstat(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch {
    return undefined;
  }
}

function findRepository(folder: string): string | undefined {
  for (let at = folder;; at = dirname(at)) {
    if (tryLstat(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

function listNames(folder: string): string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
  } catch {
    return [];
  }
}

function readDirectoryRules(root: string, folder: string): IgnoreRules[] {
  return readRulesFile(join(root, folder, ".gitignore"), folder);
}

function readRulesFile(file: string, folder: string): IgnoreRules[] {
  try {
    return [parseIgnoreFile(Deno.readTextFileSync(file), folder)];
  } catch {
    return [];
  }
}
