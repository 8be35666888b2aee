/**
 * What a folder was before a run, to tell afterwards what has changed, with git or without, and without touching it.
 *
 * @module
 */

import { join } from "node:path";
import { BadRequestError } from "../core/errors.ts";
import { ContentStore, type StoredContent } from "./content_store.ts";
import type { GitMode, PathChange, PathState } from "./path_change.ts";
import { findWorkTree, tryLstat, walkWorkTree, type WorkTree } from "./work_tree.ts";

/** Past these a folder is not a project any more, and keeping it would fill the disk. */
const MAX_FILES = 200_000;
const MAX_BYTES = 4_000_000_000;

/** A larger file is not kept; when it changes, the patch goes without it. */
const MAX_FILE_BYTES = 100_000_000;

/** What is kept of a path. */
interface SnapshotEntry {
  readonly mode: GitMode;
  /** Changes whenever the file does. */
  readonly fingerprint: string;
  /** The copy of a file, or the target of a link; nothing for a file that was too large. */
  readonly content: StoredContent | { readonly target: string } | undefined;
}

/** The files of a folder as they were at one moment. Dispose of it to remove the copies. */
export class DirectorySnapshot implements Disposable {
  readonly #tree: WorkTree;
  readonly #store = new ContentStore();
  readonly #entries = new Map<string, SnapshotEntry>();
  readonly #ignored = new Set<string>();
  readonly #tooLarge: string[] = [];
  #bytes = 0;

  private constructor(folder: string) {
    this.#tree = findWorkTree(Deno.realPathSync(folder));
  }

  /**
   * Copies what is in a folder, ignored files aside.
   *
   * @throws {BadRequestError} When there is too much of it.
   */
  static async create(folder: string, signal: AbortSignal): Promise<DirectorySnapshot> {
    const snapshot = new DirectorySnapshot(folder);
    try {
      await snapshot.#captureAll(signal);
      return snapshot;
    } catch (error) {
      snapshot[Symbol.dispose]();
      throw error;
    }
  }

  /** Changed files that were too large to be kept. */
  get tooLarge(): readonly string[] {
    return this.#tooLarge;
  }

  /** What has changed since, by path. */
  async *changes(): AsyncGenerator<PathChange> {
    const found = new Map<string, Deno.FileInfo>();
    const options = { signal: new AbortController().signal, onIgnored: () => {} };
    for await (const { path, stat } of walkWorkTree(this.#tree, options)) {
      if (!this.#isStoreFile(path)) found.set(path, stat);
    }
    const paths = [...new Set([...this.#entries.keys(), ...found.keys()])].sort();
    for (const path of paths) {
      // A file that is ignored by now is still there.
      const stat = found.get(path) ?? tryLstat(join(this.#tree.root, path));
      const change = this.#getChange(path, stat);
      if (change) yield change;
    }
  }

  async #captureAll(signal: AbortSignal): Promise<void> {
    const onIgnored = (path: string): void => void this.#ignored.add(path);
    for await (const { path, stat } of walkWorkTree(this.#tree, { signal, onIgnored })) {
      if (this.#isStoreFile(path)) continue;
      if (stat.size <= MAX_FILE_BYTES) this.#bytes += stat.size;
      if (this.#entries.size >= MAX_FILES || this.#bytes > MAX_BYTES) {
        throw createLimitError(this.#tree.root);
      }
      const kept = this.#capture(path, stat);
      if (kept) this.#entries.set(path, kept);
      // What cannot be read cannot be in a patch, later neither.
      else this.#ignored.add(path);
    }
  }

  /** Keeps what is at a path; `undefined` when it cannot be read. */
  #capture(path: string, stat: Deno.FileInfo): SnapshotEntry | undefined {
    const source = join(this.#tree.root, path);
    const facts = { mode: getGitMode(stat), fingerprint: getFingerprint(stat) };
    if (stat.isSymlink) {
      const target = readLinkTarget(source);
      return target === undefined ? undefined : { ...facts, content: { target } };
    }
    if (stat.size > MAX_FILE_BYTES) return { ...facts, content: undefined };
    const content = this.#store.add(source, stat.size);
    return content && { ...facts, content };
  }

  #getChange(path: string, stat: Deno.FileInfo | undefined): PathChange | undefined {
    const kept = this.#entries.get(path);
    if (!kept) return this.#wasIgnored(path) || !stat ? undefined : this.#getAddition(path, stat);
    if (stat && getFingerprint(stat) === kept.fingerprint) return undefined;
    if (!kept.content) {
      this.#tooLarge.push(path);
      return undefined;
    }
    const after = stat && this.#readState(path, stat);
    // There is something that cannot be in a patch.
    if (stat && !stat.isDirectory && !after) return undefined;
    return { path, before: this.#readSavedState(kept), after: after ?? null };
  }

  #getAddition(path: string, stat: Deno.FileInfo): PathChange | undefined {
    const after = this.#readState(path, stat);
    return after && { path, before: null, after };
  }

  #readState(path: string, stat: Deno.FileInfo): PathState | undefined {
    const file = join(this.#tree.root, path);
    if (stat.size > MAX_FILE_BYTES) {
      this.#tooLarge.push(path);
      return undefined;
    }
    const content = stat.isSymlink
      ? readEncodedTarget(file)
      : stat.isFile
      ? readContent(file)
      : undefined;
    return content && { mode: getGitMode(stat), content };
  }

  #readSavedState({ mode, content }: SnapshotEntry): PathState | null {
    if (!content) return null;
    if ("target" in content) return { mode, content: encodeText(content.target) };
    return { mode, content: this.#store.read(content) };
  }

  #wasIgnored(path: string): boolean {
    for (let at = path; at !== ""; at = at.slice(0, Math.max(at.lastIndexOf("/"), 0))) {
      if (this.#ignored.has(at)) return true;
    }
    return false;
  }

  /** The copies may lie inside of the folder, when that is where temporary files are. */
  #isStoreFile(path: string): boolean {
    return join(this.#tree.root, path).startsWith(this.#store.directory);
  }

  /** Removes the copies. */
  [Symbol.dispose](): void {
    this.#store[Symbol.dispose]();
  }
}

function getGitMode({ isSymlink, mode }: Deno.FileInfo): GitMode {
  if (isSymlink) return "120000";
  return ((mode ?? 0) & 0o100) !== 0 ? "100755" : "100644";
}

function getFingerprint({ size, mtime, ctime, ino, mode }: Deno.FileInfo): string {
  return [size, mtime?.getTime(), ctime?.getTime(), ino, mode].join(" ");
}

function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function readEncodedTarget(link: string): Uint8Array | undefined {
  const target = readLinkTarget(link);
  return target === undefined ? undefined : encodeText(target);
}

function readLinkTarget(link: string): string | undefined {
  try {
    return Deno.readLinkSync(link);
  } catch {
    return undefined;
  }
}

function readContent(file: string): Uint8Array | undefined {
  try {
    return Deno.readFileSync(file);
  } catch {
    return undefined;
  }
}

function createLimitError(root: string): BadRequestError {
  return new BadRequestError(`${root} holds too much to make a patch of what changes in it`);
}
