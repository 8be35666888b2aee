/**
 * Byte arrays.
 *
 * @module
 */

/** Concatenates byte arrays; a single non-empty one is returned without a copy. */
export function concatBytes(
  parts: readonly Uint8Array<ArrayBuffer>[],
): Uint8Array<ArrayBuffer> {
  const filled = parts.filter(({ length }) => length > 0);
  const [only] = filled;
  if (only && filled.length === 1) return only;
  const bytes = new Uint8Array(filled.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of filled) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
