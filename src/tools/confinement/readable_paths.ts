/**
 * Paths that commands may read: all but secrets. The kernel grants a directory with all its content, without
 * exceptions, so the siblings of a hidden path are granted one by one. It grants files, not names: a sibling that is a hard
 * link to a hidden file is not granted.
 *
 * @module
 */

import type { NamedEntry } from "../../platform/file_calls.ts";
import { getRelativePath, join, SEPARATOR } from "../../platform/paths.ts";
import { SECRET_PLACES } from "../../platform/secret_places.ts";
import { system } from "../../platform/system.ts";
import { getSharedIdentity } from "../files/shared_identity.ts";
import { listMountedPaths } from "./mounted_paths.ts";

/** Maximum number of entries of a directory that are granted one by one; the others stay unreadable. */
const MAX_ENTRIES = 20_000;

/** Maximum number of granted paths, each of which takes 10 µs when a command starts; the others stay unreadable. */
const MAX_PATHS = 50_000;

/** Lists the fewest directories and files that cover all but the hidden paths. All paths are canonical. */
export function listReadablePaths(hidden: readonly string[]): string[] {
  const paths = excludeHidden("/", [...hidden, ...listMountedPaths(hidden)]);
  if (paths.length <= MAX_PATHS) return paths;
  // Those of the system, without which no program runs, are the shortest.
  return paths.toSorted((a, b) => countNames(a) - countNames(b)).slice(0, MAX_PATHS);
}

function countNames(path: string): number {
  return path.split(SEPARATOR).length;
}

/** Lists the fewest paths that cover a path without the hidden ones in it. */
export function excludeHidden(path: string, hidden: readonly string[]): string[] {
  const inside = hidden.flatMap((candidate) => getRelativePath(path, candidate) ?? []);
  const shared = new Set(hidden.flatMap((candidate) => getSharedIdentity(candidate) ?? []));
  const isHidden = (file: string) => shared.size > 0 && shared.has(getSharedIdentity(file) ?? "");
  return listUncovered(path, { hidden: inside, isHidden });
}

interface HiddenPaths {
  /** Relative paths. */
  readonly hidden: readonly string[];
  /** Whether a file is one of those that are hidden, by another name. */
  readonly isHidden: (file: string) => boolean;
}

/** Lists the fewest paths that cover a path without the hidden ones in it. */
function listUncovered(path: string, { hidden, isHidden }: HiddenPaths): string[] {
  if (hidden.length === 0) return [path];
  if (hidden.includes("")) return [];
  const inside = groupByName(hidden);
  return listEntries(path).flatMap(({ name, isFile }) => {
    const entry = join(path, name);
    if (isFile && isHidden(entry)) return [];
    return listUncovered(entry, { hidden: inside.get(name) ?? [], isHidden });
  });
}

/** Groups relative paths by their first names; returns what follows these. */
function groupByName(paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const [name = "", ...rest] = path.split(SEPARATOR);
    const group = groups.get(name) ?? [];
    groups.set(name, group);
    group.push(rest.join(SEPARATOR));
  }
  return groups;
}

/** Lists the entries except links: their targets are granted, or hidden, by their own paths. */
function listEntries(directory: string): readonly NamedEntry[] {
  try {
    const entries = [...system.readDirSync(directory)];
    return entries.slice(0, MAX_ENTRIES).filter(({ isSymlink }) => !isSymlink);
  } catch {
    return [];
  }
}

/** Resolves the hidden paths that exist: those in the home directory, those of the system, and `additional`. */
export function resolveHiddenPaths(
  home: string | undefined,
  additional: readonly string[],
): string[] {
  const inHome = home === undefined ? [] : SECRET_PLACES.home.map((name) => join(home, name));
  return [...inHome, ...SECRET_PLACES.system, ...additional].flatMap((path) => {
    try {
      return [system.realPathSync(path)];
    } catch {
      return [];
    }
  });
}
