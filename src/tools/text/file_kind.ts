/**
 * What kind of content bytes are, told from their beginning.
 *
 * @module
 */

/** Text, an image that models can see, or something else by its usual name. */
export type FileKind =
  | { readonly type: "text" }
  | { readonly type: "image"; readonly mediaType: string }
  | { readonly type: "binary"; readonly name: string };

/** How many bytes from the beginning of a file {@linkcode fileKind} wants to see. */
export const SNIFF_BYTES = 8_192;

interface Signature {
  readonly at?: number;
  readonly bytes: string;
  readonly kind: FileKind;
}

const image = (mediaType: string): FileKind => ({ type: "image", mediaType });
const binary = (name: string): FileKind => ({ type: "binary", name });

/** First bytes, written as Latin-1. Later ones are looked at when earlier ones do not fit. */
const SIGNATURES: readonly Signature[] = [
  { bytes: "\x89PNG\r\n\x1a\n", kind: image("image/png") },
  { bytes: "\xff\xd8\xff", kind: image("image/jpeg") },
  { bytes: "GIF87a", kind: image("image/gif") },
  { bytes: "GIF89a", kind: image("image/gif") },
  { at: 8, bytes: "WEBP", kind: image("image/webp") },
  { bytes: "%PDF-", kind: binary("a PDF document") },
  { bytes: "PK\x03\x04", kind: binary("a zip archive (or an office document, a jar, a wheel)") },
  { bytes: "\x1f\x8b", kind: binary("a gzip archive") },
  { bytes: "BZh", kind: binary("a bzip2 archive") },
  { bytes: "\xfd7zXZ\x00", kind: binary("an xz archive") },
  { bytes: "\x28\xb5\x2f\xfd", kind: binary("a zstd archive") },
  { bytes: "7z\xbc\xaf\x27\x1c", kind: binary("a 7z archive") },
  { at: 257, bytes: "ustar", kind: binary("a tar archive") },
  { bytes: "\x7fELF", kind: binary("an ELF program or library") },
  { bytes: "\xcf\xfa\xed\xfe", kind: binary("a Mach-O program or library") },
  { bytes: "\xca\xfe\xba\xbe", kind: binary("a Java class or a universal Mach-O program") },
  { bytes: "\0asm", kind: binary("a WebAssembly module") },
  { bytes: "SQLite format 3\0", kind: binary("a SQLite database") },
  { bytes: "OggS", kind: binary("an Ogg file") },
  { bytes: "ID3", kind: binary("an MP3 file") },
  { bytes: "fLaC", kind: binary("a FLAC file") },
  { at: 4, bytes: "ftyp", kind: binary("an MP4, HEIC or AVIF file") },
  { at: 8, bytes: "WAVE", kind: binary("a WAV file") },
  { bytes: "wOFF", kind: binary("a web font") },
  { bytes: "wOF2", kind: binary("a web font") },
];

/** Tells the kind of a file from its first {@linkcode SNIFF_BYTES} bytes. */
export function fileKind(start: Uint8Array): FileKind {
  const known = SIGNATURES.find((signature) => fits(start, signature));
  if (known && !(known.kind.type === "binary" && isPlain(start))) return known.kind;
  return hasUtf16Mark(start) || !start.includes(0) ? { type: "text" } : binary("a binary file");
}

/** Two or three letters at the start of a text are no proof of a format. */
function isPlain(start: Uint8Array): boolean {
  return start.every((byte) =>
    byte === 9 || byte === 10 || byte === 13 || (byte > 31 && byte < 127)
  );
}

/** Tells whether text is UTF-16 with a byte order mark, as Windows programs write it. */
export function hasUtf16Mark(start: Uint8Array): boolean {
  const [first, second] = start;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

function fits(start: Uint8Array, { at = 0, bytes }: Signature): boolean {
  if (start.length < at + bytes.length) return false;
  for (let index = 0; index < bytes.length; index++) {
    if (start[at + index] !== bytes.charCodeAt(index)) return false;
  }
  return true;
}
