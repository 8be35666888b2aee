/**
 * The file of the inputs: JSON lines, to which several programs append.
 *
 * @module
 */

import { dirname } from "../../src/platform/paths.ts";

/** An entry of the file. */
export interface HistoryEntry {
  readonly text: string;
  /** Time of the input, in milliseconds since the epoch. */
  readonly at: number;
}

/** Options for {@linkcode HistoryFile}. */
export interface HistoryFileOptions {
  /** Number of entries that remain when the file is shortened, which happens at twice the number. */
  readonly maxEntries: number;
}

/** Largest part of the file that is read, and size at which it is shortened, in bytes. */
const MAX_BYTES = 4_194_304;

/** Attempts to lock the file, and the time between them. */
const LOCK_ATTEMPTS = 20;
const LOCK_INTERVAL_MS = 25;

const LINE_FEED = 10;

/** Appends inputs to a file that only the user can read. */
export class HistoryFile {
  readonly #path: string;
  readonly #maxEntries: number;

  constructor(path: string, { maxEntries }: HistoryFileOptions) {
    this.#path = path;
    this.#maxEntries = maxEntries;
  }

  /** Returns the texts of the latest entries, the oldest first; none without a file. Damaged lines are omitted. */
  async read(): Promise<readonly string[]> {
    try {
      await this.#assertRegularFile();
      using file = await Deno.open(this.#path);
      return parseEntries(await readEnd(file)).slice(-this.#maxEntries).map(({ text }) => text);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
  }

  /** Appends an entry. */
  async append(entry: HistoryEntry): Promise<void> {
    await Deno.mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await this.#assertRegularFile().catch(ignoreNotFound);
    using file = await this.#openLocked();
    const { size, mode } = await file.stat();
    if (mode !== null && (mode & 0o077) !== 0) await Deno.chmod(this.#path, 0o600);
    // The line of a program that was killed has no end.
    const isComplete = size === 0 || await readByte(file, size - 1) === LINE_FEED;
    await writeAll(file, `${isComplete ? "" : "\n"}${JSON.stringify(entry)}\n`);
    await this.#shorten(file);
  }

  /** Rejects for a pipe, which would block the program when it is opened, and for a device. */
  async #assertRegularFile(): Promise<void> {
    const { isFile } = await Deno.stat(this.#path);
    if (!isFile) throw new Error(`${this.#path} is no regular file`);
  }

  /** Opens the file with a lock, unless another program keeps it locked. */
  async #openLocked(): Promise<Deno.FsFile> {
    const options = { read: true, append: true, create: true, mode: 0o600 };
    for (let attempt = 0;; attempt++) {
      const file = await Deno.open(this.#path, options);
      if (attempt >= LOCK_ATTEMPTS) return file;
      const isLocked = await file.tryLock(true).catch(() => true);
      // Another program may have replaced the file while this one waited for the lock.
      if (isLocked && await this.#isCurrent(file)) return file;
      file.close();
      if (!isLocked) await new Promise((resolve) => setTimeout(resolve, LOCK_INTERVAL_MS));
    }
  }

  async #isCurrent(file: Deno.FsFile): Promise<boolean> {
    const current = await Deno.stat(this.#path).catch(() => undefined);
    return current !== undefined && current.ino === (await file.stat()).ino;
  }

  /** Replaces a file that has become too long by its latest entries. */
  async #shorten(file: Deno.FsFile): Promise<void> {
    const { size } = await file.stat();
    // A file that is too small for the maximum number of entries need not be read to count them.
    if (size < MAX_BYTES && size < this.#maxEntries * MIN_ENTRY_BYTES) return;
    const entries = parseEntries(await readEnd(file));
    if (size < MAX_BYTES && entries.length <= 2 * this.#maxEntries) return;
    const kept = takeLatest(entries, this.#maxEntries);
    const temporary = `${this.#path}.${crypto.randomUUID()}.tmp`;
    try {
      await Deno.writeTextFile(temporary, kept.map((line) => `${line}\n`).join(""), {
        mode: 0o600,
        createNew: true,
      });
      await Deno.rename(temporary, this.#path);
    } catch (error) {
      await Deno.remove(temporary).catch(() => {});
      throw error;
    }
  }
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

/** Size of the shortest entry, in bytes. */
const MIN_ENTRY_BYTES = 32;

/** Returns the lines of the latest entries, half of the largest size at most. */
function takeLatest(entries: readonly HistoryEntry[], maxEntries: number): string[] {
  const lines: string[] = [];
  let size = 0;
  for (const entry of entries.slice(-maxEntries).toReversed()) {
    const line = JSON.stringify(entry);
    size += new TextEncoder().encode(line).length + 1;
    if (size > MAX_BYTES / 2) break;
    lines.unshift(line);
  }
  return lines;
}

/** Reads the end of the file. Its first line may not be complete. */
async function readEnd(file: Deno.FsFile): Promise<string> {
  const { size } = await file.stat();
  const start = Math.max(size - MAX_BYTES, 0);
  const bytes = new Uint8Array(size - start);
  await file.seek(start, Deno.SeekMode.Start);
  let length = 0;
  while (length < bytes.length) {
    const read = await file.read(bytes.subarray(length));
    if (read === null) break;
    length += read;
  }
  return new TextDecoder().decode(bytes.subarray(0, length));
}

async function readByte(file: Deno.FsFile, offset: number): Promise<number | undefined> {
  const byte = new Uint8Array(1);
  await file.seek(offset, Deno.SeekMode.Start);
  await file.read(byte);
  return byte[0];
}

async function writeAll(file: Deno.FsFile, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let offset = 0; offset < bytes.length;) offset += await file.write(bytes.subarray(offset));
}

function parseEntries(text: string): HistoryEntry[] {
  return text.split("\n").flatMap((line) => {
    try {
      const entry: unknown = JSON.parse(line);
      return isEntry(entry) ? [entry] : [];
    } catch {
      return [];
    }
  });
}

function isEntry(value: unknown): value is HistoryEntry {
  return typeof value === "object" && value !== null &&
    "text" in value && typeof value.text === "string" &&
    "at" in value && typeof value.at === "number";
}
