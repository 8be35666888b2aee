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
  if ("value" in conversion && isJsonObject(conversion.value)) return conversion.value;
  const problem = "problem" in conversion ? conversion.problem : "it is not an object";
  throw createHeaderError(id, `its metadata is invalid: ${problem}`, "use a JSON object");
}

function createHeaderError(id: string, problem: string, advice: string): SessionError {
  return new SessionError(`Cannot create the session "${id}": ${problem}: ${advice}`, {
    reason: "invalid_entry",
  });
}
