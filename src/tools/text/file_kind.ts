/**
 * Detects the kind of a file by its first bytes.
 *
 * @module
 */

import { toBinaryString } from "../../core/text/byte_encoding.ts";

/** Text, a PDF document, an image that models accept, or a binary file with a readable name for its format. */
export type FileKind =
  | { readonly type: "text" }
  | { readonly type: "pdf" }
  | { readonly type: "image"; readonly mediaType: string }
  | { readonly type: "binary"; readonly name: string };

/** Number of bytes that {@linkcode detectFileKind} needs from the beginning of a file. */
export const SNIFF_BYTES = 8_192;

interface Signature {
  readonly offset?: number;
  readonly bytes: string;
  readonly kind: FileKind;
}

const imageKind = (mediaType: string): FileKind => ({ type: "image", mediaType });
const binaryKind = (name: string): FileKind => ({ type: "binary", name });

/** Signatures as Latin-1 strings. The first match wins. */
const SIGNATURES: readonly Signature[] = [
  { bytes: "\x89PNG\r\n\x1a\n", kind: imageKind("image/png") },
  { bytes: "\xff\xd8\xff", kind: imageKind("image/jpeg") },
  { bytes: "GIF87a", kind: imageKind("image/gif") },
  { bytes: "GIF89a", kind: imageKind("image/gif") },
  { offset: 8, bytes: "WEBP", kind: imageKind("image/webp") },
  { bytes: "%PDF-", kind: { type: "pdf" } },
  {
    bytes: "PK\x03\x04",
    kind: binaryKind("a zip archive (or an office document, a jar, a wheel)"),
  },
  { bytes: "\x1f\x8b", kind: binaryKind("a gzip archive") },
  { bytes: "BZh", kind: binaryKind("a bzip2 archive") },
  { bytes: "\xfd7zXZ\x00", kind: binaryKind("an xz archive") },
  { bytes: "\x28\xb5\x2f\xfd", kind: binaryKind("a zstd archive") },
  { bytes: "7z\xbc\xaf\x27\x1c", kind: binaryKind("a 7z archive") },
  { offset: 257, bytes: "ustar", kind: binaryKind("a tar archive") },
  { bytes: "\x7fELF", kind: binaryKind("an ELF program or library") },
  { bytes: "\xcf\xfa\xed\xfe", kind: binaryKind("a Mach-O program or library") },
  { bytes: "\xca\xfe\xba\xbe", kind: binaryKind("a Java class or a universal Mach-O program") },
  { bytes: "\0asm", kind: binaryKind("a WebAssembly module") },
  { bytes: "SQLite format 3\0", kind: binaryKind("a SQLite database") },
  { bytes: "OggS", kind: binaryKind("an Ogg file") },
  { bytes: "ID3", kind: binaryKind("an MP3 file") },
  { bytes: "fLaC", kind: binaryKind("a FLAC file") },
  { offset: 4, bytes: "ftyp", kind: binaryKind("an MP4, HEIC or AVIF file") },
  { offset: 8, bytes: "WAVE", kind: binaryKind("a WAV file") },
  { bytes: "wOFF", kind: binaryKind("a web font") },
  { bytes: "wOF2", kind: binaryKind("a web font") },
];

/** Detects the kind of a file by its first {@linkcode SNIFF_BYTES} bytes. */
export function detectFileKind(start: Uint8Array): FileKind {
  const known = SIGNATURES.find((signature) => matchesSignature(start, signature));
  if (known && !(known.kind.type === "binary" && isPrintableAscii(start))) return known.kind;
  if (isLatePdf(start)) return { type: "pdf" };
  return hasUtf16Bom(start) || !start.includes(0) ? { type: "text" } : binaryKind("a binary file");
}

/** Number of bytes in which readers of PDF documents look for the header. */
const PDF_HEADER_BYTES = 1_024;

/** Whether a PDF document begins behind other bytes, such as a header of mail. A text may quote one. */
function isLatePdf(start: Uint8Array): boolean {
  const text = toBinaryString(start.subarray(0, PDF_HEADER_BYTES));
  if (/^(?:\xef\xbb\xbf)?\s*%PDF-\d/.test(text)) return true;
  return start.includes(0)
    ? /%PDF-\d\.\d/.test(text)
    : /^%PDF-\d\.\d/m.test(text) && !isUtf8(start);
}

/** Whether bytes are the beginning of a text in UTF-8. */
function isUtf8(start: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Distinguishes text from formats whose signature is printable, such as `BZh`. */
function isPrintableAscii(start: Uint8Array): boolean {
  return start.every((byte) =>
    byte === 9 || byte === 10 || byte === 13 || (byte > 31 && byte < 127)
  );
}

/** Whether text starts with a UTF-16 byte order mark. */
export function hasUtf16Bom(start: Uint8Array): boolean {
  const [first, second] = start;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

function matchesSignature(start: Uint8Array, { offset = 0, bytes }: Signature): boolean {
  if (start.length < offset + bytes.length) return false;
  for (let index = 0; index < bytes.length; index++) {
    if (start[offset + index] !== bytes.charCodeAt(index)) return false;
  }
  return true;
}
