/**
 * Removes the files of a session.
 *
 * @module
 */

import { SESSION_VERSION } from "../store/jsonl.ts";
import type { FileSystem } from "./file_system.ts";
import { getOldLogPath, isTemporaryFile, type SessionPaths } from "./session_paths.ts";

/** Removes the log of a session, its index, and the logs of older versions. */
export function removeLogs(files: FileSystem, paths: SessionPaths): void {
  files.remove(paths.log);
  files.remove(paths.index);
  for (let version = 0; version < SESSION_VERSION; version++) {
    files.remove(getOldLogPath(paths, version));
  }
}

/** Removes the temporary files that killed processes have left. */
export function removeTemporaryFiles(files: FileSystem, paths: SessionPaths): void {
  const { directory } = paths;
  for (const name of files.listDirectory(directory)) {
    if (isTemporaryFile(name, paths)) files.remove(`${directory}/${name}`);
  }
}
