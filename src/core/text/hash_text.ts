/**
 * Hashes of texts from which seeds are derived.
 *
 * @module
 */

/** Returns the 32-bit FNV-1a hash of the UTF-16 code units. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
