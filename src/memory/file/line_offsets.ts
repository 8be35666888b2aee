/**
 * Positions of the entries of a log in its file.
 *
 * @module
 */

/** Offsets and lengths of lines, in order; stored as two arrays of numbers, since a log may have a million lines. */
export class LineOffsets {
  readonly #offsets: number[] = [];
  readonly #lengths: number[] = [];

  /** Number of lines. */
  get count(): number {
    return this.#offsets.length;
  }

  /** Adds the next line: its offset, and its length without the newline, in bytes. */
  add(offset: number, length: number): void {
    this.#offsets.push(offset);
    this.#lengths.push(length);
  }

  /** Offset of a line, in bytes; -1 if there is no such line. */
  offsetAt(position: number): number {
    return this.#offsets[position] ?? -1;
  }

  /** Length of a line without its newline, in bytes. */
  lengthAt(position: number): number {
    return this.#lengths[position] ?? 0;
  }

  /** Offset of the end of a line, before its newline, in bytes. */
  endAt(position: number): number {
    return this.offsetAt(position) + this.lengthAt(position);
  }
}
