/**
 * Walks a directory in sorted order, without files that git ignores.
 *
 * @module
 */

import { AbortedError } from "../../core/errors/errors.ts";
import { type IgnoreRules, isIgnored, parseIgnoreFile } from "../../core/ignore/git_ignore.ts";
import { isExactPath } from "../../platform/paths.ts";
import { MAX_IGNORE_BYTES } from "../files/parent_ignore_rules.ts";
import { readParentIgnoreRules, readWalkedFile } from "../sandbox/file_reading.ts";
import type { DirectoryEntry, SandboxFiles } from "../sandbox/sandbox_files.ts";

/** An entry found by a walk. */
export interface WalkEntry {
  /** Canonical path. */
  readonly path: string;
  /** Path relative to the start of the walk, with `/`. */
  readonly relativePath: string;
  /** Last segment of the path. */
  readonly name: string;
  /** Kind of the entry. */
  readonly kind: DirectoryEntry["kind"];
  /** Number of directories between the start and the entry; 0 for entries of the start. */
  readonly depth: number;
}

/** Options for {@linkcode walkFiles}. */
export interface WalkOptions {
  /** Aborts the walk with an {@linkcode AbortedError}. */
  readonly signal: AbortSignal;
  /** Directories at this depth are yielded but not entered. Default: no limit. */
  readonly maxDepth?: number;
  /** Returns whether an entry, given by its canonical path, is left out with all below it. Default: none. */
  readonly isExcluded?: ((path: string) => boolean) | undefined;
  /** Called with the canonical path of each directory that cannot be read. */
  readonly onUnreadable?: (path: string) => void;
}

/** A directory that is being walked. */
interface WalkLevel {
  /** Canonical path. */
  readonly path: string;
  /** Path relative to the directory where the rules start; empty, or with a `/` at its end. */
  readonly prefix: string;
  readonly rules: readonly IgnoreRules[];
  readonly entries: Iterator<DirectoryEntry>;
}

/**
 * Yields every entry below a directory, given by its canonical path: each directory before its entries. Links and
 * directories whose names are not UTF-8 are not entered.
 *
 * @throws {BadRequestError} When the directory cannot be read. Unreadable subdirectories are skipped.
 */
export async function* walkFiles(
  files: SandboxFiles,
  start: string,
  options: WalkOptions,
): AsyncGenerator<WalkEntry> {
  const { signal, maxDepth = Infinity, isExcluded, onUnreadable } = options;
  const origin = await findOrigin(files, start);
  const prefixLength = origin.prefix.length;
  const { prefix, rules } = origin;
  const levels = [await openLevel(files, { path: start, prefix, rules })];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    if (signal.aborted) throw new AbortedError("The search was cancelled");
    const next = level.entries.next();
    if (next.done) {
      levels.pop();
      continue;
    }
    const { name, kind } = next.value;
    const fromOrigin = level.prefix + name;
    if (name === ".git" || isIgnored(fromOrigin, kind === "directory", level.rules)) continue;
    const path = `${level.path}/${name}`;
    if (isExcluded?.(path)) continue;
    const depth = levels.length - 1;
    yield { path, relativePath: fromOrigin.slice(prefixLength), name, kind, depth };
    if (kind !== "directory" || depth >= maxDepth || !isExactPath(name)) continue;
    const child = { path, prefix: `${fromOrigin}/`, rules: level.rules };
    const childLevel = await openLevel(files, child).catch(() => undefined);
    if (childLevel) levels.push(childLevel);
    else onUnreadable?.(path);
  }
}

/** Whether the directory where a walk starts is ignored itself; the rules above it then do not apply. */
export async function isStartIgnored(files: SandboxFiles, start: string): Promise<boolean> {
  return (await findOrigin(files, start)).isIgnored;
}

async function openLevel(
  files: SandboxFiles,
  level: Omit<WalkLevel, "entries">,
): Promise<WalkLevel> {
  const entries = await files.readDirectory(level.path);
  const rules = [...level.rules, ...await readDirectoryRules(files, level, entries)];
  return { ...level, rules, entries: entries[Symbol.iterator]() };
}

async function readDirectoryRules(
  files: SandboxFiles,
  { path, prefix }: Pick<WalkLevel, "path" | "prefix">,
  entries: readonly DirectoryEntry[],
): Promise<IgnoreRules[]> {
  if (!entries.some(({ name, kind }) => name === ".gitignore" && kind === "file")) return [];
  const bytes = await readWalkedFile(files, `${path}/.gitignore`, {
    maxBytes: MAX_IGNORE_BYTES,
  });
  return bytes ? [parseIgnoreFile(new TextDecoder().decode(bytes), prefix)] : [];
}

/** Start of a walk. */
interface WalkOrigin extends Pick<WalkLevel, "prefix" | "rules"> {
  readonly isIgnored: boolean;
}

/** Collects the rules that apply at the start: those that the root inherits, and those between root and start. */
async function findOrigin(
  files: SandboxFiles,
  start: string,
): Promise<WalkOrigin> {
  const relativeStart = files.toDisplayPath(start);
  if (relativeStart.startsWith("/")) return { prefix: "", rules: [], isIgnored: false };
  let rules: readonly IgnoreRules[] = await readParentIgnoreRules(files);
  let prefix = "";
  if (relativeStart === ".") return { prefix, rules, isIgnored: false };
  const root = start.slice(0, start.length - relativeStart.length - 1);
  for (const name of relativeStart.split("/")) {
    const path = `${root}/${prefix}`.replace(/\/$/, "");
    rules = [...rules, ...await readDirectoryRules(files, { path, prefix }, [GITIGNORE])];
    prefix += `${name}/`;
    // An ignored directory that the caller names is walked without rules.
    if (isIgnored(prefix.slice(0, -1), true, rules)) return { prefix, rules: [], isIgnored: true };
  }
  return { prefix, rules, isIgnored: false };
}

const GITIGNORE: DirectoryEntry = { name: ".gitignore", kind: "file" };
