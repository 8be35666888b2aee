/**
 * Paths that commands may read: all but secrets. The kernel grants a directory with all its content, without
 * exceptions, so the siblings of a hidden path are granted one by one.
 *
 * @module
 */

import { join } from "../../platform/paths.ts";
import { isWithin } from "../files/file_rules.ts";
import { SECRET_PLACES } from "../../platform/secret_places.ts";
import { system } from "../../platform/system.ts";

/** Maximum number of entries of a directory that are granted one by one; the others stay unreadable. */
const MAX_ENTRIES = 2_000;

/** Lists the fewest directories and files that cover all but the hidden paths. All paths are canonical. */
export function listReadablePaths(hidden: readonly string[]): string[] {
  return excludeHidden("/", hidden);
}

/** Lists the fewest paths that cover a path without the hidden ones in it. */
export function excludeHidden(path: string, hidden: readonly string[]): string[] {
  const inside = hidden.filter((candidate) => isWithin(candidate, path));
  if (inside.length === 0) return [path];
  if (inside.includes(path)) return [];
  return listNames(path).flatMap((name) => excludeHidden(join(path, name), inside));
}

/** Lists the names except links: their targets are granted, or hidden, by their own paths. */
function listNames(directory: string): string[] {
  try {
    const entries = [...system.readDirSync(directory)];
    return entries.slice(0, MAX_ENTRIES).flatMap(({ name, isSymlink }) => isSymlink ? [] : [name]);
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
