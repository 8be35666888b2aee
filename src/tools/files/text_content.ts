/**
 * Text of a file, decoded so that writing it back changes nothing but the edit.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { detectFileKind, type FileKind, hasUtf16Bom, SNIFF_BYTES } from "../text/file_kind.ts";
import { detectLineEnding, keepLineEndings } from "../text/line_endings.ts";
import { quotePath } from "./file_error.ts";

/** Maximum size of a file that tools edit. */
export const MAX_EDIT_BYTES = 20_000_000;

const BYTE_ORDER_MARK = "\ufeff";

/** Encoding of a text file; UTF-16 is recognized by its byte order mark. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be";

/** A decoded file. */
export interface TextContent {
  /** The text without its byte order mark. */
  readonly text: string;
  /** Whether the file begins with a byte order mark. */
  readonly hasByteOrderMark: boolean;
  /** Encoding of the file. */
  readonly encoding: TextEncoding;
}

/** Detects the encoding of a text file by its first bytes. */
export function detectEncoding(start: Uint8Array): TextEncoding {
  if (!hasUtf16Bom(start)) return "utf-8";
  return start[0] === 0xff ? "utf-16le" : "utf-16be";
}

/**
 * Decodes the content of a file for an edit.
 *
 * @throws {BadRequestError} When it is not text, or not valid in its encoding: writing it back would damage it.
 */
export function decodeForEditing(bytes: Uint8Array, path: string): TextContent {
  const kind = detectFileKind(bytes.subarray(0, SNIFF_BYTES));
  if (kind.type !== "text") {
    const name = getKindName(kind);
    throw new BadRequestError(`${quotePath(path)} is ${name}, not text: change it with a command`);
  }
  const content = tryDecode(bytes);
  if (content) return content;
  throw new BadRequestError(
    `${
      quotePath(path)
    } is not valid UTF-8, and an edit would damage it: convert it first, or change it with a command`,
  );
}

function getKindName(kind: Exclude<FileKind, { readonly type: "text" }>): string {
  switch (kind.type) {
    case "image":
      return "an image";
    case "pdf":
      return "a PDF document";
    case "binary":
      return kind.name;
  }
}

/** Decodes a text file; `undefined` if it is not text, or not valid in its encoding. */
export function tryDecode(bytes: Uint8Array): TextContent | undefined {
  if (detectFileKind(bytes.subarray(0, SNIFF_BYTES)).type !== "text") return undefined;
  const encoding = detectEncoding(bytes);
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
    const hasByteOrderMark = text.startsWith(BYTE_ORDER_MARK);
    return { text: hasByteOrderMark ? text.slice(1) : text, hasByteOrderMark, encoding };
  } catch {
    return undefined;
  }
}

/** Encodes a text, with its byte order mark. */
export function encodeForWriting({ text, hasByteOrderMark, encoding }: TextContent): Uint8Array {
  const marked = hasByteOrderMark ? BYTE_ORDER_MARK + text : text;
  return encoding === "utf-8" ? new TextEncoder().encode(marked) : encodeUtf16(marked, encoding);
}

function encodeUtf16(text: string, encoding: "utf-16le" | "utf-16be"): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let index = 0; index < text.length; index++) {
    view.setUint16(index * 2, text.charCodeAt(index), encoding === "utf-16le");
  }
  return new Uint8Array(view.buffer);
}

/**
 * Encodes a text that replaces the content of a file, with the encoding, the byte order mark and the line endings of the
 * file. A text with `\r\n` or a byte order mark of its own is kept as it is.
 */
export function encodeLikeFile(text: string, before: Uint8Array | undefined): Uint8Array {
  const existing = before && tryDecode(before);
  if (!existing) return new TextEncoder().encode(text);
  const ending = detectLineEnding(existing.text);
  const converted = text.includes("\r\n") ? text : keepLineEndings(existing.text, text, ending);
  const isMarked = converted.startsWith(BYTE_ORDER_MARK);
  return encodeForWriting({
    text: converted,
    hasByteOrderMark: existing.hasByteOrderMark && !isMarked,
    encoding: existing.encoding,
  });
}

/** Decodes the content of a file for a diff; `null` for a missing file. */
export function decodeForDiff(bytes: Uint8Array | undefined): string | null {
  return bytes === undefined ? null : new TextDecoder(detectEncoding(bytes)).decode(bytes);
}
