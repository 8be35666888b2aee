/**
 * A journal of file changes in a folder: contents in files named after their hash, entries as lines.
 *
 * @module
 */

import { join } from "../files/paths.ts";
import { isJsonObject } from "../../core/json.ts";
import type { JournalEntry, JournalStore } from "./file_journal.ts";
import { holdFolder } from "../files/directory_handle.ts";
import { systemCodeOf } from "../files/file_failure.ts";

/** Keeps a journal in a folder, so that turns can be undone after a restart. Keep it outside of the project. */
export class FolderJournalStore implements JournalStore {
  readonly #folder: string;
  #made: Promise<void> | undefined;

  /** Makes a store; the folder is made at the first change. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Keeps a content, unless it is there. */
  async keep(hash: string, content: Uint8Array): Promise<void> {
    await this.#make();
    const folder = join(this.#folder, "contents", hash.slice(0, 2));
    if (await isThere(join(folder, hash))) return;
    await Deno.mkdir(folder, { recursive: true });
    await using held = await holdFolder(await Deno.realPath(folder), { create: false });
    await held.replaceFile(hash, { bytes: content, mode: 0o600 });
  }

  /** Reads a content. */
  async fetch(hash: string): Promise<Uint8Array | undefined> {
    try {
      return await Deno.readFile(join(this.#folder, "contents", hash.slice(0, 2), hash));
    } catch (error) {
      if (systemCodeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Adds a line. */
  async append(entry: JournalEntry): Promise<void> {
    await this.#make();
    const line = `${JSON.stringify(entry)}\n`;
    await Deno.writeTextFile(join(this.#folder, "changes.jsonl"), line, {
      append: true,
      mode: 0o600,
    });
  }

  /** Reads the lines; one that a crash cut off is left out. */
  async entries(): Promise<readonly JournalEntry[]> {
    try {
      const text = await Deno.readTextFile(join(this.#folder, "changes.jsonl"));
      return text.split("\n").flatMap((line) => parseEntry(line) ?? []);
    } catch (error) {
      if (systemCodeOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  #make(): Promise<void> {
    this.#made ??= Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    return this.#made;
  }
}

function parseEntry(line: string): JournalEntry | undefined {
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

async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
