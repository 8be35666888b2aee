/**
 * A journal of file changes in a folder: contents in files named after their hash, entries as lines.
 *
 * @module
 */

import { join } from "../files/paths.ts";
import { isJsonObject } from "../../core/json.ts";
import type { ChangeLogEntry, ChangeLogStore } from "./change_log.ts";
import { openDirectoryHandle } from "../files/directory_handle.ts";
import { getSystemErrorCode } from "../files/file_error.ts";

/** Keeps a journal in a folder, so that turns can be undone after a restart. Keep it outside of the project. */
export class DirectoryChangeLogStore implements ChangeLogStore {
  readonly #directory: string;
  #created: Promise<void> | undefined;

  /** Makes a store; the folder is made at the first change. */
  constructor(folder: string) {
    this.#directory = folder;
  }

  /** Keeps a content, unless it is there. */
  async saveContent(hash: string, content: Uint8Array): Promise<void> {
    await this.#createDirectory();
    const folder = join(this.#directory, "contents", hash.slice(0, 2));
    if (await exists(join(folder, hash))) return;
    await Deno.mkdir(folder, { recursive: true });
    await using held = await openDirectoryHandle(await Deno.realPath(folder), { create: false });
    await held.replaceFile(hash, { bytes: content, mode: 0o600 });
  }

  /** Reads a content. */
  async readContent(hash: string): Promise<Uint8Array | undefined> {
    try {
      return await Deno.readFile(join(this.#directory, "contents", hash.slice(0, 2), hash));
    } catch (error) {
      if (getSystemErrorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Adds a line. */
  async append(entry: ChangeLogEntry): Promise<void> {
    await this.#createDirectory();
    const line = `${JSON.stringify(entry)}\n`;
    await Deno.writeTextFile(join(this.#directory, "changes.jsonl"), line, {
      append: true,
      mode: 0o600,
    });
  }

  /** Reads the lines; one that a crash cut off is left out. */
  async entries(): Promise<readonly ChangeLogEntry[]> {
    try {
      const text = await Deno.readTextFile(join(this.#directory, "changes.jsonl"));
      return text.split("\n").flatMap((line) => parseEntry(line) ?? []);
    } catch (error) {
      if (getSystemErrorCode(error) === "ENOENT") return [];
      throw error;
    }
  }

  #createDirectory(): Promise<void> {
    this.#created ??= Deno.mkdir(this.#directory, { recursive: true, mode: 0o700 });
    return this.#created;
  }
}

function parseEntry(line: string): ChangeLogEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isJsonObject(value)) return undefined;
    const { turn, path, before, after } = value;
    if (typeof turn !== "string" || typeof path !== "string") return undefined;
    if (!isHash(before) || !isHash(after)) return undefined;
    return { turn, path, before, after };
  } catch {
    return undefined;
  }
}

function isHash(value: unknown): value is string | null {
  return value === null || (typeof value === "string" && /^[\da-f]{64}$/.test(value));
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
