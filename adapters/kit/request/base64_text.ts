/**
 * Text in base64.
 *
 * @module
 */

/** Decodes base64 data as UTF-8 text. */
export function decodeBase64Text(data: string): string {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}
