/**
 * Files that are open for reading.
 *
 * @module
 */

import type { FileHandle } from "node:fs/promises";
import { AbortedError } from "../../core/errors.ts";

/** A file that was opened for reading. */
export interface OpenedFile extends AsyncDisposable {
  /** Canonical path. */
  readonly path: string;
  /** Bytes in the file when it was opened. */
  readonly size: number;
  /** The bytes from the beginning, in pieces of at most 1 MiB. */
  chunks(signal?: AbortSignal): AsyncGenerator<Uint8Array>;
}

/** What is read at a time. */
const MAX_CHUNK_BYTES = 1024 * 1024;

/** A file behind a handle of Node's. */
export class NodeOpenedFile implements OpenedFile {
  /** Canonical path. */
  readonly path: string;
  /** Bytes in the file when it was opened. */
  readonly size: number;
  readonly #handle: FileHandle;

  /** Takes over an open handle. */
  constructor(path: string, size: number, handle: FileHandle) {
    this.path = path;
    this.size = size;
    this.#handle = handle;
  }

  /** Reads from the beginning. */
  async *chunks(signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    // One byte more than there is: a file that did not grow is known to be at its end after one read.
    const chunkBytes = Math.min(this.size + 1, MAX_CHUNK_BYTES);
    for (let position = 0;;) {
      if (signal?.aborted) throw new AbortedError("Reading was cancelled");
      const buffer = new Uint8Array(chunkBytes);
      const { bytesRead } = await this.#handle.read(buffer, 0, chunkBytes, position);
      position += bytesRead;
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
      const isAtEnd = bytesRead === 0 || (bytesRead < chunkBytes && position >= this.size);
      if (isAtEnd) return;
    }
  }

  /** Closes the handle. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** All bytes of an opened file; `undefined` when there are more than `maxBytes`. */
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
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
