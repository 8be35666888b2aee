/**
 * Text in base64.
 *
 * @module
 */

/** Matches base64 without blanks, in its usual alphabet. */
export const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Decodes base64 data as UTF-8 text. */
export function decodeBase64Text(data: string): string {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}
