/**
 * New files that are older than a command, or may hold the content of files that an undo does not restore.
 *
 * @module
 */

import { join } from "../../platform/paths.ts";
import { statIfExists } from "../files/file_stat.ts";
import { findEntry } from "./omitted_files.ts";
import { NO_MODE, type RawChange } from "./raw_diff.ts";
import type { TakenSnapshot } from "./snapshot.ts";

interface Comparison {
  /** Path of the work tree. */
  readonly root: string;
  /** The earlier snapshot. */
  readonly before: TakenSnapshot;
}

/**
 * Finds the new files that existed before the earlier snapshot: it left out a file with this path, also one that was ignored
 * and no longer is, or the file was created before it, under another path. Recorded files that were moved are not among
 * them: an undo restores the content at the earlier path.
 *
 * @param files The changes that an undo restores.
 */
export async function findOlderFiles(
  files: readonly RawChange[],
  { root, before: { time, omitted } }: Comparison,
): Promise<ReadonlySet<string>> {
  const restored = new Set(files.map(({ oldId }) => oldId));
  const ignored = new Set(omitted.ignored);
  const wasOmitted = (path: string) =>
    findEntry(path, ignored) !== undefined || omitted.large.includes(path) ||
    omitted.repositories.some((name) => path.startsWith(`${name}/`));
  const older = new Set<string>();
  for (const { oldMode, newId, path } of files) {
    if (oldMode !== NO_MODE) continue;
    const isOlder = wasOmitted(path) ||
      (time !== null && !restored.has(newId) && await existedBefore(root, path, time));
    if (isOlder) older.add(path);
  }
  return older;
}

/** Options for {@linkcode findHolders}: which files an undo does not restore. */
interface HolderOptions {
  /** The contents before and after the changes, by id. */
  readonly contents: ReadonlyMap<string, Uint8Array | null>;
  /** Recorded files that are gone and whose content cannot be restored. */
  readonly lost: readonly RawChange[];
  /** Lists the ids of the contents in the earlier snapshot. */
  readonly listBlobs: () => Promise<ReadonlySet<string>>;
  /** Whether some are gone: each content that the earlier snapshot does not have may be made of them. */
  readonly areGone: boolean;
  /** Whether single ones may be gone that are not known: archives may have them. */
  readonly mayBeGone: boolean;
}

/** Finds the other new files that may hold the only copy of a file that an undo does not restore. */
export async function findHolders(
  files: readonly RawChange[],
  { contents, lost, listBlobs, areGone, mayBeGone }: HolderOptions,
): Promise<ReadonlySet<string>> {
  const holders = files.filter(({ oldMode, newId }) => {
    const content = contents.get(newId);
    return oldMode === NO_MODE && content && (areGone || (mayBeGone && isArchive(content)));
  });
  if (holders.length === 0) return new Set();
  const known = await listBlobs();
  const lostIds = new Set(lost.map(({ oldId }) => oldId));
  const isOnlyCopy = ({ newId }: RawChange) => !known.has(newId) || lostIds.has(newId);
  return new Set(holders.filter(isOnlyCopy).map(({ path }) => path));
}

/** Whether a file existed before a time under this or another path. */
async function existedBefore(root: string, path: string, time: Date): Promise<boolean> {
  const status = await statIfExists(join(root, path)).catch(() => undefined);
  return status?.birthtime ? status.birthtime <= time : false;
}

/** First bytes of archives and compressed files, as Latin-1: gzip, zip, bzip2, xz, zstd, 7z, rar, lz4. */
const SIGNATURES = [
  "\x1f\x8b",
  "PK\x03\x04",
  "BZh",
  "\xfd7zXZ\0",
  "(\xb5/\xfd",
  "7z\xbc\xaf\x27\x1c",
  "Rar!\x1a\x07",
  '\x04"M\x18',
];

/** Position of the signature of a tar archive. */
const TAR_OFFSET = 257;

/** Whether a content is an archive or compressed. */
function isArchive(content: Uint8Array): boolean {
  const start = String.fromCharCode(...content.subarray(0, TAR_OFFSET + "ustar".length));
  return start.startsWith("ustar", TAR_OFFSET) ||
    SIGNATURES.some((signature) => start.startsWith(signature));
}
