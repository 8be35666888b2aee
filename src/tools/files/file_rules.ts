/**
 * Rules for file access: the roots that tools may use, and the protected files in them.
 *
 * @module
 */

import { basename, getRelativePath, SEPARATOR } from "../../platform/paths.ts";
import { compileGlob, compileGlobs, type PathMatcher } from "../../core/ignore/glob.ts";

/** Kind of access to a file. */
export type FileAccess = "read" | "write";

/** Names that usually hold secrets: environment files, private keys, credentials of common programs. */
export const PROTECTED_FILES: readonly string[] = [
  ".env",
  ".env.*",
  "!.env.example",
  "!.env.sample",
  "!.env.template",
  "*.pem",
  "*.key",
  "*.p12",
  "*.pfx",
  "*.keystore",
  "id_rsa",
  "id_dsa",
  "id_ecdsa",
  "id_ed25519",
  ".netrc",
  ".pgpass",
  ".git-credentials",
  "**/.ssh/**",
  "**/.gnupg/**",
  "**/.aws/credentials",
  "**/.docker/config.json",
  "**/.kube/config",
];

/** Files that git runs or reads later, outside the sandbox. */
const WRITE_PROTECTED_FILES: readonly string[] = [
  "**/.git/**/hooks/**",
  "**/.git/**/config",
  "**/.git/**/config.worktree",
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
  const isProtected = compileGlobRules(protectedGlobs);
  const isWriteProtected = compileGlobRules(WRITE_PROTECTED_FILES);
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

function compileGlobRules(globs: readonly string[]): PathMatcher {
  const lowerCaseGlobs = globs.map((glob) => glob.toLowerCase());
  const rules = lowerCaseGlobs.map((glob) => {
    const negated = glob.startsWith("!");
    return { negated, matches: compileGlob(negated ? glob.slice(1) : glob) };
  }).reverse();
  // Most paths match no glob: one combined check decides them.
  const matchesAny = compileGlobs(lowerCaseGlobs.filter((glob) => !glob.startsWith("!")));
  return (path) => {
    // On a case-insensitive file system `.ENV` is `.env`.
    const name = path.toLowerCase();
    return matchesAny(name) && rules.find(({ matches }) => matches(name))?.negated === false;
  };
}
