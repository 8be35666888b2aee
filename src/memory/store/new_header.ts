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
 * @throws {SessionError} With the reason `bad_id`, or `invalid_entry` if the metadata is not a JSON object.
 */
export function createNewHeader(options: CreateSessionOptions, now: number): SessionHeader {
  const { id = createSessionId(now), created = now, cwd, tenant, user, metadata, parent } = options;
  checkSessionId(id);
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
  throw new SessionError(
    `Cannot create the session "${id}": its metadata is invalid: ${problem}: use a JSON object`,
    { reason: "invalid_entry" },
  );
}
