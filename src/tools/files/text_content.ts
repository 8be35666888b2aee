/**
 * Text of a file, decoded so that writing it back changes nothing but the edit.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { detectFileKind, hasUtf16Bom, SNIFF_BYTES } from "../text/file_kind.ts";
import { quotePath } from "./file_error.ts";

/** Maximum size of a file that tools edit. */
export const MAX_EDIT_BYTES = 20_000_000;

const BYTE_ORDER_MARK = "\ufeff";

/** A decoded file. */
export interface TextContent {
  /** The text without its byte order mark. */
  readonly text: string;
  /** Whether the file begins with a byte order mark. */
  readonly hasByteOrderMark: boolean;
}

/**
 * Decodes the content of a file for an edit.
 *
 * @throws {BadRequestError} When it is not UTF-8 text: writing it back would damage it.
 */
export function decodeForEditing(bytes: Uint8Array, path: string): TextContent {
  const kind = detectFileKind(bytes.subarray(0, SNIFF_BYTES));
  if (kind.type !== "text" || hasUtf16Bom(bytes)) {
    const name = kind.type === "binary" ? kind.name : kind.type === "image" ? "an image" : "UTF-16";
    throw new BadRequestError(
      `${quotePath(path)} is ${name}, not UTF-8 text: change it with a command`,
    );
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const hasByteOrderMark = text.startsWith(BYTE_ORDER_MARK);
    return { text: hasByteOrderMark ? text.slice(1) : text, hasByteOrderMark };
  } catch {
    throw new BadRequestError(
      `${
        quotePath(path)
      } is not valid UTF-8, and an edit would damage it: convert it first, or change it with a command`,
    );
  }
}

/** Encodes a text, with its byte order mark. */
export function encodeForWriting({ text, hasByteOrderMark }: TextContent): Uint8Array {
  return new TextEncoder().encode(hasByteOrderMark ? BYTE_ORDER_MARK + text : text);
}

/** Decodes the content of a file for a diff; `null` for a missing file. */
export function decodeForDiff(bytes: Uint8Array | undefined): string | null {
  return bytes === undefined ? null : new TextDecoder().decode(bytes);
}
