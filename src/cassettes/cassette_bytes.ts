/**
 * Bytes as texts.
 *
 * @module
 */

import type { JsonValue } from "../core/json.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes as a text that has the same bytes; `undefined` when they are none. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** One character for each byte, for searching: offsets in the text are offsets in the bytes. */
export function decodeLatin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

/** A JSON value; `undefined` when the text is none. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
