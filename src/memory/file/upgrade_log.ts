/**
 * Upgrades a log of an older version; the old file is kept.
 *
 * Version 0 is a list of messages, one per line. Its messages become entries, each a child of the one before.
 *
 * @module
 */

import { encodeEntry, encodeHeader } from "../store/jsonl.ts";
import type { FileSystem } from "./file_system.ts";
import type { LoadedLog } from "./load_log_index.ts";
import { getOldLogPath, type SessionPaths } from "./session_paths.ts";

/** Replaces a log with its upgraded version, atomically; the old file is copied first. */
export async function upgradeLog(
  files: FileSystem,
  paths: SessionPaths,
  { state: { header }, entries, version }: LoadedLog,
): Promise<void> {
  await files.copy(paths.log, getOldLogPath(paths, version));
  const lines = [
    encodeHeader(header),
    ...entries.flatMap((entry) => entry ? [encodeEntry(entry)] : []),
  ];
  await files.replace(paths.log, lines.join("\n") + "\n", { sync: true });
  files.remove(paths.index);
}
