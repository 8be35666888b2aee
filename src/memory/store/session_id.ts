/**
 * Names of sessions and of their entries.
 *
 * @module
 */

import { SessionError } from "../../core/errors.ts";

const ALPHABET = "0123456789abcdefghijklmnopqrstuv";
const MAX_LENGTH = 128;

/** Names that Windows keeps for devices, whatever their ending. */
const DEVICE_NAME = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** A name of twelve random letters and digits: 60 bits. */
export function createRandomId(): string {
  let name = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(12))) name += ALPHABET[byte & 31];
  return name;
}

/**
 * The name of a session that begins now: the time, for people and for sorting, and something random, since two
 * sessions may begin at the same moment.
 */
export function createSessionId(now: number, random: string = createRandomId()): string {
  const [date = "", time = ""] = new Date(now).toISOString().split(/[T.]/);
  return `${date.replaceAll("-", "")}-${time.replaceAll(":", "")}-${random}`;
}

/**
 * Refuses a name that could lead out of a folder or that some file system does not take.
 *
 * @throws {SessionError} With the reason `bad_id`.
 */
export function checkSessionId(id: string): void {
  const isSafe = SAFE_NAME.test(id) && id.length <= MAX_LENGTH && !id.includes("..") &&
    !id.endsWith(".") && !DEVICE_NAME.test(id);
  if (isSafe) return;
  throw new SessionError(
    `${JSON.stringify(id)} cannot name a session: take 1 to ${MAX_LENGTH} letters, digits, ` +
      `dots, dashes and underscores, beginning with a letter or digit`,
    { reason: "bad_id" },
  );
}
