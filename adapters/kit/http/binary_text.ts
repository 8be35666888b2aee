/**
 * Recognition of binary data that was decoded as text.
 *
 * @module
 */

/** Part of the characters above which a text is binary data. */
const MAX_INVALID_PART = 0.1;

/** Matches characters that text does not have: replaced bytes, and control characters other than white space and escapes. */
// deno-lint-ignore no-control-regex -- finds the control characters of binary data
const INVALID = /[\u0000-\u0007\u000e-\u001a\u001c-\u001f\u007f\ufffd]/g;

/** Whether a decoded text is binary data, such as an image, compressed data or another encoding. */
export function isBinaryText(text: string): boolean {
  if (text.includes("\0")) return true;
  const invalid = text.match(INVALID)?.length ?? 0;
  return invalid > text.length * MAX_INVALID_PART;
}
