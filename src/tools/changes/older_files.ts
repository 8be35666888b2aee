/**
 * Files that a command made or changed, and that may hold the content of older ones, of which nothing was recorded.
 *
 * @module
 */

import { join } from "../../platform/paths.ts";
import { statIfExists } from "../files/file_stat.ts";
import { findEntry } from "./omitted_files.ts";
import { LINK_MODE, type RawChange } from "./raw_diff.ts";
import type { TakenSnapshot } from "./snapshot.ts";

/** Mode of a file that does not exist. */
const NO_MODE = "000000";

interface OlderFilesContext {
  /** Path of the work tree. */
  readonly root: string;
  /** The earlier snapshot. */
  readonly before: TakenSnapshot;
  /** Lists the ids of the contents in the earlier snapshot. */
  readonly listBlobs: () => Promise<ReadonlySet<string>>;
}

/**
 * Finds the files of which the earlier snapshot has no content although they existed: it left out a file with this
 * path, also one that was ignored and no longer is, or the file was created before it, under another path.
 *
 * @param options With `mayBeOlder`, each new file may be one.
 */
export async function findOlderFiles(
  entries: readonly RawChange[],
  options: OlderFilesContext & { readonly mayBeOlder: boolean },
): Promise<ReadonlySet<string>> {
  const { root, before: { time, omitted }, mayBeOlder } = options;
  const added = entries.filter(({ oldMode }) => oldMode === NO_MODE);
  const ignored = new Set(omitted.ignored);
  const wasOmitted = (path: string) =>
    mayBeOlder || findEntry(path, ignored) !== undefined || omitted.large.includes(path) ||
    omitted.repositories.some((name) => path.startsWith(`${name}/`));
  const older: RawChange[] = [];
  for (const entry of added) {
    const isOlder = wasOmitted(entry.path) ||
      (time !== null && await existedBefore(root, entry.path, time));
    if (isOlder) older.push(entry);
  }
  return await selectUnknown(older, options);
}

/**
 * Finds the other files that may hold the only copy of an omitted file that is gone: it was moved onto a recorded file, or
 * is in an archive.
 *
 * @param options `mayBeArchived`: whether omitted files may be gone.
 */
export async function findHolders(
  files: readonly RawChange[],
  options: OlderFilesContext & {
    readonly contents: ReadonlyMap<string, Uint8Array | null>;
    readonly mayBeArchived: boolean;
  },
): Promise<ReadonlySet<string>> {
  const { root, before: { time }, contents, mayBeArchived } = options;
  const holders: RawChange[] = [];
  for (const file of files) {
    const content = contents.get(file.newId);
    if (!content || file.newMode === LINK_MODE) continue;
    const isHolder = (mayBeArchived && isArchive(content)) ||
      (file.oldMode !== NO_MODE && time !== null && await wasMovedThere(root, file.path, time));
    if (isHolder) holders.push(file);
  }
  return await selectUnknown(holders, options);
}

/** Returns the paths of the files whose new contents are not in the earlier snapshot. */
async function selectUnknown(
  files: readonly RawChange[],
  { listBlobs }: OlderFilesContext,
): Promise<ReadonlySet<string>> {
  if (files.length === 0) return new Set();
  const known = await listBlobs();
  return new Set(files.filter(({ newId }) => !known.has(newId)).map(({ path }) => path));
}

/** Whether a file existed before a time under this or another path. */
async function existedBefore(root: string, path: string, time: Date): Promise<boolean> {
  const status = await statIfExists(join(root, path)).catch(() => undefined);
  return status?.birthtime ? status.birthtime <= time : false;
}

/**
 * Whether a changed file was not written after a time: another file, which existed before it, was moved there.
 */
async function wasMovedThere(root: string, path: string, time: Date): Promise<boolean> {
  const status = await statIfExists(join(root, path)).catch(() => undefined);
  if (!status?.birthtime || !status.mtime) return false;
  return status.birthtime <= time && status.mtime <= time;
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
