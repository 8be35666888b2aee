/**
 * The selection of sessions by what they had when they were created.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { getErrorMessage, SessionError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type {
  DeleteSessionsOptions,
  SearchSessionsOptions,
  SessionFilter,
  SessionMetadataFilter,
  SessionSummary,
} from "../../core/sessions/session.ts";

/** Maximum length of a member of the metadata by which sessions are selected, as JSON, since databases have an index of them. */
const MAX_MEMBER_LENGTH = 1_000;

const FILTER_NAMES = ["cwd", "tenant", "user", "metadata"];

/** The options of the methods that select sessions. */
const OPTION_NAMES = {
  list: [...FILTER_NAMES, "limit", "cursor"],
  search: [
    ...FILTER_NAMES,
    ...["sessionId", "types", "after", "before", "limit", "cursor", "signal"],
  ],
  deleteAll: [...FILTER_NAMES, "updatedBefore"],
} as const;

/** Returns the filter of options that have other members too. */
export function pickFilter({ cwd, tenant, user, metadata }: SessionFilter): SessionFilter {
  return {
    ...(cwd !== undefined && { cwd }),
    ...(tenant !== undefined && { tenant }),
    ...(user !== undefined && { user }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** Whether a session matches a filter. */
export function matchesFilter(
  session: Pick<SessionSummary, "cwd" | "tenant" | "user" | "metadata">,
  { cwd, tenant, user, metadata = {} }: SessionFilter,
): boolean {
  return (cwd === undefined || session.cwd === cwd) &&
    (tenant === undefined || session.tenant === tenant) &&
    (user === undefined || session.user === user) &&
    Object.entries(metadata).every(([name, value]) => session.metadata?.[name] === value);
}

/**
 * Whether a session was created and written last before a time, in milliseconds since the epoch. At first, a fork has only
 * older entries.
 */
export function isOlder(
  { created, updated }: Pick<SessionSummary, "created" | "updated">,
  time: number,
): boolean {
  return updated < time && created < time;
}

/** Returns the members of metadata by which sessions can be selected, each as JSON: `["plan","pro"]`. */
export function listMembers(metadata: JsonObject = {}): readonly string[] {
  return Object.entries(metadata)
    .filter(([, value]) => isScalar(value))
    .map((member) => JSON.stringify(member))
    .filter(({ length }) => length <= MAX_MEMBER_LENGTH);
}

/**
 * Checks the filter in the options of a method, which may come from a request. An unknown option is an error, since a
 * misspelled filter would select the sessions of all tenants.
 *
 * @throws {SessionError} With the reason `bad_filter` if sessions cannot be selected by it.
 */
export function checkFilter(options: SessionFilter, method: keyof typeof OPTION_NAMES): void {
  if (!isJsonObject(options)) throw createFilterError(`The options of ${method}() are no object`);
  try {
    checkNames(options, OPTION_NAMES[method], `${method}()`);
  } catch (error) {
    throw createFilterError(getErrorMessage(error));
  }
  checkMembers(options);
  if (method === "search") checkRange(options);
}

/** Checks the options that select entries. */
function checkRange({ types, after, before }: SearchSessionsOptions): void {
  const isList = Array.isArray(types) && types.every((type) => typeof type === "string");
  if (types !== undefined && !isList) {
    throw createFilterError("Cannot select entries by types: it is not an array of texts");
  }
  for (const [name, time] of Object.entries({ after, before })) {
    if (time === undefined || (typeof time === "number" && !Number.isNaN(time))) continue;
    throw createFilterError(
      `Cannot select entries by ${name}: it is not a number of milliseconds since the epoch`,
    );
  }
}

function checkMembers({ metadata = {}, cwd, tenant, user }: SessionFilter): void {
  for (const [name, value] of Object.entries({ cwd, tenant, user })) {
    if (value === undefined || typeof value === "string") continue;
    throw createFilterError(`Cannot select sessions by ${name}: it is not a text`);
  }
  const names = isJsonObject(metadata) ? Object.keys(metadata) : undefined;
  if (names && listMembers(metadata).length === names.length) return;
  throw createFilterError(
    "Cannot select sessions by these metadata: use an object whose values are texts, numbers, booleans or null, " +
      `each with its name at most ${MAX_MEMBER_LENGTH} characters long as JSON`,
  );
}

/**
 * Checks the maximum number of items of a page; returns it, or `undefined` if there is no limit.
 *
 * @throws {SessionError} With the reason `bad_filter`.
 */
export function checkLimit(limit: number | undefined): number | undefined {
  if (limit === undefined || limit === Infinity) return undefined;
  if (Number.isSafeInteger(limit) && limit >= 0) return limit;
  throw createFilterError(`Invalid limit ${String(limit)}: use 0, a positive integer or Infinity`);
}

function createFilterError(message: string): SessionError {
  return new SessionError(message, { reason: "bad_filter" });
}

/** Whether sessions can be selected by a value of their metadata. */
export function isScalar(value: unknown): value is SessionMetadataFilter[string] {
  return typeof value === "string" || typeof value === "boolean" || value === null ||
    (typeof value === "number" && Number.isFinite(value));
}

/**
 * Checks that the sessions to delete are selected by at least one option.
 *
 * @throws {SessionError} With the reason `bad_filter`.
 */
export function checkDeleteOptions(options: DeleteSessionsOptions): void {
  checkFilter(options, "deleteAll");
  const { metadata = {}, ...others } = options;
  const { updatedBefore = 0 } = others;
  if (typeof updatedBefore !== "number" || Number.isNaN(updatedBefore)) {
    throw createFilterError(
      "Cannot delete the sessions before this time: updatedBefore is not a number of milliseconds since the epoch",
    );
  }
  const conditions = [...Object.values(metadata), ...Object.values(others)];
  if (conditions.some((condition) => condition !== undefined)) return;
  throw createFilterError(
    "Cannot delete all sessions of a store: specify cwd, tenant, user, metadata or updatedBefore",
  );
}

/**
 * Checks that a scope selects sessions.
 *
 * @throws {SessionError} With the reason `bad_filter`.
 */
export function checkScope({ tenant, user }: SessionFilter): void {
  checkMembers({ ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) });
  if (tenant !== undefined || user !== undefined) return;
  throw createFilterError("The scope of a store is empty: specify a tenant, a user, or both");
}
