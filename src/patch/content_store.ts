/**
 * Contents of many files in one: copying each to a file of its own takes ten times as long.
 *
 * @module
 */

import { join } from "node:path";

/** Where a content lies in the store. */
export interface StoredContent {
  /** Its first byte. */
  readonly offset: number;
  /** Its length, in bytes. */
  readonly length: number;
}

/** Larger files are copied in pieces of this size. */
const CHUNK_BYTES = 8_000_000;

/** A temporary file that contents are appended to. Dispose of it to remove it. */
export class ContentStore implements Disposable {
  /** The folder of the file. */
  readonly directory: string;
  readonly #file: Deno.FsFile;
  #length = 0;

  /** Makes an empty store. */
  constructor() {
    this.directory = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "swink-before-" }));
    const path = join(this.directory, "contents");
    this.#file = Deno.openSync(path, { createNew: true, read: true, write: true });
  }

  /** Appends what is in a file; `undefined` when that cannot be read. Throws when there is no room for it. */
  add(path: string, size: number): StoredContent | undefined {
    const pieces = size <= CHUNK_BYTES ? readContent(path) : readContentInChunks(path);
    if (!pieces) return undefined;
    const offset = this.#length;
    this.#file.seekSync(offset, Deno.SeekMode.Start);
    for (const piece of pieces) this.#append(piece);
    return { offset, length: this.#length - offset };
  }

  /** Reads a content back. */
  read({ offset, length }: StoredContent): Uint8Array {
    const content = new Uint8Array(length);
    this.#file.seekSync(offset, Deno.SeekMode.Start);
    for (let at = 0; at < length;) {
      const count = this.#file.readSync(content.subarray(at));
      if (count === null) throw new Error("The copies of the files were cut short by somebody");
      at += count;
    }
    return content;
  }

  #append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) at += this.#file.writeSync(bytes.subarray(at));
    this.#length += bytes.length;
  }

  /** Removes the file. */
  [Symbol.dispose](): void {
    this.#file.close();
    try {
      Deno.removeSync(this.directory, { recursive: true });
    } catch {
      // Somebody cleans up temporary folders by himself.
    }
  }
}

function readContent(path: string): readonly Uint8Array[] | undefined {
  try {
    return [Deno.readFileSync(path)];
  } catch {
    return undefined;
  }
}

function readContentInChunks(path: string): Iterable<Uint8Array> | undefined {
  try {
    return readChunks(Deno.openSync(path));
  } catch {
    return undefined;
  }
}

function* readChunks(opened: Deno.FsFile): Generator<Uint8Array> {
  using file = opened;
  const piece = new Uint8Array(CHUNK_BYTES);
  for (let count = file.readSync(piece); count !== null; count = file.readSync(piece)) {
    yield piece.subarray(0, count);
  }
}
