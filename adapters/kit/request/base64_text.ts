/**
 * Text in base64.
 *
 * @module
 */

/** Matches base64 without blanks, in its usual alphabet. */
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Whether data is base64 in its usual form: without blanks, in its usual alphabet, and with complete padding. */
export function isUsualBase64(data: string): boolean {
  return data.length % 4 === 0 && BASE64.test(data);
}

/**
 * Converts base64 to its usual form: removes line breaks and the start of a `data:` URL, replaces the alphabet of URLs,
 * and completes the padding. Returns an empty text if it is not base64. Providers reject every other form, and with it all
 * later requests of the conversation.
 */
export function toUsualBase64(data: string): string {
  if (isUsualBase64(data)) return data;
  const text = data.replace(/^data:[^,]*,/, "").replace(/\s+/g, "")
    .replaceAll("-", "+").replaceAll("_", "/").replace(/={1,2}$/, "");
  const padded = text.padEnd(Math.ceil(text.length / 4) * 4, "=");
  return isUsualBase64(padded) ? padded : "";
}

/** Decodes base64 data as UTF-8 text. */
export function decodeBase64Text(data: string): string {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}
