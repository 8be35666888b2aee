/**
 * The text of a file, and how to write it back without changing what nobody asked to change.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { detectFileKind, hasUtf16Bom, SNIFF_BYTES } from "../text/file_kind.ts";
import { quotePath } from "./file_error.ts";

/** A file larger than this is edited by commands, not by tools. */
export const MAX_EDIT_BYTES = 20_000_000;

const BYTE_ORDER_MARK = "\ufeff";

/** A decoded file. */
export interface TextContent {
  /** The text without its byte order mark. */
  readonly text: string;
  /** Whether a byte order mark stood before it. */
  readonly hasByteOrderMark: boolean;
}

/**
 * Decodes a file that shall be edited.
 *
 * @throws {BadRequestError} When it is not UTF-8 text, so that writing it back would damage it.
 */
export function decodeForEditing(bytes: Uint8Array, path: string): TextContent {
  const kind = detectFileKind(bytes.subarray(0, SNIFF_BYTES));
  if (kind.type !== "text" || hasUtf16Bom(bytes)) {
    const what = kind.type === "binary" ? kind.name : kind.type === "image" ? "an image" : "UTF-16";
    throw new BadRequestError(
      `${quotePath(path)} is ${what}, not UTF-8 text: change it with a command`,
    );
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const hasMark = text.startsWith(BYTE_ORDER_MARK);
    return { text: hasMark ? text.slice(1) : text, hasByteOrderMark: hasMark };
  } catch {
    throw new BadRequestError(
      `${
        quotePath(path)
      } is not valid UTF-8, and an edit would damage it: convert it first, or change it with a command`,
    );
  }
}

/** The bytes of a text that was decoded. */
export function encodeForWriting({ text, hasByteOrderMark: hasMark }: TextContent): Uint8Array {
  return new TextEncoder().encode(hasMark ? BYTE_ORDER_MARK + text : text);
}

/** The text of a file as a person is shown it in a change; `null` for no file. */
export function decodeForDiff(bytes: Uint8Array | undefined): string | null {
  return bytes === undefined ? null : new TextDecoder().decode(bytes);
}
