/**
 * Rules for file access: the roots that tools may use, and the protected files in them.
 *
 * @module
 */

import { basename, getRelativePath, SEPARATOR } from "../../platform/paths.ts";
import { compileSecretGlobs } from "../../platform/secret_places.ts";

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

/** Creates the rules. A glob that begins with `!` excludes its matches from the globs before it. */
export function createFileRules(roots: FileRoots, protectedGlobs: readonly string[]): FileRules {
  const isProtected = compileSecretGlobs(protectedGlobs);
  const isWriteProtected = compileSecretGlobs(WRITE_PROTECTED_FILES);
  const forReading = [...roots.write, ...roots.read];
  return (path, access) => {
    const allowedRoots = access === "write" ? roots.write : forReading;
    const root = allowedRoots.find((candidate) => isWithin(path, candidate));
    if (root === undefined) return "outside";
    const name = (getRelativePath(root, path) || basename(path)).replaceAll(SEPARATOR, "/");
    if (isProtected(name)) return "protected";
    return access === "write" && isWriteProtected(name) ? "protected" : "allowed";
  };
}

/** Whether a canonical path is a directory itself or below it. */
export function isWithin(path: string, directory: string): boolean {
  return getRelativePath(directory, path) !== undefined;
}
