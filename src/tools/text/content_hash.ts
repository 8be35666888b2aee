/**
 * The name of a content: its SHA-256, in hexadecimal digits.
 *
 * @module
 */

/** Hashes bytes, or a text as UTF-8. */
export async function hashContent(content: Uint8Array | string): Promise<string> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return new Uint8Array(digest).toHex();
}
