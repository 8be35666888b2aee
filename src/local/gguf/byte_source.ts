/**
 * Reads the bytes of a file from the start, with limits.
 *
 * @module
 */

import { SEEK_START, type SystemFile } from "../../platform/file_calls.ts";

const BUFFER_BYTES = 1 << 18;
/** Most bytes that are read; the headers of known models have some 10 MB. */
const MAX_BYTES = 1 << 28;

/** A file that ends too early, or whose content is impossible. */
export class InvalidFileError extends Error {}

/** Reads numbers and texts of a binary file, little-endian. */
export class ByteSource {
  readonly #file: SystemFile;
  readonly #size: number;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #offset = 0;
  #position = 0;

  /**
   * @param file Opened for reading, at its start.
   * @param size Size of the file in bytes.
   */
  constructor(file: SystemFile, size: number) {
    this.#file = file;
    this.#size = size;
  }

  /** Number of bytes that were read. */
  get position(): number {
    return this.#position;
  }

  /** Number of bytes that were not read yet. */
  get remaining(): number {
    return this.#size - this.#position;
  }

  /** Reads an unsigned integer of 32 bits. */
  readUint32(): number {
    return this.readNumber(4, (view, offset) => view.getUint32(offset, true));
  }

  /** Reads an unsigned integer of 64 bits. */
  readUint64(): number {
    const value = this.readNumber(8, (view, offset) => Number(view.getBigUint64(offset, true)));
    if (Number.isSafeInteger(value)) return value;
    throw new InvalidFileError("a number is too large");
  }

  /** Reads a number of a type with a fixed size in bytes. */
  readNumber(size: number, read: (view: DataView, offset: number) => number): number {
    const offset = this.#take(size);
    // After the bytes were read, which may replace the view.
    return read(this.#view, offset);
  }

  /** Reads a text of UTF-8, whose length precedes it. */
  readText(maxBytes: number): string {
    const length = this.readUint64();
    if (length > maxBytes) throw new InvalidFileError("a text is too long");
    const offset = this.#take(length);
    return new TextDecoder().decode(this.#buffer.subarray(offset, offset + length));
  }

  /** Leaves bytes out. */
  skip(count: number): void {
    this.#check(count);
    this.#position += count;
    this.#offset += count;
    if (this.#offset <= this.#buffer.length) return;
    this.#file.seekSync(this.#position, SEEK_START);
    this.#buffer = new Uint8Array(0);
    this.#offset = 0;
  }

  #check(count: number): void {
    if (count > this.remaining) throw new InvalidFileError("the file is incomplete");
    if (this.#position > MAX_BYTES) throw new InvalidFileError("its header is too large");
  }

  /** Makes bytes available in the buffer and returns their offset there. */
  #take(count: number): number {
    this.#check(count);
    if (this.#offset + count > this.#buffer.length) this.#fill(count);
    const offset = this.#offset;
    this.#offset += count;
    this.#position += count;
    return offset;
  }

  #fill(count: number): void {
    const rest = this.#buffer.subarray(this.#offset);
    const buffer = new Uint8Array(Math.max(BUFFER_BYTES, count));
    buffer.set(rest);
    let length = rest.length;
    while (length < buffer.length) {
      const read = this.#file.readSync(buffer.subarray(length));
      if (read === null || read === 0) break;
      length += read;
    }
    if (length < count) throw new InvalidFileError("the file is incomplete");
    this.#buffer = buffer.subarray(0, length);
    this.#view = new DataView(buffer.buffer, 0, length);
    this.#offset = 0;
  }
}
