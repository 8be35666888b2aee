/**
 * Bytes as text: base64, hexadecimal, and strings of one character per byte.
 *
 * Node before 25 has no `Uint8Array.prototype.toBase64()` and the like.
 *
 * @module
 */

/** Methods of newer runtimes. */
interface EncodingMethods {
  toBase64?(): string;
}

const utf16Decoder = new TextDecoder("utf-16le");

/** Encodes bytes as base64. */
export function encodeBase64(bytes: Uint8Array): string {
  const { toBase64 } = bytes as EncodingMethods;
  return toBase64 ? toBase64.call(bytes) : btoa(toBinaryString(bytes));
}

/** Decodes base64. @throws {DOMException} When the text is not base64. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return fromBinaryString(atob(text));
}

/** Encodes bytes in hexadecimal. */
export function encodeHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Converts each byte to the character with its code. */
export function toBinaryString(bytes: Uint8Array): string {
  return utf16Decoder.decode(new Uint16Array(bytes));
}

/** Converts each character to the byte with its code. */
export function fromBinaryString(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}
