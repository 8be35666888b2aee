/**
 * Copies of the files of a directory, to create a patch of later changes.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { AgentError, BadRequestError, getErrorMessage } from "../core/errors/errors.ts";
import type { FileStatus } from "../platform/file_calls.ts";
import { basename, dirname, getRelativePath, join, SEPARATOR } from "../platform/paths.ts";
import { compileSecretGlobs, PROTECTED_FILES } from "../platform/secret_places.ts";
import { system } from "../platform/system.ts";
import { isSameContent } from "./bytes.ts";
import { ContentStore, type StoredContent } from "./content_store.ts";
import { readTrackedPaths } from "./git_index.ts";
import { formatGitPatch, type GitPatchOptions } from "./git_patch.ts";
import type { GitMode, PathChange, PathState } from "./path_change.ts";
import { MAX_CONTENT_BYTES, readTreeFile } from "./read_tree_file.ts";
import {
  findWorkTree,
  toFilePath,
  tryLstatInTree,
  walkWorkTree,
  type WorkTree,
} from "./work_tree.ts";

const MAX_FILES = 200_000;
const MAX_BYTES = 4_000_000_000;

/** The longest step in which file systems store times, in milliseconds. */
const TIME_STEP_MS = 2_000;

const isSecret = compileSecretGlobs(PROTECTED_FILES);

/** Options for {@linkcode DirectorySnapshot.take}. */
export interface DirectorySnapshotOptions {
  /** Cancels the snapshot: `take()` rejects with an `AbortedError`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Absolute paths of files and directories that no patch contains, such as the logs of the program itself; they need not
   * exist. Default: none.
   */
  readonly excludedPaths?: readonly string[] | undefined;
}

const OPTION_NAMES: Readonly<Record<keyof DirectorySnapshotOptions, true>> = {
  signal: true,
  excludedPaths: true,
};

/** Options for {@linkcode DirectorySnapshot.createPatch}. */
export interface DirectoryPatchOptions extends GitPatchOptions {}

/** Result of {@linkcode DirectorySnapshot.createPatch}. */
export interface DirectoryPatch {
  /** The patch for `git apply`; empty when nothing changed. Paths are relative to the repository, else to the directory. */
  readonly bytes: Uint8Array;
  /**
   * Paths of changed files that the patch omits: larger than 100 MB, or with a name that usually holds secrets. Also of all
   * files and directories whose names are not UTF-8, changed or not.
   */
  readonly omittedFiles: readonly string[];
}

/** Saved state of a path. */
interface SnapshotEntry {
  readonly mode: GitMode;
  /** Status of the file, which changes when the file does. */
  readonly fingerprint: string;
  /** Whether the file changed just before the snapshot, so that another change may leave its fingerprint equal. */
  readonly isRecent: boolean;
  /** Copy of a file, or target of a link as UTF-8; `undefined` for a file that is too large or holds secrets. */
  readonly content: StoredContent | { readonly target: Uint8Array } | undefined;
}

/** The files of a directory at one moment. Disposing it removes the copies. */
export class DirectorySnapshot implements Disposable {
  readonly #tree: WorkTree;
  readonly #store = new ContentStore();
  readonly #entries = new Map<string, SnapshotEntry>();
  readonly #ignored = new Set<string>();
  /** Tracked files that did not exist. */
  readonly #missing = new Set<string>();
  /** Paths of the files and directories that no patch contains. */
  readonly #excluded: ReadonlySet<string>;
  #bytes = 0;

  private constructor(tree: WorkTree, { excludedPaths = [] }: DirectorySnapshotOptions) {
    this.#tree = tree;
    this.#excluded = new Set(excludedPaths.map((path) => toTreePath(tree, path)));
  }

  /**
   * Copies the files of a directory to a temporary file. Skips untracked files that git ignores, and outside of a
   * repository `node_modules` and caches.
   *
   * @throws {BadRequestError} When the path is not a directory, holds more than 200,000 files or 4 GB, or the copies
   * cannot be written.
   * @throws {AbortedError} When `options.signal` is aborted.
   */
  static async take(
    directory: string,
    options: DirectorySnapshotOptions = {},
  ): Promise<DirectorySnapshot> {
    checkNames(options, Object.keys(OPTION_NAMES), "DirectorySnapshot.take()");
    try {
      if (!system.statSync(directory).isDirectory) throw new Error("not a directory");
      const tree = await findWorkTree(system.realPathSync(directory));
      return await DirectorySnapshot.#take(tree, options);
    } catch (error) {
      throw toSnapshotError(`Cannot take a snapshot of ${JSON.stringify(directory)}`, error);
    }
  }

  static async #take(
    tree: WorkTree,
    options: DirectorySnapshotOptions,
  ): Promise<DirectorySnapshot> {
    const snapshot = new DirectorySnapshot(tree, options);
    try {
      await snapshot.#captureAll(options.signal);
      return snapshot;
    } catch (error) {
      snapshot[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Creates a patch of all changes since the snapshot.
   *
   * @throws {BadRequestError} When the copies or the changed files cannot be read.
   */
  async createPatch(options: DirectoryPatchOptions = {}): Promise<DirectoryPatch> {
    const omittedFiles: string[] = [];
    const parts: BlobPart[] = [];
    try {
      for await (const change of this.#getChanges(omittedFiles)) {
        parts.push(await formatGitPatch(change, options) as Uint8Array<ArrayBuffer>);
      }
    } catch (error) {
      throw toSnapshotError(`Cannot create a patch of ${JSON.stringify(this.#tree.root)}`, error);
    }
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
    return { bytes, omittedFiles };
  }

  /** Yields the changes in the order of their paths; adds files that are too large to `omittedFiles`. */
  async *#getChanges(omittedFiles: string[]): AsyncGenerator<PathChange> {
    const currentStats = new Map<string, FileStatus>();
    const onInexact = (path: string): void => void omittedFiles.push(path);
    for await (const { path, stat } of walkWorkTree(this.#tree, { onInexact })) {
      currentStats.set(path, stat);
    }
    const known = [...this.#entries.keys(), ...currentStats.keys(), ...this.#missing];
    const paths = [...new Set(known)].filter((path) => !this.#isOmitted(path)).sort();
    for (const path of paths) {
      // A file that is ignored now may still exist.
      const stat = currentStats.get(path) ?? tryLstatInTree(this.#tree.root, path);
      const change = await this.#getChange(path, stat, omittedFiles);
      if (change) yield change;
    }
  }

  async #captureAll(signal: AbortSignal | undefined): Promise<void> {
    const onIgnored = (path: string): void => void this.#ignored.add(path);
    for await (const { path, stat } of walkWorkTree(this.#tree, { signal, onIgnored })) {
      await this.#add(path, stat, signal);
    }
    await this.#captureTracked(signal);
  }

  /** Captures the tracked files that match an ignore rule, which git does not ignore. */
  async #captureTracked(signal: AbortSignal | undefined): Promise<void> {
    const { root, start } = this.#tree;
    for (const path of await readTrackedPaths(root)) {
      if (!path.startsWith(start) || this.#entries.has(path)) continue;
      const stat = tryLstatInTree(root, path);
      if (!stat) this.#missing.add(path);
      else if ((stat.isFile || stat.isSymlink) && this.#wasIgnored(path)) {
        await this.#add(path, stat, signal);
      }
    }
  }

  async #add(path: string, stat: FileStatus, signal: AbortSignal | undefined): Promise<void> {
    if (this.#isOmitted(path)) return;
    if (stat.size <= MAX_CONTENT_BYTES) this.#bytes += stat.size;
    if (this.#entries.size >= MAX_FILES || this.#bytes > MAX_BYTES) {
      throw new Error(
        "it holds more than 200,000 files or 4 GB; list directories to skip in .gitignore",
      );
    }
    const entry = await this.#capture(path, stat, signal);
    if (entry) this.#entries.set(path, entry);
    // An unreadable file is never part of a patch, even if it becomes readable.
    else this.#ignored.add(path);
  }

  /** Saves a path; returns `undefined` if it cannot be read. */
  async #capture(
    path: string,
    stat: FileStatus,
    signal: AbortSignal | undefined,
  ): Promise<SnapshotEntry | undefined> {
    const source = toFilePath(this.#tree.root, path);
    const state = {
      mode: getGitMode(stat),
      fingerprint: getFingerprint(stat),
      isRecent: Date.now() - getChangeTime(stat) < TIME_STEP_MS,
    };
    if (stat.isSymlink) {
      const target = readLinkTarget(source);
      return target && { ...state, content: { target } };
    }
    if (stat.size > MAX_CONTENT_BYTES || isSecret(path)) return { ...state, content: undefined };
    const content = await this.#store.add(source, signal);
    return content && { ...state, content };
  }

  async #getChange(
    path: string,
    stat: FileStatus | undefined,
    omittedFiles: string[],
  ): Promise<PathChange | undefined> {
    const entry = this.#entries.get(path);
    if (!entry) {
      if (!stat || (this.#wasIgnored(path) && !this.#missing.has(path))) return undefined;
      const after = await this.#readState(path, stat, omittedFiles);
      return after ? { path, before: null, after } : undefined;
    }
    const hasSameFingerprint = stat && getFingerprint(stat) === entry.fingerprint;
    if (hasSameFingerprint && !(entry.isRecent && entry.content)) return undefined;
    if (!entry.content) {
      omittedFiles.push(path);
      return undefined;
    }
    const after = stat && await this.#readState(path, stat, omittedFiles);
    // The path exists but cannot be part of a patch.
    if (stat && !stat.isDirectory && !after) return undefined;
    const before = this.#readSavedState(entry);
    if (before && after && isSameState(before, after)) return undefined;
    return { path, before, after: after ?? null };
  }

  async #readState(
    path: string,
    stat: FileStatus,
    omittedFiles: string[],
  ): Promise<PathState | undefined> {
    const file = toFilePath(this.#tree.root, path);
    if (stat.size > MAX_CONTENT_BYTES || isSecret(path)) {
      omittedFiles.push(path);
      return undefined;
    }
    const content = stat.isSymlink
      ? readLinkTarget(file)
      : stat.isFile
      ? await readTreeFile(file)
      : undefined;
    return content && { mode: getGitMode(stat), content };
  }

  #readSavedState({ mode, content }: SnapshotEntry): PathState | null {
    if (!content) return null;
    if ("target" in content) return { mode, content: content.target };
    return { mode, content: this.#store.read(content) };
  }

  /** Whether a path was ignored when the snapshot was taken. */
  #wasIgnored(path: string): boolean {
    return containsPath(this.#ignored, path);
  }

  /** Whether a path is excluded, or belongs to the copies: the directory may contain the directory of temporary files. */
  #isOmitted(path: string): boolean {
    return containsPath(this.#excluded, path) ||
      toFilePath(this.#tree.root, path).startsWith(this.#store.directory);
  }

  /** Removes the copies. */
  [Symbol.dispose](): void {
    this.#store[Symbol.dispose]();
  }
}

/** Whether one of some paths is a path, or a directory that contains it. */
function containsPath(paths: ReadonlySet<string>, path: string): boolean {
  for (
    let prefix = path;
    prefix !== "";
    prefix = prefix.slice(0, Math.max(prefix.lastIndexOf("/"), 0))
  ) {
    if (paths.has(prefix)) return true;
  }
  return false;
}

/** Returns a path in a tree, whose directories may be links; one elsewhere stays as it is. */
function toTreePath({ root }: WorkTree, path: string): string {
  const target = join(resolveLinks(dirname(path)), basename(path));
  return getRelativePath(root, target)?.replaceAll(SEPARATOR, "/") ?? path;
}

/** Returns a directory without links, as far as it exists. */
function resolveLinks(directory: string): string {
  try {
    return system.realPathSync(directory);
  } catch {
    const parent = dirname(directory);
    return parent === directory ? directory : join(resolveLinks(parent), basename(directory));
  }
}

function getGitMode({ isSymlink, mode }: FileStatus): GitMode {
  if (isSymlink) return "120000";
  return ((mode ?? 0) & 0o100) !== 0 ? "100755" : "100644";
}

/** Returns the time of the last change, in milliseconds since the epoch. */
function getChangeTime({ mtime, ctime }: FileStatus): number {
  return Math.max(mtime?.getTime() ?? 0, ctime?.getTime() ?? 0);
}

function isSameState(before: PathState, after: PathState): boolean {
  return before.mode === after.mode && isSameContent(before.content, after.content);
}

function getFingerprint({ size, mtime, ctime, ino, mode }: FileStatus): string {
  return [size, mtime?.getTime(), ctime?.getTime(), ino, mode].join(" ");
}

function readLinkTarget(link: string): Uint8Array | undefined {
  try {
    return new TextEncoder().encode(system.readLinkSync(link));
  } catch {
    return undefined;
  }
}

function toSnapshotError(message: string, error: unknown): AgentError {
  if (AgentError.is(error)) return error;
  return new BadRequestError(`${message}: ${getErrorMessage(error)}`, { cause: error });
}
