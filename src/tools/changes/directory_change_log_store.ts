/**
 * A change log store in a directory: each content in a file named after its hash, entries as lines of `changes.jsonl`.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { readUntrustedFile } from "../../platform/untrusted_file.ts";
import { openDirectoryHandle } from "../files/directory_handle.ts";
import { quotePath } from "../files/file_error.ts";
import { hashContent } from "../text/content_hash.ts";
import type { ChangeLogEntry, ChangeLogStore, LoggedChange } from "./change_log_entry.ts";

/** Maximum size of a recorded content. */
const MAX_CONTENT_BYTES = 100_000_000;

/** Maximum size of the list of changes. */
const MAX_LOG_BYTES = 400_000_000;

/** A change log store in a directory, for undo after a restart. Use a directory outside of the project. */
export class DirectoryChangeLogStore implements ChangeLogStore {
  readonly #directory: string;
  #created: Promise<void> | undefined;

  /** Opens a store; creates the directory when the first change is recorded. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Saves a content, unless the store has it already. A file of another size was damaged, as by a crash. */
  async saveContent(hash: string, content: Uint8Array): Promise<void> {
    await this.#createDirectory();
    const parent = join(this.#directory, "contents", hash.slice(0, 2));
    const saved = await system.lstat(join(parent, hash)).catch(() => undefined);
    if (saved?.size === content.length) return;
    await system.mkdir(parent, { recursive: true });
    await using handle = await openDirectoryHandle(await system.realPath(parent), {
      create: false,
    });
    await handle.replaceFile(hash, { bytes: content, mode: 0o600 });
  }

  /** Reads a saved content; `undefined` also when its file was damaged. */
  async readContent(hash: string): Promise<Uint8Array | undefined> {
    const content = await this.#read(join("contents", hash.slice(0, 2), hash), MAX_CONTENT_BYTES);
    return content && await hashContent(content) === hash ? content : undefined;
  }

  /** Appends an entry as a line of JSON. The line before it may have been cut by a crash or a full disk. */
  async append(entry: ChangeLogEntry): Promise<void> {
    await this.#createDirectory();
    const line = `\n${JSON.stringify(entry)}\n`;
    await system.writeTextFile(join(this.#directory, "changes.jsonl"), line, {
      append: true,
      mode: 0o600,
    });
  }

  /** Reads all entries. Skips invalid lines, such as one truncated by a crash. */
  async entries(): Promise<readonly ChangeLogEntry[]> {
    const bytes = await this.#read("changes.jsonl", MAX_LOG_BYTES) ?? new Uint8Array();
    const lines = new TextDecoder().decode(bytes).split("\n");
    return lines.flatMap((line) => parseEntry(line) ?? []);
  }

  /** Reads a file of the store, which a command may have changed; `undefined` when it does not exist. */
  async #read(name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const path = join(this.#directory, name);
    const read = await readUntrustedFile(path, { within: this.#directory, maxBytes });
    switch (read.type) {
      case "content":
        return read.bytes;
      case "missing":
        return undefined;
      case "refused":
        throw new BadRequestError(`${quotePath(path)} ${read.reason}`);
    }
  }

  #createDirectory(): Promise<void> {
    this.#created ??= system.mkdir(this.#directory, { recursive: true, mode: 0o700 });
    return this.#created;
  }
}

function parseEntry(line: string): ChangeLogEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isJsonObject(value)) return undefined;
    const { type, turn, reason } = value;
    if (typeof turn !== "string") return undefined;
    const madeDirectories = listTexts(value.madeDirectories);
    switch (type) {
      case "change": {
        const change = parseChange(value);
        return change && { type, turn, ...change, madeDirectories };
      }
      case "untracked":
        return typeof reason === "string" ? { type, turn, reason } : undefined;
      case "undo_start":
        return { type, turn };
      case "undone": {
        const [changes, failed] = [parseChanges(value.changes), listTexts(value.failed)];
        return { type, turn, changes, failed, madeDirectories };
      }
      case "redone":
        return { type, turn, paths: listTexts(value.paths) };
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}

function parseChange(value: unknown): LoggedChange | undefined {
  if (!isJsonObject(value)) return undefined;
  const { path, before, after } = value;
  const isValid = typeof path === "string" && isHash(before) && isHash(after);
  return isValid ? { path, before, after } : undefined;
}

function parseChanges(value: unknown): readonly LoggedChange[] {
  return Array.isArray(value) ? value.flatMap((change) => parseChange(change) ?? []) : [];
}

function listTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

function isHash(value: unknown): value is string | null {
  return value === null || (typeof value === "string" && /^[\da-f]{64}$/.test(value));
}
