/**
 * Files opened for reading.
 *
 * @module
 */

import type { FileHandle } from "node:fs/promises";
import { AbortedError } from "../core/errors/errors.ts";
import type { SystemFile } from "./file_calls.ts";

/** A file opened for reading. */
export interface OpenedFile extends AsyncDisposable {
  /** Canonical path. */
  readonly path: string;
  /** Bytes in the file when it was opened. */
  readonly size: number;
  /** Reads the content from the beginning, in chunks of at most 1 MiB. @throws {AbortedError} On an abort. */
  chunks(signal?: AbortSignal): AsyncGenerator<Uint8Array>;
}

// Not from file_calls.ts, which a program then loads for one number.
const SEEK_START = 0;

const MAX_CHUNK_BYTES = 1024 * 1024;

/** Reads bytes at a position into a buffer; resolves to their number, 0 at the end. */
type ReadAt = (buffer: Uint8Array, position: number) => Promise<number>;

/** How the content of an opened file is read. */
interface FileAccess {
  /** Canonical path. */
  readonly path: string;
  /** Bytes in the file when it was opened. */
  readonly size: number;
  readonly read: ReadAt;
  readonly close: () => Promise<void> | void;
}

/** Returns a file behind a file handle of `node:fs`. */
export function fromFileHandle(path: string, size: number, handle: FileHandle): OpenedFile {
  return createOpenedFile({
    path,
    size,
    read: async (buffer, position) =>
      (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
    close: () => handle.close(),
  });
}

/** Returns a file that the runtime has opened. */
export function fromSystemFile(path: string, size: number, file: SystemFile): OpenedFile {
  return createOpenedFile({
    path,
    size,
    read: async (buffer, position) => {
      if (position === 0) file.seekSync(0, SEEK_START);
      return await file.read(buffer) ?? 0;
    },
    close: () => file.close(),
  });
}

function createOpenedFile({ path, size, read, close }: FileAccess): OpenedFile {
  return {
    path,
    size,
    chunks: (signal) => readChunks(size, read, signal),
    [Symbol.asyncDispose]: async () => await close(),
  };
}

async function* readChunks(
  size: number,
  read: ReadAt,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  // One byte more than the size: a single read of a file that did not grow reaches its end.
  const chunkBytes = Math.min(size + 1, MAX_CHUNK_BYTES);
  for (let position = 0;;) {
    if (signal?.aborted) throw new AbortedError("Reading was cancelled");
    const buffer = new Uint8Array(chunkBytes);
    const bytesRead = await read(buffer, position);
    position += bytesRead;
    if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
    const isAtEnd = bytesRead === 0 || (bytesRead < chunkBytes && position >= size);
    if (isAtEnd) return;
  }
}

/** A file that has been read into memory. */
export class BufferedFile implements OpenedFile {
  /** Canonical path. */
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
  readonly #bytes: Uint8Array;

  constructor(path: string, bytes: Uint8Array) {
    this.path = path;
    this.size = bytes.length;
    this.#bytes = bytes;
  }

  /** Yields the content in one chunk. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    if (this.size > 0) yield this.#bytes;
  }

  /** Does nothing. */
  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Reads all bytes; `undefined` when there are more than `maxBytes`. */
export async function readAllBytes(
  file: OpenedFile,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal },
): Promise<Uint8Array | undefined> {
  if (file.size > maxBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of file.chunks(signal)) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return concatChunks(chunks, length);
}

function concatChunks(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (only && chunks.length === 1) return only;
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
