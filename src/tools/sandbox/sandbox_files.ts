/**
 * The files that tools see: every path is resolved and judged at the moment it is used.
 *
 * Between the judgement and the use a running command could swap a folder for a link. Therefore what was opened is
 * compared with what was judged before a byte of it is handed out, and writes go through a folder that is held open.
 *
 * @module
 */

import type { FileHandle } from "node:fs/promises";
import { BadRequestError } from "../../core/errors.ts";
import { resolveCanonicalPath } from "../files/canonical_path.ts";
import { getSystemErrorCode, quotePath, toFileError } from "../files/file_error.ts";
import type { FileAccess, FileRules } from "../files/file_rules.ts";
import type { IgnoreRules } from "../../core/ignore/git_ignore.ts";
import { readParentIgnoreRules } from "../files/parent_ignore_rules.ts";
import { formatNumber } from "../text/output_limit.ts";
import {
  assertRegularFile,
  type EntryKind,
  getEntryKind,
  statIfExists,
} from "../files/file_stat.ts";
import { getDescriptorPath, openDirectoryHandle } from "../files/directory_handle.ts";
import { NodeOpenedFile, type OpenedFile, readAllBytes } from "../files/opened_file.ts";
import { loadNodeFs, type NodeFs } from "../files/node_fs.ts";
import { dirname, getRelativePath, isAbsolute, SEPARATOR } from "../files/paths.ts";
import { tryReadFileSync } from "../files/read_file_sync.ts";

/** One name in a folder. */
export interface DirectoryEntry {
  /** The name. */
  readonly name: string;
  /** What it is. */
  readonly kind: EntryKind;
}

/** The file system as the tools see it. Paths are absolute or relative to the root. */
export interface SandboxFiles {
  /** Where a path really leads. @throws {BadRequestError} When it may not be used. */
  resolve(path: string, access: FileAccess): Promise<string>;
  /** A canonical path as a person would write it: relative to the root where it lies below. */
  toDisplayPath(path: string): string;
  /** Opens a regular file. @throws {BadRequestError} With words, when that is not possible. */
  open(path: string): Promise<OpenedFile>;
  /** Reads a whole file; `undefined` when there is none. @throws {BadRequestError} When it is too large. */
  readIfExists(
    path: string,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array | undefined>;
  /** Writes a whole file, at once or not at all; makes folders, keeps the mode of a file that was there. */
  write(path: string, bytes: Uint8Array, options?: { readonly mode?: number }): Promise<void>;
  /** Removes a file; fine when it is gone. */
  remove(path: string): Promise<void>;
  /** The names in a folder, sorted; protected ones are left out. */
  readDirectory(path: string): Promise<DirectoryEntry[]>;
  /**
   * Reads a file that {@linkcode SandboxFiles.readDirectory} met, quickly and unverified; `undefined` when it is too
   * large, gone or no regular file any more. A folder on the way may have been swapped for a link meanwhile: what is
   * to be shown must be read again.
   */
  readWalked(
    path: string,
    maxBytes: number,
  ): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** What git's rules from above the root leave out. */
  readParentIgnoreRules(): Promise<readonly IgnoreRules[]>;
  /** What a path is; `undefined` when there is nothing. */
  getKind(path: string): Promise<EntryKind | undefined>;
}

/** Up to here a file is read and written in one go. */
const MAX_SYNC_BYTES = 64 * 1024;

/** The machine's own file system behind the rules. */
export class ConfinedFiles implements SandboxFiles {
  readonly #root: string;
  readonly #rules: FileRules;
  #nodeFs: NodeFs | undefined;

  /** Makes the view of a canonical root folder. */
  constructor(root: string, rules: FileRules) {
    this.#root = root;
    this.#rules = rules;
  }

  /** Resolves and judges a path. */
  async resolve(path: string, access: FileAccess): Promise<string> {
    if (path === "") throw new BadRequestError("The path is empty: name a file or a folder");
    if (path.includes("\0")) {
      throw new BadRequestError(`${quotePath(path)} contains a NUL character, which no path can`);
    }
    const canonical = await resolveCanonicalPath(path, this.#root).catch((error) => {
      throw toFileError(this.#formatPath(path), error);
    });
    this.#checkAccess(canonical, access, path);
    return canonical;
  }

  #checkAccess(canonical: string, access: FileAccess, asked: string): void {
    const verdict = this.#rules(canonical, access);
    if (verdict === "allowed") return;
    const leads = canonical.endsWith(asked) ? "" : ` (it leads to ${quotePath(canonical)})`;
    const why = verdict === "outside"
      ? `is outside of ${quotePath(this.#root)}, where files may be ${
        access === "read" ? "read" : "written"
      }`
      : `is protected: ${
        access === "read"
          ? "files that usually hold secrets are not read"
          : "secrets and git's hooks and settings are not written"
      } by tools`;
    throw new BadRequestError(`${quotePath(asked)}${leads} ${why}`);
  }

  /** Shows a path relative to the root where it lies below it. */
  toDisplayPath(path: string): string {
    const way = getRelativePath(this.#root, path);
    if (way === "") return ".";
    return way === undefined ? path : way.replaceAll(SEPARATOR, "/");
  }

  /** A path as it stands in a message. */
  #formatPath(path: string): string {
    return isAbsolute(path) ? this.toDisplayPath(path) : path;
  }

  /** Opens a regular file for reading. */
  async open(path: string): Promise<OpenedFile> {
    const file = await this.#openIfExists(path);
    if (file) return file;
    throw new BadRequestError(`${quotePath(this.#formatPath(path))} does not exist`);
  }

  async #openIfExists(path: string): Promise<OpenedFile | undefined> {
    const canonical = await this.resolve(path, "read");
    let handle: FileHandle | undefined;
    try {
      const found = await statIfExists(canonical);
      if (!found) return undefined;
      assertRegularFile(found, this.#formatPath(path));
      const { open, sync: { constants } } = await loadNodeFs();
      // Not to block on a pipe that took the file's place, nor to follow a link that did.
      handle = await open(
        canonical,
        constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      );
      const { size, ino, dev } = await handle.stat();
      await this.#verifyUnchanged(canonical, { fd: handle.fd, ino, dev }, path);
      return new NodeOpenedFile(canonical, size, handle);
    } catch (error) {
      await handle?.close();
      throw toFileError(this.#formatPath(path), error);
    }
  }

  /** What was opened must be what the judged path names: a folder on the way may have been swapped for a link. */
  async #verifyUnchanged(canonical: string, opened: FileIdentity, asked: string): Promise<void> {
    if (getDescriptorPath(opened.fd) === canonical) return;
    const again = await resolveCanonicalPath(canonical, this.#root);
    const { ino, dev } = await Deno.lstat(canonical);
    if (again === canonical && ino === opened.ino && dev === opened.dev) return;
    throw new BadRequestError(`${quotePath(asked)} changed while it was opened: try again`);
  }

  /** Reads a whole file of limited size. */
  async readIfExists(
    path: string,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array | undefined> {
    const { maxBytes, signal } = options;
    const small = await this.#readSmallFile(path, maxBytes);
    if (small) return small;
    await using file = await this.#openIfExists(path);
    if (!file) return undefined;
    const bytes = await readAllBytes(file, { maxBytes, ...(signal && { signal }) });
    if (bytes) return bytes;
    throw new BadRequestError(
      `${quotePath(this.#formatPath(path))} is larger than ${
        formatNumber(maxBytes)
      } bytes: use a command instead`,
    );
  }

  /** A small file is read before a thread would have been asked; whatever is unusual goes the long way. */
  async #readSmallFile(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const canonical = await this.resolve(path, "read");
    const found = await statIfExists(canonical).catch(() => undefined);
    if (!found?.isFile || found.size > Math.min(MAX_SYNC_BYTES, maxBytes)) return undefined;
    return tryReadFileSync(await loadNodeFs(), canonical, {
      maxBytes: MAX_SYNC_BYTES,
      verifyPath: true,
    });
  }

  /** Writes a file through a temporary one beside it. */
  async write(
    path: string,
    bytes: Uint8Array,
    options: { readonly mode?: number } = {},
  ): Promise<void> {
    const canonical = await this.resolve(path, "write");
    try {
      const there = await statIfExists(canonical);
      if (there) assertRegularFile(there, this.#formatPath(path));
      await using folder = await openDirectoryHandle(dirname(canonical), { create: true });
      const mode = there?.mode ?? options.mode;
      await folder.replaceFile(getFileName(canonical), {
        bytes,
        ...(mode !== null && mode !== undefined && { mode: mode & 0o7777 }),
        ...(there && { owner: { uid: there.uid, gid: there.gid } }),
      });
    } catch (error) {
      throw toFileError(this.#formatPath(path), error);
    }
  }

  /** Removes a file. */
  async remove(path: string): Promise<void> {
    const canonical = await this.resolve(path, "write");
    try {
      const there = await statIfExists(canonical);
      if (!there) return;
      assertRegularFile(there, this.#formatPath(path));
      await using folder = await openDirectoryHandle(dirname(canonical), { create: false });
      await folder.removeFile(getFileName(canonical));
    } catch (error) {
      if (getSystemErrorCode(error) !== "ENOENT") throw toFileError(this.#formatPath(path), error);
    }
  }

  /** Lists a folder. */
  async readDirectory(path: string): Promise<DirectoryEntry[]> {
    const canonical = await this.resolve(path, "read");
    try {
      await using folder = await openDirectoryHandle(canonical, { create: false });
      const isAllowed = ({ name }: Deno.DirEntry) =>
        this.#rules(`${canonical}${SEPARATOR}${name}`, "read") === "allowed";
      return (await folder.entries()).filter(isAllowed)
        .map((entry) => ({ name: entry.name, kind: getEntryKind(entry) }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      throw toFileError(this.#formatPath(path), error);
    }
  }

  /** Reads a file that a walk met. */
  readWalked(
    path: string,
    maxBytes: number,
  ): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const options = { maxBytes, verifyPath: false };
    if (this.#nodeFs) return tryReadFileSync(this.#nodeFs, path, options);
    return loadNodeFs().then((loaded) => tryReadFileSync(this.#nodeFs = loaded, path, options));
  }

  /** Reads git's rules from above the root. */
  readParentIgnoreRules(): Promise<readonly IgnoreRules[]> {
    return readParentIgnoreRules(this.#root);
  }

  /** Tells what a path is. */
  async getKind(path: string): Promise<EntryKind | undefined> {
    const canonical = await this.resolve(path, "read");
    try {
      const found = await statIfExists(canonical);
      return found && getEntryKind(found);
    } catch (error) {
      throw toFileError(this.#formatPath(path), error);
    }
  }
}

interface FileIdentity {
  readonly fd: number;
  readonly ino: number;
  readonly dev: number;
}

/** The last part of a canonical path. */
function getFileName(canonical: string): string {
  return canonical.slice(canonical.lastIndexOf(SEPARATOR) + 1);
}
