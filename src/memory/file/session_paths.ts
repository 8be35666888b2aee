/**
 * The files of a session.
 *
 * @module
 */

import { getLockPath } from "../lock/writer_lock.ts";
import { encodeFileName } from "../store/file_name.ts";
import { checkSessionId } from "../store/session_id.ts";

/** Extension of a log. */
export const LOG_EXTENSION = ".jsonl";

/** Extensions of the temporary files of a session. */
const TEMPORARY = /^\.(?:(?:jsonl|index)\.\d+\.tmp|lock\.(?:takeover|guard|\d+))$/;

/** Paths of the files of one session. */
export interface SessionPaths {
  /** The name of the files, without an extension. */
  readonly name: string;
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
 * @throws {SessionError} With the reason `bad_id` if the id is invalid.
 */
export function getSessionPaths(directory: string, sessionId: string): SessionPaths {
  checkSessionId(sessionId);
  const name = encodeFileName(sessionId);
  const lock = getLockPath({ directory, sessionId });
  const path = `${directory}/${name}`;
  return { name, directory, log: `${path}${LOG_EXTENSION}`, index: `${path}.index`, lock };
}

/** Whether a file in the directory of a session is a temporary one of a killed process. */
export function isTemporaryFile(fileName: string, { name }: SessionPaths): boolean {
  return fileName.startsWith(name) && TEMPORARY.test(fileName.slice(name.length));
}

/** Returns the path of the backup of a log of an older version, made by its upgrade. */
export function getOldLogPath(paths: SessionPaths, version: number): string {
  return `${paths.log}.v${version}`;
}
