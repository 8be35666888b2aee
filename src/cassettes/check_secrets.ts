/**
 * Checks the secrets that a caller passes.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";

/**
 * Checks a list of texts to redact; a single text would be read as the list of its letters. The message of the error does
 * not quote them.
 *
 * @throws {BadRequestError} If it is no array of texts.
 */
export function checkSecrets(secrets: unknown): void {
  if (secrets === undefined) return;
  if (Array.isArray(secrets) && secrets.every((secret) => typeof secret === "string")) return;
  throw new BadRequestError("secrets must be an array of texts");
}
