/**
 * SHA-256 of files that do not fit into memory.
 *
 * @module
 */

import { getBuiltinModule } from "../../platform/builtin_modules.ts";
import type { SystemFile } from "../../platform/file_calls.ts";
import { system } from "../../platform/system.ts";

/** Calculates a SHA-256 from parts of the content. */
export interface Digest {
  /** Adds the next part. */
  update(bytes: Uint8Array): void;
  /** Returns the SHA-256 of all parts, in hexadecimal. */
  finish(): string;
}

/** Bytes that are read at once. */
const CHUNK_BYTES = 1 << 20;

/** Creates a digest without content. */
export function createDigest(): Digest {
  const hash = getBuiltinModule("node:crypto").createHash("sha256");
  return { update: (bytes) => void hash.update(bytes), finish: () => hash.digest("hex") };
}

/** Adds the content of a file to a digest and returns the number of bytes. */
export async function digestFile(
  path: string,
  digest: Digest,
  signal?: AbortSignal,
): Promise<number> {
  using file = await system.open(path);
  return await digestOpenFile(file, digest, signal);
}

/** Adds the content of an open file after its position to a digest and returns the number of bytes. */
export async function digestOpenFile(
  file: SystemFile,
  digest: Digest,
  signal?: AbortSignal,
): Promise<number> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  let total = 0;
  for (;;) {
    signal?.throwIfAborted();
    const length = await file.read(buffer);
    if (length === null) return total;
    digest.update(buffer.subarray(0, length));
    total += length;
  }
}
