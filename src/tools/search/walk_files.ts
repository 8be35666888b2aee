/**
 * A walk through a folder, sorted, that leaves out what git leaves out.
 *
 * @module
 */

import { AbortedError } from "../../core/errors.ts";
import { type IgnoreRules, isIgnored, parseIgnoreFile } from "../../core/ignore/git_ignore.ts";
import { readParentIgnoreRules, readWalkedFile } from "../sandbox/file_reading.ts";
import type { DirectoryEntry, SandboxFiles } from "../sandbox/sandbox_files.ts";

/** An entry that a walk meets. */
export interface WalkEntry {
  /** Canonical path. */
  readonly path: string;
  /** Path relative to the start of the walk, with `/`. */
  readonly relativePath: string;
  /** The bare name. */
  readonly name: string;
  /** What it is. */
  readonly kind: DirectoryEntry["kind"];
  /** How many folders it lies below the start. */
  readonly depth: number;
}

/** What {@linkcode walkFiles} is told. */
export interface WalkOptions {
  /** Cancels. */
  readonly signal: AbortSignal;
  /** Folders deeper than this are met but not entered. Default: no limit. */
  readonly maxDepth?: number;
  /** Folders for which it says no, by their canonical paths, are met but not entered. Default: all are entered. */
  readonly shouldEnter?: (folder: string) => boolean;
}

/** A folder in the middle of being walked. */
interface WalkLevel {
  /** Canonical path. */
  readonly path: string;
  /** Relative to the folder at which the rules start; empty, or with a `/` at its end. */
  readonly folder: string;
  readonly rules: readonly IgnoreRules[];
  readonly entries: Iterator<DirectoryEntry>;
}

const MAX_IGNORE_BYTES = 1_000_000;

/**
 * Meets every entry below a canonical folder: a folder first, then what is in it. Links are met, not followed.
 *
 * @throws {BadRequestError} When the folder cannot be read. One below it that cannot is passed over.
 */
export async function* walkFiles(
  files: SandboxFiles,
  start: string,
  options: WalkOptions,
): AsyncGenerator<WalkEntry> {
  const { signal, maxDepth = Infinity, shouldEnter: enters = () => true } = options;
  const origin = await findOrigin(files, start);
  const prefix = origin.folder.length;
  const levels = [await openLevel(files, { path: start, ...origin })];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    if (signal.aborted) throw new AbortedError("The walk was cancelled");
    const next = level.entries.next();
    if (next.done) {
      levels.pop();
      continue;
    }
    const { name, kind } = next.value;
    const fromOrigin = level.folder + name;
    if (name === ".git" || isIgnored(fromOrigin, kind === "directory", level.rules)) continue;
    const path = `${level.path}/${name}`;
    const depth = levels.length - 1;
    yield { path, relativePath: fromOrigin.slice(prefix), name, kind, depth };
    if (kind !== "directory" || depth >= maxDepth || !enters(path)) continue;
    const inside = { path, folder: `${fromOrigin}/`, rules: level.rules };
    const entered = await openLevel(files, inside).catch(() => undefined);
    if (entered) levels.push(entered);
  }
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
  { path, folder }: Pick<WalkLevel, "path" | "folder">,
  entries: readonly DirectoryEntry[],
): Promise<IgnoreRules[]> {
  if (!entries.some(({ name, kind }) => name === ".gitignore" && kind === "file")) return [];
  const bytes = await readWalkedFile(files, `${path}/.gitignore`, MAX_IGNORE_BYTES);
  return bytes ? [parseIgnoreFile(new TextDecoder().decode(bytes), folder)] : [];
}

/** Where the rules for a walk start: those from above the root, and of the folders from the root down to the start. */
async function findOrigin(
  files: SandboxFiles,
  start: string,
): Promise<Pick<WalkLevel, "folder" | "rules">> {
  const way = files.toDisplayPath(start);
  if (way.startsWith("/")) return { folder: "", rules: [] };
  let rules: readonly IgnoreRules[] = await readParentIgnoreRules(files);
  let folder = "";
  const root = way === "." ? start : start.slice(0, start.length - way.length - 1);
  for (const name of way === "." ? [] : way.split("/")) {
    const path = `${root}/${folder}`.replace(/\/$/, "");
    rules = [...rules, ...await readDirectoryRules(files, { path, folder }, [GITIGNORE])];
    folder += `${name}/`;
    // Whoever asks for a folder that git leaves out wants to see what is in it.
    if (isIgnored(folder.slice(0, -1), true, rules)) return { folder, rules: [] };
  }
  return { folder, rules };
}

const GITIGNORE: DirectoryEntry = { name: ".gitignore", kind: "file" };
