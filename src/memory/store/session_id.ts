/**
 * Ids of sessions and of their entries.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import { formatTime, isDate } from "./format_time.ts";

const ALPHABET = "0123456789abcdefghijklmnopqrstuv";
const MAX_LENGTH = 200;
const CONTROL_CHARACTER = /\p{Cc}/u;

const RANDOM_ID_LENGTH = 12;

/** Random bytes for many ids, since most of the time for a request of few bytes is that of the request. */
const randomBytes = new Uint8Array(128 * RANDOM_ID_LENGTH);
let usedBytes = randomBytes.length;

/** Creates an id of twelve random letters and digits (60 bits). */
export function createRandomId(): string {
  if (usedBytes === randomBytes.length) {
    crypto.getRandomValues(randomBytes);
    usedBytes = 0;
  }
  let id = "";
  for (const end = usedBytes + RANDOM_ID_LENGTH; usedBytes < end; usedBytes++) {
    id += ALPHABET[(randomBytes[usedBytes] ?? 0) & 31];
  }
  return id;
}

/**
 * Creates the id of a session from the UTC time and random characters, such as `20260102-030405-0a1b2c3d4e5f`.
 *
 * @throws {SessionError} With the reason `bad_id` if the time is not that of a date.
 */
export function createSessionId(now: number, random: string = createRandomId()): string {
  if (!isDate(now)) {
    throw new SessionError(
      `Cannot create the id of a session from the time ${now}: correct the clock of the store, or pass an id`,
      { reason: "bad_id" },
    );
  }
  const [date = "", time = ""] = formatTime(now).split(/[T.]/);
  return `${date.replaceAll("-", "")}-${time.replaceAll(":", "")}-${random}`;
}

/**
 * Checks an id of a session.
 *
 * @throws {SessionError} With the reason `bad_id`.
 */
export function checkSessionId(id: string): void {
  if (isSessionId(id)) return;
  const text = String(id);
  const shown = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  throw new SessionError(
    `Invalid session id ${
      JSON.stringify(shown)
    }: use 1 to ${MAX_LENGTH} characters without control characters`,
    { reason: "bad_id" },
  );
}

/** Whether a value can be the id of a session. */
export function isSessionId(id: unknown): id is string {
  return typeof id === "string" && id.length > 0 && id.length <= MAX_LENGTH && id.isWellFormed() &&
    !CONTROL_CHARACTER.test(id);
}
