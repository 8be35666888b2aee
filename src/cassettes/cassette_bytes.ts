/**
 * Decodes bytes as text or JSON.
 *
 * @module
 */

import type { JsonValue } from "../core/json/json.ts";

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

/** Parses a text as JSON; `undefined` if it is not valid. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
