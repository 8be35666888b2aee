/**
 * What commands may read: everything but secrets. The kernel grants folders with all that is in them and takes nothing
 * back, so where something is hidden, its neighbours are granted one by one.
 *
 * @module
 */

import { join } from "../files/paths.ts";
import { isWithin } from "../files/file_rules.ts";

/** Keys and credentials below a home folder that no command reads. */
export const HIDDEN_IN_HOME: readonly string[] = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker/config.json",
  ".config/gcloud",
  ".config/gh",
  ".config/swink",
  ".config/op",
  ".config/google-chrome",
  ".config/chromium",
  ".mozilla",
  ".password-store",
  ".local/share/keyrings",
  ".netrc",
  ".pgpass",
  ".git-credentials",
  ".pypirc",
  ".cargo/credentials.toml",
  "Library/Keychains",
  "Library/Application Support/Google/Chrome",
];

/** Keys and credentials of the machine. */
export const HIDDEN_SYSTEM_PATHS: readonly string[] = [
  "/etc/shadow",
  "/etc/gshadow",
  "/run/secrets",
  "/var/run/secrets",
];

/** A folder with more names is granted without what is in it, rather than name by name. */
const MAX_ENTRIES = 2_000;

/** The widest folders and files that together are everything but what is hidden. All paths are canonical. */
export function listReadablePaths(hidden: readonly string[]): string[] {
  return excludeHidden("/", hidden);
}

function excludeHidden(path: string, hidden: readonly string[]): string[] {
  const inside = hidden.filter((candidate) => isWithin(candidate, path));
  if (inside.length === 0) return [path];
  if (inside.includes(path)) return [];
  return listNames(path).flatMap((name) => excludeHidden(join(path, name), inside));
}

/** Links are granted nothing: what they lead to is granted, or hidden, where it is. */
function listNames(folder: string): string[] {
  try {
    const entries = [...Deno.readDirSync(folder)];
    return entries.slice(0, MAX_ENTRIES).flatMap((
      { name, isSymlink },
    ) => (isSymlink ? [] : [name]));
  } catch {
    return [];
  }
}

/** The canonical paths of what shall be hidden, as far as it exists. */
export function resolveHiddenPaths(home: string | undefined, more: readonly string[]): string[] {
  const inHome = home === undefined ? [] : HIDDEN_IN_HOME.map((name) => join(home, name));
  return [...inHome, ...HIDDEN_SYSTEM_PATHS, ...more].flatMap((path) => {
    try {
      return [Deno.realPathSync(path)];
    } catch {
      return [];
    }
  });
}
