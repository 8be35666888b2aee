/**
 * The files of a session.
 *
 * @module
 */

import { checkSessionId } from "../store/session_id.ts";
import { getLockPath } from "../lock/writer_lock.ts";

/** Extension of a log. */
export const LOG_EXTENSION = ".jsonl";

/** Paths of the files of one session. */
export interface SessionPaths {
  /** The directory of all sessions. */
  readonly directory: string;
  /** The log. */
  readonly log: string;
  /** The index of the log. */
  readonly index: string;
  /** The lock of the writer. */
  readonly lock: string;
}

/**
 * Returns the paths of a session's files.
 *
 * @throws {SessionError} With the reason `bad_id` if the id cannot be used as a file name.
 */
export function getSessionPaths(directory: string, sessionId: string): SessionPaths {
  checkSessionId(sessionId);
  const stem = `${directory}/${sessionId}`;
  const lock = getLockPath({ directory, sessionId });
  return { directory, log: `${stem}${LOG_EXTENSION}`, index: `${stem}.index`, lock };
}

/** Returns the path of the backup of a log of an older version, made by its upgrade. */
export function getOldLogPath(paths: SessionPaths, version: number): string {
  return `${paths.log}.v${version}`;
}
