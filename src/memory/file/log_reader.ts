/**
 * Reads single lines of a log file.
 *
 * @module
 */

import { type DecodedLine, decodeLine } from "../store/jsonl.ts";
import type { FileSystem, ReadableFile } from "./file_system.ts";
import type { LineOffsets } from "./line_offsets.ts";
import { splitLines } from "./read_lines.ts";

/** Maximum gap between lines that are read together, in bytes. */
const MAX_GAP_BYTES = 16 * 1024;
/** Maximum size of one read, in bytes; a single line may be longer. */
const MAX_READ_BYTES = 1024 * 1024;

/** Reads lines by their position. The file is open while it is read. */
export class LogReader {
  readonly #files: FileSystem;
  readonly #path: string;
  readonly #offsets: LineOffsets;

  constructor(files: FileSystem, path: string, offsets: LineOffsets) {
    this.#files = files;
    this.#path = path;
    this.#offsets = offsets;
  }

  /** Reads the lines at ascending positions; lines close to each other are read together. */
  async read(positions: readonly number[]): Promise<DecodedLine[]> {
    if (positions.length === 0) return [];
    const file = await this.#files.openToRead(this.#path);
    try {
      const lines: DecodedLine[] = [];
      for (let from = 0; from < positions.length;) {
        const to = findGroupEnd(this.#offsets, positions, from);
        const group = positions.slice(from, to);
        for (const line of await readGroup(file, this.#offsets, group)) lines.push(line);
        from = to;
      }
      return lines;
    } finally {
      file.close();
    }
  }
}

/** Returns the end of the group of lines that is read together from `positions[from]` on. */
function findGroupEnd(offsets: LineOffsets, positions: readonly number[], from: number): number {
  const start = offsets.offsetAt(positions[from] ?? -1);
  let to = from + 1;
  while (to < positions.length) {
    const [before = -1, next = -1] = [positions[to - 1], positions[to]];
    const gap = offsets.offsetAt(next) - offsets.endAt(before);
    const isNear = gap >= 0 && gap <= MAX_GAP_BYTES &&
      offsets.endAt(next) - start <= MAX_READ_BYTES;
    if (!isNear) break;
    to++;
  }
  return to;
}

async function readGroup(
  file: ReadableFile,
  offsets: LineOffsets,
  group: readonly number[],
): Promise<DecodedLine[]> {
  const first = offsets.offsetAt(group[0] ?? -1);
  if (first < 0) return group.map(() => undefined);
  const length = offsets.endAt(group.at(-1) ?? -1) - first;
  const lines = splitLines(await file.read(first, length), first);
  let next = 0;
  return group.map((position) => {
    const offset = offsets.offsetAt(position);
    while ((lines[next]?.offset ?? Infinity) < offset) next++;
    const line = lines[next];
    // A line that another program changed after it was indexed may be broken, or have lost its beginning.
    return line?.offset === offset ? decodeLine(line.text ?? "") : undefined;
  });
}
