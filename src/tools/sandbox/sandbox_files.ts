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
import { canonicalPath } from "../files/canonical_path.ts";
import { fileFailure, shown, systemCodeOf } from "../files/file_failure.ts";
import type { FileAccess, FileRules } from "../files/file_rules.ts";
import type { IgnoreRules } from "../../core/ignore/git_ignore.ts";
import { ignoreRulesAbove } from "../files/ignore_rules_above.ts";
import { grouped } from "../text/output_limit.ts";
import { type EntryKind, entryKind, refuseUnlessFile, statIfThere } from "../files/found_file.ts";
import { holdFolder, pathOfDescriptor } from "../files/directory_handle.ts";
import { allBytes, type OpenedFile, OpenedHandle } from "../files/opened_file.ts";
import { type NodeFiles, nodeFiles } from "../files/node_files.ts";
import { below, dirname, isAbsolute, SEPARATOR } from "../files/paths.ts";
import { readQuickly } from "../files/read_quickly.ts";

/** One name in a folder. */
export interface FolderEntry {
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
  display(path: string): string;
  /** Opens a regular file. @throws {BadRequestError} With words, when that is not possible. */
  open(path: string): Promise<OpenedFile>;
  /** Reads a whole file; `undefined` when there is none. @throws {BadRequestError} When it is too large. */
  readIfThere(
    path: string,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array | undefined>;
  /** Writes a whole file, at once or not at all; makes folders, keeps the mode of a file that was there. */
  write(path: string, bytes: Uint8Array, options?: { readonly mode?: number }): Promise<void>;
  /** Removes a file; fine when it is gone. */
  remove(path: string): Promise<void>;
  /** The names in a folder, sorted; protected ones are left out. */
  readFolder(path: string): Promise<FolderEntry[]>;
  /**
   * Reads a file that {@linkcode SandboxFiles.readFolder} met, quickly and unverified; `undefined` when it is too
   * large, gone or no regular file any more. A folder on the way may have been swapped for a link meanwhile: what is
   * to be shown must be read again.
   */
  readMet(
    path: string,
    maxBytes: number,
  ): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** What git's rules from above the root leave out. */
  ignoreRulesAbove(): Promise<readonly IgnoreRules[]>;
  /** What a path is; `undefined` when there is nothing. */
  kindOf(path: string): Promise<EntryKind | undefined>;
}

/** Up to here a file is read and written in one go. */
const SMALL_BYTES = 64 * 1024;

/** The machine's own file system behind the rules. */
export class ConfinedFiles implements SandboxFiles {
  readonly #root: string;
  readonly #rules: FileRules;
  #nodeFiles: NodeFiles | undefined;

  /** Makes the view of a canonical root folder. */
  constructor(root: string, rules: FileRules) {
    this.#root = root;
    this.#rules = rules;
  }

  /** Resolves and judges a path. */
  async resolve(path: string, access: FileAccess): Promise<string> {
    if (path === "") throw new BadRequestError("The path is empty: name a file or a folder");
    if (path.includes("\0")) {
      throw new BadRequestError(`${shown(path)} contains a NUL character, which no path can`);
    }
    const canonical = await canonicalPath(path, this.#root).catch((error) => {
      throw fileFailure(this.#nameOf(path), error);
    });
    this.#judge(canonical, access, path);
    return canonical;
  }

  #judge(canonical: string, access: FileAccess, asked: string): void {
    const verdict = this.#rules(canonical, access);
    if (verdict === "allowed") return;
    const leads = canonical.endsWith(asked) ? "" : ` (it leads to ${shown(canonical)})`;
    const why = verdict === "outside"
      ? `is outside of ${shown(this.#root)}, where files may be ${
        access === "read" ? "read" : "written"
      }`
      : `is protected: ${
        access === "read"
          ? "files that usually hold secrets are not read"
          : "secrets and git's hooks and settings are not written"
      } by tools`;
    throw new BadRequestError(`${shown(asked)}${leads} ${why}`);
  }

  /** Shows a path relative to the root where it lies below it. */
  display(path: string): string {
    const way = below(this.#root, path);
    if (way === "") return ".";
    return way === undefined ? path : way.replaceAll(SEPARATOR, "/");
  }

  /** A path as it stands in a message. */
  #nameOf(path: string): string {
    return isAbsolute(path) ? this.display(path) : path;
  }

  /** Opens a regular file for reading. */
  async open(path: string): Promise<OpenedFile> {
    const file = await this.#openIfThere(path);
    if (file) return file;
    throw new BadRequestError(`${shown(this.#nameOf(path))} does not exist`);
  }

  async #openIfThere(path: string): Promise<OpenedFile | undefined> {
    const canonical = await this.resolve(path, "read");
    let handle: FileHandle | undefined;
    try {
      const found = await statIfThere(canonical);
      if (!found) return undefined;
      refuseUnlessFile(found, this.#nameOf(path));
      const { open, sync: { constants } } = await nodeFiles();
      // Not to block on a pipe that took the file's place, nor to follow a link that did.
      handle = await open(
        canonical,
        constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      );
      const { size, ino, dev } = await handle.stat();
      await this.#verifySame(canonical, { fd: handle.fd, ino, dev }, path);
      return new OpenedHandle(canonical, size, handle);
    } catch (error) {
      await handle?.close();
      throw fileFailure(this.#nameOf(path), error);
    }
  }

  /** What was opened must be what the judged path names: a folder on the way may have been swapped for a link. */
  async #verifySame(canonical: string, opened: Opened, asked: string): Promise<void> {
    if (pathOfDescriptor(opened.fd) === canonical) return;
    const again = await canonicalPath(canonical, this.#root);
    const { ino, dev } = await Deno.lstat(canonical);
    if (again === canonical && ino === opened.ino && dev === opened.dev) return;
    throw new BadRequestError(`${shown(asked)} changed while it was opened: try again`);
  }

  /** Reads a whole file of limited size. */
  async readIfThere(
    path: string,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array | undefined> {
    const { maxBytes, signal } = options;
    const small = await this.#readSmall(path, maxBytes);
    if (small) return small;
    await using file = await this.#openIfThere(path);
    if (!file) return undefined;
    const bytes = await allBytes(file, { maxBytes, ...(signal && { signal }) });
    if (bytes) return bytes;
    throw new BadRequestError(
      `${shown(this.#nameOf(path))} is larger than ${
        grouped(maxBytes)
      } bytes: use a command instead`,
    );
  }

  /** A small file is read before a thread would have been asked; whatever is unusual goes the long way. */
  async #readSmall(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const canonical = await this.resolve(path, "read");
    const found = await statIfThere(canonical).catch(() => undefined);
    if (!found?.isFile || found.size > Math.min(SMALL_BYTES, maxBytes)) return undefined;
    return readQuickly(await nodeFiles(), canonical, { maxBytes: SMALL_BYTES, verified: true });
  }

  /** Writes a file through a temporary one beside it. */
  async write(
    path: string,
    bytes: Uint8Array,
    options: { readonly mode?: number } = {},
  ): Promise<void> {
    const canonical = await this.resolve(path, "write");
    try {
      const there = await statIfThere(canonical);
      if (there) refuseUnlessFile(there, this.#nameOf(path));
      await using folder = await holdFolder(dirname(canonical), { create: true });
      const mode = there?.mode ?? options.mode;
      await folder.replaceFile(nameIn(canonical), {
        bytes,
        ...(mode !== null && mode !== undefined && { mode: mode & 0o7777 }),
        ...(there && { owner: { uid: there.uid, gid: there.gid } }),
      });
    } catch (error) {
      throw fileFailure(this.#nameOf(path), error);
    }
  }

  /** Removes a file. */
  async remove(path: string): Promise<void> {
    const canonical = await this.resolve(path, "write");
    try {
      const there = await statIfThere(canonical);
      if (!there) return;
      refuseUnlessFile(there, this.#nameOf(path));
      await using folder = await holdFolder(dirname(canonical), { create: false });
      await folder.removeFile(nameIn(canonical));
    } catch (error) {
      if (systemCodeOf(error) !== "ENOENT") throw fileFailure(this.#nameOf(path), error);
    }
  }

  /** Lists a folder. */
  async readFolder(path: string): Promise<FolderEntry[]> {
    const canonical = await this.resolve(path, "read");
    try {
      await using folder = await holdFolder(canonical, { create: false });
      const isAllowed = ({ name }: Deno.DirEntry) =>
        this.#rules(`${canonical}${SEPARATOR}${name}`, "read") === "allowed";
      return (await folder.entries()).filter(isAllowed)
        .map((entry) => ({ name: entry.name, kind: entryKind(entry) }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      throw fileFailure(this.#nameOf(path), error);
    }
  }

  /** Reads a file that a walk met. */
  readMet(
    path: string,
    maxBytes: number,
  ): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const options = { maxBytes, verified: false };
    if (this.#nodeFiles) return readQuickly(this.#nodeFiles, path, options);
    return nodeFiles().then((loaded) => readQuickly(this.#nodeFiles = loaded, path, options));
  }

  /** Reads git's rules from above the root. */
  ignoreRulesAbove(): Promise<readonly IgnoreRules[]> {
    return ignoreRulesAbove(this.#root);
  }

  /** Tells what a path is. */
  async kindOf(path: string): Promise<EntryKind | undefined> {
    const canonical = await this.resolve(path, "read");
    try {
      const found = await statIfThere(canonical);
      return found && entryKind(found);
    } catch (error) {
      throw fileFailure(this.#nameOf(path), error);
    }
  }
}

interface Opened {
  readonly fd: number;
  readonly ino: number;
  readonly dev: number;
}

/** The last part of a canonical path. */
function nameIn(canonical: string): string {
  return canonical.slice(canonical.lastIndexOf(SEPARATOR) + 1);
}
