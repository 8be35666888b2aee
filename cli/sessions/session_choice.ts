/**
 * The session that a run belongs to.
 *
 * @module
 */

import { UsageError } from "../host/cli_error.ts";
import type { RunOptions } from "../settings/run_options.ts";

/** The session of a run. */
export type SessionChoice =
  /** The run is not saved. */
  | { readonly type: "none" }
  /** A new session. */
  | { readonly type: "new" }
  /** The session with an id, or a new one. */
  | { readonly type: "named"; readonly id: string }
  /** The last session of the directory. */
  | { readonly type: "last"; readonly fork: boolean }
  /** The session with an id that begins with a text. */
  | { readonly type: "existing"; readonly id: string; readonly fork: boolean };

/** The session that the options select, which may depend on the answer to a question. */
export type SessionSelection =
  | SessionChoice
  /** The session that the user chooses. */
  | { readonly type: "asked"; readonly fork: boolean };

/** Advice for a session that another program has open. */
export const FORK_ADVICE = "Continue in a copy: add --fork.";

/** Advice for a session of `--session-id` that another program has open. */
export const NAMED_ADVICE = "Wait for the end of that run, or choose another --session-id.";

/** Maximum length of an id, as in the library. */
const MAX_ID_LENGTH = 200;

/**
 * Returns the session that the options select.
 *
 * @throws {UsageError} If `--fork` has no session to copy, or an id is too long.
 */
export function parseSessionChoice(
  { continue: isContinued, resume, fork, sessionId, noSession }: Pick<
    RunOptions,
    "continue" | "resume" | "fork" | "sessionId" | "noSession"
  >,
): SessionSelection {
  const id = resume ?? sessionId;
  if (typeof id === "string" && id.length > MAX_ID_LENGTH) {
    throw new UsageError(`The id of a session has at most ${MAX_ID_LENGTH} characters`);
  }
  if (typeof id === "string" && /[\p{Cc}\p{Cs}]/u.test(id)) {
    throw new UsageError("The id of a session has no control characters");
  }
  if (isContinued) return { type: "last", fork };
  if (resume === true) return { type: "asked", fork };
  if (resume !== undefined) return { type: "existing", id: resume, fork };
  if (fork) {
    throw new UsageError("--fork copies a session: it requires --continue or --resume");
  }
  if (noSession) return { type: "none" };
  return sessionId === undefined ? { type: "new" } : { type: "named", id: sessionId };
}
