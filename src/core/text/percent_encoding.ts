/**
 * Percent-encoded texts.
 *
 * @module
 */

/** Decodes a percent-encoded text; a malformed one is returned unchanged. */
export function decodePercentEncoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
