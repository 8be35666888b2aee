/**
 * Decodes bytes as text.
 *
 * @module
 */

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes bytes without loss; `undefined` if they are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Decodes each byte as one character, so that offsets in the text are offsets in the bytes. */
export function decodeLatin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
