/**
 * Where the entries of a log stand in it.
 *
 * @module
 */

/** The places of lines, in order; two lists of numbers, since a log may have a million lines. */
export class LineOffsets {
  readonly #offsets: number[] = [];
  readonly #lengths: number[] = [];

  /** How many places there are. */
  get count(): number {
    return this.#offsets.length;
  }

  /** Adds the place of the next entry: where its line begins, and how long it is without its end, in bytes. */
  add(offset: number, length: number): void {
    this.#offsets.push(offset);
    this.#lengths.push(length);
  }

  /** Where the line of an entry begins, in bytes; -1 when there is no such entry. */
  offsetAt(position: number): number {
    return this.#offsets[position] ?? -1;
  }

  /** How long the line of an entry is, in bytes. */
  lengthAt(position: number): number {
    return this.#lengths[position] ?? 0;
  }

  /** Where the line of an entry ends, in bytes. */
  endAt(position: number): number {
    return this.offsetAt(position) + this.lengthAt(position);
  }
}
