/**
 * Creates the headers of new sessions.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { getErrorMessage, SessionError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject, toJsonValue } from "../../core/json/json.ts";
import type { CreateSessionOptions } from "../../core/sessions/session.ts";
import type { SessionHeader } from "../../core/sessions/session_entry.ts";
import { checkOptionsObject } from "./check_options_object.ts";
import { createHeader } from "./jsonl.ts";
import { checkSessionId, createSessionId } from "./session_id.ts";

/** Maximum length of metadata as JSON, in UTF-16 code units: every list has them, and databases rewrite them with each entry. */
const MAX_METADATA_LENGTH = 65_536;

/** Maximum length of a tenant and of a user, in UTF-16 code units: an index of a database has rows of up to 2,704 bytes. */
const MAX_OWNER_LENGTH = 500;

const OPTION_NAMES = [
  ...["id", "created", "cwd", "tenant", "user", "metadata"],
  ...["parent", "entries"],
];

/**
 * Creates the header of a new session; `now` is the current time, in milliseconds since the epoch.
 *
 * @throws {SessionError} With the reason `bad_id`, or `invalid_entry` if another option is invalid.
 */
export function createNewHeader(options: CreateSessionOptions, now: number): SessionHeader {
  checkOptionsObject("create()", options);
  const { id = createSessionId(now), created = now, cwd, tenant, user, metadata, parent } = options;
  checkSessionId(id);
  checkOptionNames(id, options);
  if (!Number.isFinite(created)) {
    throw createHeaderError(id, `the time ${created} is not a number`, "correct the clock");
  }
  for (const [name, value] of Object.entries({ cwd, tenant, user })) {
    if (value === undefined || typeof value === "string") continue;
    throw createHeaderError(id, `its ${name} is not a text`, "use a string");
  }
  for (const [name, value = ""] of Object.entries({ tenant, user })) {
    if (value.length <= MAX_OWNER_LENGTH) continue;
    const problem = `its ${name} has ${value.length} characters, more than ${MAX_OWNER_LENGTH}`;
    throw createHeaderError(id, problem, "use a shorter name, such as a hash");
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

/** Checks the names of options, since a session with a misspelled tenant would belong to none. */
function checkOptionNames(id: string, options: CreateSessionOptions): void {
  try {
    checkNames(options, OPTION_NAMES, "create()");
  } catch (error) {
    throw createHeaderError(id, getErrorMessage(error), "correct the options");
  }
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
