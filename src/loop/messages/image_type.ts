/**
 * The media types of image files.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";

/** The formats that models accept, by their first bytes as Latin-1 text. */
const SIGNATURES: readonly (readonly [mediaType: string, pattern: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
];

/** Number of bytes that the signatures need. */
export const SIGNATURE_BYTES = 12;

/** Matches the extension of a file name. */
const EXTENSION = /[^/\\]\.([a-z0-9]+)$/;

/**
 * Returns the media type of an image by its content, since providers reject an image whose extension is wrong; of another
 * format, by its extension.
 *
 * @throws {BadRequestError} If the format is unknown and the path has no extension.
 */
export function getImageType(bytes: Uint8Array, path: string): string {
  const known = findImageType(String.fromCharCode(...bytes.subarray(0, SIGNATURE_BYTES)));
  if (known !== undefined) return known;
  const [, extension] = EXTENSION.exec(path.toLowerCase()) ?? [];
  if (extension !== undefined) return extension === "jpg" ? "image/jpeg" : `image/${extension}`;
  throw new BadRequestError(
    "its format is unknown: pass the mediaType of its source, such as image/png",
  );
}

/** Returns the media type of an image by its first bytes as Latin-1 text; `undefined` if models do not accept the format. */
export function findImageType(start: string): string | undefined {
  return SIGNATURES.find(([, pattern]) => pattern.test(start))?.[0];
}
