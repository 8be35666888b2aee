/**
 * Rules for file access: the roots that tools may use, and the protected files in them.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { basename, getRelativePath, SEPARATOR } from "../../platform/paths.ts";
import {
  compileSecretGlobs,
  PROTECTED_FILES,
  SECRET_PLACES,
} from "../../platform/secret_places.ts";

/** Kind of access to a file. */
export type FileAccess = "read" | "write";

/** Files that git runs or reads later, outside the sandbox. */
const WRITE_PROTECTED_FILES: readonly string[] = [
  "**/.git/**/hooks/**",
  "**/.git/**/config",
  "**/.git/**/config.worktree",
  "**/.git/**/commondir",
  "**/.git/**/HEAD",
  ".git",
];

/** Directories whose files are the state of the kernel, of devices and of processes, this one with its keys included. */
const KERNEL_DIRECTORIES: readonly string[] = ["/proc", "/sys", "/dev"];

/** Whether a path may be used: `outside` of the roots and `protected` are refusals. */
export type FileVerdict = "allowed" | "outside" | "protected";

/** Directories that tools may use. */
export interface FileRoots {
  /** Canonical directories for reading and writing. */
  readonly write: readonly string[];
  /** Canonical directories for reading only. */
  readonly read: readonly string[];
}

/** Decides whether a canonical path may be used. */
export type FileRules = (path: string, access: FileAccess) => FileVerdict;

/**
 * Creates the rules. Secrets of the system, and the directories of the kernel, are not part of a root that contains them. A
 * glob that begins with `!` excludes its matches from the globs before it, and one that begins with `/` is for absolute paths.
 * A glob for a directory protects all that is in it, except one of the default list: `.env` may be a directory with a program.
 *
 * @throws {BadRequestError} When a glob begins with `~`.
 */
export function createFileRules(roots: FileRoots, protectedGlobs: readonly string[]): FileRules {
  const globs = protectedGlobs === PROTECTED_FILES
    ? PROTECTED_FILES
    : protectedGlobs.flatMap(addContents);
  const isProtected = compileSecretGlobs(globs);
  const absolute = globs.filter(isAbsoluteGlob).map((glob) => glob.replace("/", ""));
  const isProtectedPath = compileSecretGlobs(absolute);
  const isWriteProtected = compileSecretGlobs(WRITE_PROTECTED_FILES);
  const forReading = [...roots.write, ...roots.read];
  return (path, access) => {
    const allowedRoots = access === "write" ? roots.write : forReading;
    const root = allowedRoots.find((candidate) => isWithin(path, candidate));
    if (root === undefined || isExcluded(path, { root, places: KERNEL_DIRECTORIES })) {
      return "outside";
    }
    if (isExcluded(path, { root, places: SECRET_PLACES.system })) return "protected";
    const name = (getRelativePath(root, path) || basename(path)).replaceAll(SEPARATOR, "/");
    if (isProtected(name)) return "protected";
    if (absolute.length > 0 && isProtectedPath(path.replaceAll(SEPARATOR, "/").slice(1))) {
      return "protected";
    }
    return access === "write" && isWriteProtected(name) ? "protected" : "allowed";
  };
}

const DEFAULT_GLOBS: ReadonlySet<string> = new Set(PROTECTED_FILES);

/** Adds to a glob, which may be that of a directory, the one for what is in it. */
function addContents(glob: string): readonly string[] {
  if (DEFAULT_GLOBS.has(glob)) return [glob];
  const [, sign = "", pattern = ""] = /^(!?)(.*)$/s.exec(glob) ?? [];
  if (/^~(?:\/|$)/.test(pattern)) {
    throw new BadRequestError(
      `The sandbox cannot protect ${JSON.stringify(glob)}: "~" is not expanded, write the path`,
    );
  }
  if (/(?:^|\/)\.\.(?:\/|$)/.test(pattern)) {
    throw new BadRequestError(
      `The sandbox cannot protect ${JSON.stringify(glob)}: ".." is not resolved, write the path`,
    );
  }
  const name = pattern.replace(/^\.\//, "").replace(/\/$/, "");
  return [`${sign}${name}`, `${sign}${name.includes("/") ? "" : "**/"}${name}/**`];
}

function isAbsoluteGlob(glob: string): boolean {
  return /^!?\//.test(glob);
}

interface Exclusion {
  readonly root: string;
  readonly places: readonly string[];
}

/** Whether a path is in one of the places, unless its root is too. */
function isExcluded(path: string, { root, places }: Exclusion): boolean {
  return places.some((place) => isWithin(path, place) && !isWithin(root, place));
}

/** Whether a canonical path is a directory itself or below it. */
export function isWithin(path: string, directory: string): boolean {
  return getRelativePath(directory, path) !== undefined;
}
