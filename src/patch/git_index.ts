/**
 * The index of a git repository, which names the tracked files.
 *
 * @module
 */

import { isExactPath, join, SEPARATOR } from "../platform/paths.ts";
import { readUntrustedFile } from "../platform/untrusted_file.ts";
import { concatBytes } from "./bytes.ts";
import { findGitDirectory } from "./git_directory.ts";

/** Maximum size of an index, and of all its names: a short one can have long names, which begin like each other. */
const MAX_INDEX_BYTES = 200_000_000;

/**
 * Reads the paths of the tracked files of a repository, relative to its root, in their order; none if the index is missing,
 * damaged or of an unknown version. Paths that are not UTF-8, or that lead out of the repository or into its `.git`, are
 * omitted.
 */
export async function readTrackedPaths(root: string): Promise<readonly string[]> {
  const directory = await findGitDirectory(root);
  const options = { within: directory, maxBytes: MAX_INDEX_BYTES };
  const read = await readUntrustedFile(join(directory, "index"), options);
  if (read.type !== "content") return [];
  const { bytes } = read;
  // Hashes are those of SHA-1, else of SHA-256.
  return (parseIndex(bytes, 20) ?? parseIndex(bytes, 32) ?? []).filter(isInsidePath);
}

/** The first four bytes of an index, "DIRC". */
const SIGNATURE = 0x44495243;
const HEADER_BYTES = 12;
/** Length of the numbers at the start of an entry: times, device, inode, mode, owner and size. */
const STATUS_BYTES = 40;
/** Position of the mode in an entry. */
const MODE_OFFSET = 24;
/** The types of entries, from their modes: directory of a sparse index, file, link, repository. */
const ENTRY_TYPES: readonly number[] = [0o04, 0o10, 0o12, 0o16];
/** The flag of an entry that has further flags. */
const EXTENDED = 0x4000;

/** An index, and the format of its entries. */
interface IndexFile {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly version: number;
  /** Length of a hash. */
  readonly hashBytes: number;
}

/**
 * Parses an index by https://git-scm.com/docs/index-format; `undefined` if it is damaged, has an unknown version or hashes
 * of another length.
 */
function parseIndex(bytes: Uint8Array, hashBytes: number): string[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEADER_BYTES || view.getUint32(0) !== SIGNATURE) return undefined;
  const version = view.getUint32(4);
  if (version < 2 || version > 4) return undefined;
  const paths: string[] = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let length = 0;
  let entry: IndexEntry = { name: new Uint8Array(), end: HEADER_BYTES };
  for (let left = view.getUint32(8); left > 0; left--) {
    const next = readEntry({ bytes, view, version, hashBytes }, entry);
    if (!next || (length += next.name.length) > MAX_INDEX_BYTES) return undefined;
    paths.push(decoder.decode(next.name));
    entry = next;
  }
  return paths;
}

/** A file of an index. */
interface IndexEntry {
  /** Its path as bytes. */
  readonly name: Uint8Array;
  /** Position of the next entry. */
  readonly end: number;
}

/** Reads the entry after another one; `undefined` if it is damaged. */
function readEntry(
  { bytes, view, version, hashBytes }: IndexFile,
  { name: previous, end: start }: IndexEntry,
): IndexEntry | undefined {
  const flags = start + STATUS_BYTES + hashBytes;
  if (flags + 4 > bytes.length) return undefined;
  if (!ENTRY_TYPES.includes(view.getUint32(start + MODE_OFFSET) >>> 12)) return undefined;
  const nameStart = flags + ((view.getUint16(flags) & EXTENDED) === 0 ? 2 : 4);
  // Version 4 stores the end of a name, after the number of bytes to remove from the previous one.
  const removed = version === 4
    ? readOffset(bytes, nameStart)
    : { value: previous.length, end: nameStart };
  const nameEnd = bytes.indexOf(0, removed.end);
  if (nameEnd < 0 || removed.value > previous.length) return undefined;
  const kept = previous.subarray(0, previous.length - removed.value);
  const name = concatBytes(kept, bytes.subarray(removed.end, nameEnd));
  // The other versions fill entries with one to eight zero bytes, to a multiple of eight.
  const padded = start + Math.floor((nameEnd - start + 8) / 8) * 8;
  return { name, end: version === 4 ? nameEnd + 1 : padded };
}

/** Reads a number as git writes the offsets of packs: seven bits in each byte, the highest ones first. */
function readOffset(bytes: Uint8Array, start: number): { value: number; end: number } {
  let end = start;
  let byte = bytes[end++] ?? 0;
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes[end++] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, end };
}

/** Git writes `/`; on Windows the other separator would lead to another directory. */
const SEPARATORS = SEPARATOR === "/" ? "/" : /[\\/]/;

/** Whether a path is that of a file of a work tree, as git requires of its own paths. */
function isInsidePath(path: string): boolean {
  return isExactPath(path) &&
    path.split(SEPARATORS).every((name) => !/^(?:\.{0,2}|\.git)$/i.test(name));
}
