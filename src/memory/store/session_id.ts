/**
 * Ids of sessions and of their entries.
 *
 * @module
 */

import { SessionError } from "../../core/errors.ts";

const ALPHABET = "0123456789abcdefghijklmnopqrstuv";
const MAX_LENGTH = 128;

/** Names that Windows reserves for devices, with any extension. */
const DEVICE_NAME = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Creates an id of twelve random letters and digits (60 bits). */
export function createRandomId(): string {
  let id = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(12))) id += ALPHABET[byte & 31];
  return id;
}

/** Creates the id of a session from the UTC time and random characters, such as `20260102-030405-0a1b2c3d4e5f`. */
export function createSessionId(now: number, random: string = createRandomId()): string {
  const [date = "", time = ""] = new Date(now).toISOString().split(/[T.]/);
  return `${date.replaceAll("-", "")}-${time.replaceAll(":", "")}-${random}`;
}

/**
 * Checks that an id is a valid file name on every platform and does not leave its directory.
 *
 * @throws {SessionError} With the reason `bad_id`.
 */
export function checkSessionId(id: string): void {
  const isSafe = SAFE_NAME.test(id) && id.length <= MAX_LENGTH && !id.includes("..") &&
    !id.endsWith(".") && !DEVICE_NAME.test(id);
  if (isSafe) return;
  throw new SessionError(
    `Invalid session id ${
      JSON.stringify(id)
    }: use 1 to ${MAX_LENGTH} letters, digits, dots, dashes and ` +
      `underscores, beginning with a letter or digit`,
    { reason: "bad_id" },
  );
}
