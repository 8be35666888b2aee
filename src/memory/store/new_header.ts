/**
 * Creates the headers of new sessions.
 *
 * @module
 */

import { SessionError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject, toJsonValue } from "../../core/json.ts";
import type { CreateSessionOptions } from "../../core/session.ts";
import type { SessionHeader } from "../../core/session_entry.ts";
import { createHeader } from "./jsonl.ts";
import { checkSessionId, createSessionId } from "./session_id.ts";

/** Maximum length of metadata as JSON, in UTF-16 code units: every list has them, and databases rewrite them with each entry. */
const MAX_METADATA_LENGTH = 65_536;

/**
 * Creates the header of a new session; `now` is the current time, in milliseconds since the epoch.
 *
 * @throws {SessionError} With the reason `bad_id`, or `invalid_entry` if another option is invalid.
 */
export function createNewHeader(options: CreateSessionOptions, now: number): SessionHeader {
  const { id = createSessionId(now), created = now, cwd, tenant, user, metadata, parent } = options;
  checkSessionId(id);
  if (!Number.isFinite(created)) {
    throw createHeaderError(id, `the time ${created} is not a number`, "correct the clock");
  }
  for (const [name, value] of Object.entries({ cwd, tenant, user })) {
    if (value === undefined || typeof value === "string") continue;
    throw createHeaderError(id, `its ${name} is not a text`, "use a string");
  }
  return createHeader({
    id,
    created,
    ...(cwd !== undefined && { cwd }),
    ...(tenant !== undefined && { tenant }),
    ...(user !== undefined && { user }),
    ...(metadata !== undefined && { metadata: copyMetadata(id, metadata) }),
    ...(parent !== undefined && { parent }),
  });
}

function copyMetadata(id: string, metadata: JsonObject): JsonObject {
  const conversion = toJsonValue(metadata);
  const problem = "problem" in conversion ? conversion.problem : findProblem(conversion.value);
  if ("value" in conversion && isJsonObject(conversion.value) && !problem) return conversion.value;
  throw createHeaderError(id, `its metadata is invalid: ${problem}`, "use a small JSON object");
}

function findProblem(metadata: unknown): string | undefined {
  if (!isJsonObject(metadata)) return "it is not an object";
  const { length } = JSON.stringify(metadata);
  if (length <= MAX_METADATA_LENGTH) return undefined;
  return `it has ${length} characters as JSON, more than ${MAX_METADATA_LENGTH}`;
}

function createHeaderError(id: string, problem: string, advice: string): SessionError {
  return new SessionError(`Cannot create the session "${id}": ${problem}: ${advice}`, {
    reason: "invalid_entry",
  });
}
