/**
 * The local file system restricted to the roots of a sandbox: every path is resolved and checked on each use.
 *
 * A running command could replace a directory by a link between the check and the use. Therefore an opened file is
 * compared with the checked path before it is read, and writes go through an open directory handle.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { IgnoreRules } from "../../core/ignore/git_ignore.ts";
import { formatNumber } from "../../core/text/output_limit.ts";
import type { NamedEntry } from "../../platform/file_calls.ts";
import { type OpenedFile, readAllBytes } from "../../platform/opened_file.ts";
import {
  basename,
  dirname,
  getRelativePath,
  isAbsolute,
  isExactPath,
  join,
  SEPARATOR,
} from "../../platform/paths.ts";
import { MAX_SMALL_FILE_BYTES, readSmallFile } from "../../platform/small_file.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import { openUntrustedFile } from "../../platform/untrusted_file.ts";
import { resolveCanonicalPath } from "../files/canonical_path.ts";
import { openDirectoryHandle } from "../files/directory_handle.ts";
import { quotePath, toFileError } from "../files/file_error.ts";
import type { FileAccess, FileRules } from "../files/file_rules.ts";
import {
  assertRegularFile,
  type EntryKind,
  getEntryKind,
  statIfExists,
} from "../files/file_stat.ts";
import { readParentIgnoreRules } from "../files/parent_ignore_rules.ts";
import type { DirectoryEntry, SandboxFiles } from "./sandbox_files.ts";

/** Options for {@linkcode ConfinedFiles.readWalked}. */
export interface WalkedReadOptions {
  /** Maximum size of the file in bytes. */
  readonly maxBytes: number;
  /** Memory for the content, which is then valid until the next read into it. Default: new memory. */
  readonly buffer?: Uint8Array | undefined;
}

/** The local file system behind access rules. */
export class ConfinedFiles implements SandboxFiles {
  readonly #root: string;
  readonly #rules: FileRules;

  constructor(root: string, rules: FileRules) {
    this.#root = root;
    this.#rules = rules;
  }

  /** Resolves a path and checks the access to it. */
  async resolve(path: string, access: FileAccess): Promise<string> {
    if (path === "") throw new BadRequestError("The path is empty: name a file or a directory");
    if (path.includes("\0")) {
      throw new BadRequestError(
        `${quotePath(path)} contains a NUL character, which is not allowed`,
      );
    }
    if (!isExactPath(path)) {
      throw new BadRequestError(
        `${
          quotePath(path)
        } contains U+FFFD, which replaces bytes that are not UTF-8: use a command for files with such names`,
      );
    }
    await this.#refuseHomePath(path);
    const canonical = await resolveCanonicalPath(path, this.#root).catch((error) => {
      throw toFileError(this.#formatPath(path), error);
    });
    this.#checkAccess(canonical, access, path);
    return canonical;
  }

  /** Refuses a path for a shell, which would create a directory `~` that `rm -r ~` does not mean. */
  async #refuseHomePath(path: string): Promise<void> {
    if (!/^~(?:[/\\]|$)/.test(path) || await statIfExists(join(this.#root, "~"))) return;
    throw new BadRequestError(
      `${quotePath(path)} begins with ~, which is not expanded: write the path in full`,
    );
  }

  #checkAccess(canonical: string, access: FileAccess, requested: string): void {
    const named = isAbsolute(requested) ? join(requested) : join(this.#root, requested);
    // A link with a protected name is not read either, whatever its file is called.
    const isProtected = named !== canonical && this.#rules(named, "read") === "protected";
    const verdict = isProtected ? "protected" : this.#rules(canonical, access);
    if (verdict === "allowed") return;
    const target = canonical.endsWith(requested) ? "" : ` (it resolves to ${quotePath(canonical)})`;
    const action = access === "read" ? "read" : "written";
    const reason = verdict === "outside"
      ? `is outside ${quotePath(this.#root)} and the other directories that may be ${action}`
      : `is protected: tools do not ${
        access === "read"
          ? "read files that usually hold secrets"
          : "write files with secrets, nor the hooks and settings of git"
      }`;
    throw new BadRequestError(`${quotePath(requested)}${target} ${reason}`);
  }

  /** Formats a path for display: relative to the root if it is below it. */
  toDisplayPath(path: string): string {
    const relativePath = getRelativePath(this.#root, path);
    if (relativePath === "") return ".";
    return relativePath === undefined ? path : relativePath.replaceAll(SEPARATOR, "/");
  }

  /** Formats a requested path for a message. */
  #formatPath(path: string): string {
    return isAbsolute(path) ? this.toDisplayPath(path) : path;
  }

  /** Opens a regular file for reading. @throws {BadRequestError} When that is not possible. */
  async open(path: string): Promise<OpenedFile> {
    const file = await this.#openIfExists(path);
    if (file) return file;
    throw new BadRequestError(`${quotePath(this.#formatPath(path))} does not exist`);
  }

  async #openIfExists(path: string): Promise<OpenedFile | undefined> {
    const canonical = await this.resolve(path, "read");
    try {
      const info = await statIfExists(canonical);
      if (!info) return undefined;
      assertRegularFile(info, this.#formatPath(path));
      const file = await openUntrustedFile(canonical);
      if (file) return file;
      throw new BadRequestError(`${quotePath(path)} changed while it was opened: try again`);
    } catch (error) {
      throw toFileError(this.#formatPath(path), error);
    }
  }

  /** Reads a file of limited size; `undefined` when it does not exist. A small file is read into `buffer` if it fits. */
  async readIfExists(
    path: string,
    options: WalkedReadOptions & { readonly signal?: AbortSignal },
  ): Promise<Uint8Array | undefined> {
    const { maxBytes, signal } = options;
    const small = await this.#readSmallFile(path, options);
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

  /** Reads a small regular file synchronously, which saves a worker thread; `undefined` in all other cases. */
  async #readSmallFile(
    path: string,
    { maxBytes, buffer }: WalkedReadOptions,
  ): Promise<Uint8Array | undefined> {
    const canonical = await this.resolve(path, "read");
    const info = await statIfExists(canonical).catch(() => undefined);
    if (!info?.isFile || info.size > Math.min(MAX_SMALL_FILE_BYTES, maxBytes)) return undefined;
    return readSmallFile(canonical, { maxBytes, verifyPath: true, buffer });
  }

  /** Writes a file through a temporary one in the same directory. */
  async write(
    path: string,
    bytes: Uint8Array,
    options: { readonly mode?: number } = {},
  ): Promise<void> {
    const canonical = await this.resolve(path, "write");
    try {
      const existing = await statIfExists(canonical);
      if (existing) assertRegularFile(existing, this.#formatPath(path));
      await using directory = await openDirectoryHandle(dirname(canonical), { create: true });
      const mode = existing?.mode ?? options.mode;
      await directory.replaceFile(basename(canonical), {
        bytes,
        ...(mode !== null && mode !== undefined && { mode: mode & 0o7777 }),
        ...(existing && { owner: { uid: existing.uid, gid: existing.gid } }),
      });
    } catch (error) {
      throw toFileError(this.#formatPath(path), error);
    }
  }

  /** Removes a file; does nothing when it does not exist. */
  async remove(path: string): Promise<void> {
    const canonical = await this.resolve(path, "write");
    try {
      const existing = await statIfExists(canonical);
      if (!existing) return;
      assertRegularFile(existing, this.#formatPath(path));
      await using directory = await openDirectoryHandle(dirname(canonical), { create: false });
      await directory.removeFile(basename(canonical));
    } catch (error) {
      if (getSystemErrorCode(error) !== "ENOENT") throw toFileError(this.#formatPath(path), error);
    }
  }

  /** Removes an empty directory. */
  async removeDirectory(path: string): Promise<boolean> {
    const canonical = await this.resolve(path, "write");
    const info = await statIfExists(canonical);
    if (!info?.isDirectory || canonical === this.#root) return false;
    try {
      await using parent = await openDirectoryHandle(dirname(canonical), { create: false });
      await parent.removeFile(basename(canonical));
      return true;
    } catch {
      return false;
    }
  }

  /** Lists a directory without protected entries. */
  async readDirectory(path: string): Promise<DirectoryEntry[]> {
    const canonical = await this.resolve(path, "read");
    try {
      await using directory = await openDirectoryHandle(canonical, { create: false });
      const isAllowed = ({ name }: NamedEntry) =>
        this.#rules(`${canonical}${SEPARATOR}${name}`, "read") === "allowed";
      return (await directory.entries()).filter(isAllowed)
        .map((entry) => ({ name: entry.name, kind: getEntryKind(entry) }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      throw toFileError(this.#formatPath(path), error);
    }
  }

  /**
   * Reads a file from a directory listing, without a check of its path; `undefined` when it is too large, missing or not
   * a regular file. A small file is read synchronously, into `buffer` if it fits.
   */
  readWalked(
    path: string,
    { maxBytes, buffer }: WalkedReadOptions,
  ): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const small = readSmallFile(path, { maxBytes, verifyPath: false, buffer });
    return small ?? this.readIfExists(path, { maxBytes }).catch(() => undefined);
  }

  /** Reads the ignore rules that the root inherits from its parent directories. */
  readParentIgnoreRules(): Promise<readonly IgnoreRules[]> {
    return readParentIgnoreRules(this.#root);
  }

  /** Returns the kind of an entry; `undefined` when it does not exist. */
  async getKind(path: string): Promise<EntryKind | undefined> {
    const canonical = await this.resolve(path, "read");
    try {
      const info = await statIfExists(canonical);
      return info && getEntryKind(info);
    } catch (error) {
      throw toFileError(this.#formatPath(path), error);
    }
  }
}
