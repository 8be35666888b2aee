/**
 * The files that clients name.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";

/**
 * Checks the URL of a file that a provider fetches.
 *
 * Those of cloud storage, such as `s3:`, are refused: the provider reads them with the rights of the server.
 *
 * @throws {BadRequestError} If it is none of the web.
 */
export function checkFileUrl(url: unknown, path: string): string {
  if (typeof url === "string" && /^https?:\/\//i.test(url)) return url;
  throw new BadRequestError(`${path} must begin with https:, http: or data:`);
}

/**
 * Checks the id of a file at a provider; at some it is a URL of theirs.
 *
 * @throws {BadRequestError} If it is a URL of cloud storage.
 */
export function checkFileId(id: string, path: string): string {
  return /^[a-z][a-z\d+.-]*:/i.test(id) ? checkFileUrl(id, path) : id;
}
