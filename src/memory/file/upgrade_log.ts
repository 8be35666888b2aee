/**
 * Brings a log of an older version to this one; the old file is kept beside it.
 *
 * Version 0 is a bare list of messages, one a line, as many programs write them. Its messages become entries,
 * each hanging on the one before.
 *
 * @module
 */

import type { SessionPaths } from "./file_log.ts";
import type { FileSystem } from "./file_system.ts";
import { encodeEntry, encodeHeader } from "../store/jsonl.ts";
import type { LoadedLog } from "./load_log_index.ts";

/** Where the old file of an upgrade is kept. */
export function getOldLogPath(paths: SessionPaths, version: number): string {
  return `${paths.log}.v${version}`;
}

/**
 * Writes the upgraded log in place of the old one. At any moment one of them is whole and in place.
 */
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
