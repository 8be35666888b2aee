/**
 * The sequence that copies a text to the clipboard of the user's terminal, also over ssh.
 *
 * @module
 */

/** Maximum length of a text that is copied; terminals discard longer ones. */
const MAX_COPIED = 74_000;

/** Returns the sequence (OSC 52); `undefined` for a text that is too long. */
export function createCopySequence(text: string): string | undefined {
  const encoded = new TextEncoder().encode(text).toBase64();
  return encoded.length > MAX_COPIED ? undefined : `\x1b]52;c;${encoded}\x07`;
}
