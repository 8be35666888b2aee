/**
 * Which files the tools may touch: the roots, and what is protected inside them.
 *
 * @module
 */

import { basename, getRelativePath, SEPARATOR } from "./paths.ts";
import { compileGlob, compileGlobs, type PathMatcher } from "../../core/ignore/glob.ts";

/** What a tool wants with a file. */
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

/** What would be run later, outside of the sandbox, by whoever uses the repository next. */
const WRITE_PROTECTED_FILES: readonly string[] = ["**/.git/hooks/**", "**/.git/config", ".git"];

/** Whether a path may be used; `outside` and `protected` say why not. */
export type FileVerdict = "allowed" | "outside" | "protected";

/** Where the tools may read and write. */
export interface FileRoots {
  /** Folders that may be read and written, canonical. */
  readonly write: readonly string[];
  /** Folders that may only be read, canonical. */
  readonly read: readonly string[];
}

/** Decides about canonical paths. */
export type FileRules = (path: string, access: FileAccess) => FileVerdict;

/** Makes the rules. A glob that begins with `!` makes an exception from those before it. */
export function createFileRules(roots: FileRoots, protectedGlobs: readonly string[]): FileRules {
  const isProtected = compileGlobRules(protectedGlobs);
  const isNeverWritten = compileGlobRules(WRITE_PROTECTED_FILES);
  const forReading = [...roots.write, ...roots.read];
  return (path, access) => {
    const allowedRoots = access === "write" ? roots.write : forReading;
    const root = allowedRoots.find((folder) => isWithin(path, folder));
    if (root === undefined) return "outside";
    const name = (getRelativePath(root, path) || basename(path)).replaceAll(SEPARATOR, "/");
    if (isProtected(name)) return "protected";
    return access === "write" && isNeverWritten(name) ? "protected" : "allowed";
  };
}

/** Tells whether a canonical path is a folder or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return getRelativePath(folder, path) !== undefined;
}

function compileGlobRules(globs: readonly string[]): PathMatcher {
  const folded = globs.map((glob) => glob.toLowerCase());
  const rules = folded.map((glob) => {
    const negated = glob.startsWith("!");
    return { negated, fits: compileGlob(negated ? glob.slice(1) : glob) };
  }).reverse();
  // Nearly every path fits none of them, and one look tells.
  const fitsAny = compileGlobs(folded.filter((glob) => !glob.startsWith("!")));
  return (path) => {
    // Some file systems take `.ENV` for `.env`.
    const name = path.toLowerCase();
    return fitsAny(name) && rules.find(({ fits }) => fits(name))?.negated === false;
  };
}
