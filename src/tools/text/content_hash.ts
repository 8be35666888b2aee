/**
 * Content hashes.
 *
 * @module
 */

import { encodeHex } from "../../core/text/byte_encoding.ts";

/** Returns the SHA-256 of bytes, or of a text as UTF-8, in hexadecimal. */
export async function hashContent(content: Uint8Array | string): Promise<string> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return encodeHex(new Uint8Array(digest));
}

/** Returns the hash of a content; `null` for that of a file that does not exist. */
export async function hashOrNull(content: Uint8Array | null): Promise<string | null> {
  return content === null ? null : await hashContent(content);
}
