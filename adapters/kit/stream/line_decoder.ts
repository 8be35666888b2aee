/**
 * Decodes bytes into lines.
 *
 * @module
 */

import { StreamError } from "../../../src/core/errors/errors.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** Maximum number of bytes that are buffered without a line end. Far above the longest line of any provider. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Splits a body into lines, for chunks of any size and any line breaks (LF, CRLF, CR).
 *
 * Each chunk is decoded up to its last line break, whose byte is part of no longer UTF-8 sequence, so no character is
 * split. The remaining bytes are buffered until the next chunk; a chunk must not be changed after it was fed.
 */
export class LineDecoder {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #isAtStart = true;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #afterCarriageReturn = false;

  /**
   * Decodes the next chunk and calls `onLines` with the text of its complete lines, each ending in `"\n"`.
   *
   * @throws {StreamError} When the bytes are not UTF-8 (lines before the invalid one that end in LF are passed first), or
   * when more than 64 MiB are buffered without a line end.
   */
  feed(chunk: Uint8Array, onLines: (lines: string) => void): void {
    const bytes = this.#skipLineFeed(chunk);
    const end = findLastLineEnd(bytes);
    if (end === 0) return this.#appendPending(bytes);
    this.#afterCarriageReturn = end === bytes.length && bytes[end - 1] === CARRIAGE_RETURN;
    // Only the line that began in an earlier chunk is copied.
    const start = this.#pendingBytes === 0 ? 0 : bytes.indexOf(LINE_FEED) + 1 || end;
    if (start > 0) this.#decode(this.#takePending(bytes.subarray(0, start)), onLines);
    if (start < end) this.#decode(bytes.subarray(start, end), onLines);
    if (end < bytes.length) this.#appendPending(bytes.subarray(end));
  }

  /** Calls `onLines` with the buffered rest of the body; a character that is cut off there becomes U+FFFD. */
  end(onLines: (lines: string) => void): void {
    if (this.#pendingBytes === 0) return;
    const bytes = this.#skipByteOrderMark(this.#takePending(new Uint8Array(0)));
    const rest = normalizeLineEnds(this.#decoder.decode(bytes));
    onLines(rest.endsWith("\n") ? rest : `${rest}\n`);
  }

  /** Skips a byte order mark at the start of the body. */
  #skipByteOrderMark(bytes: Uint8Array): Uint8Array {
    if (!this.#isAtStart) return bytes;
    this.#isAtStart = false;
    const isMarked = BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte);
    return isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
  }

  /** Skips an LF that belongs to a CR at the end of the last chunk. */
  #skipLineFeed(chunk: Uint8Array): Uint8Array {
    if (!this.#afterCarriageReturn || chunk.length === 0) return chunk;
    this.#afterCarriageReturn = false;
    return chunk[0] === LINE_FEED ? chunk.subarray(1) : chunk;
  }

  #appendPending(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes > MAX_LINE_BYTES) {
      throw new StreamError(`A line of the response exceeds ${MAX_LINE_BYTES / 2 ** 20} MiB`);
    }
    this.#pending.push(bytes);
  }

  #takePending(last: Uint8Array): Uint8Array {
    const joined = new Uint8Array(this.#pendingBytes + last.length);
    let offset = 0;
    for (const part of [...this.#pending, last]) {
      joined.set(part, offset);
      offset += part.length;
    }
    this.#pending = [];
    this.#pendingBytes = 0;
    return joined;
  }

  #decode(encoded: Uint8Array, onLines: (lines: string) => void): void {
    const bytes = this.#skipByteOrderMark(encoded);
    const text = this.#decoder.decode(bytes);
    // The lenient decoder is several times faster than the strict one; it replaces invalid bytes by U+FFFD.
    if (text.includes("\uFFFD")) return decodeStrictly(bytes, onLines);
    onLines(normalizeLineEnds(text));
  }
}

/** Returns the position after the last line end; 0 when there is none. */
function findLastLineEnd(bytes: Uint8Array): number {
  const lineFeed = bytes.lastIndexOf(LINE_FEED);
  // CR alone is rare: it is searched only in chunks without LF, and one after the last LF waits for the next chunk.
  return (lineFeed >= 0 ? lineFeed : bytes.lastIndexOf(CARRIAGE_RETURN)) + 1;
}

function normalizeLineEnds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** Decodes line by line, so that the lines before the invalid one are passed on. */
function decodeStrictly(bytes: Uint8Array, onLines: (lines: string) => void): void {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let start = 0; start < bytes.length;) {
    const lineFeed = bytes.indexOf(LINE_FEED, start);
    const end = lineFeed < 0 ? bytes.length : lineFeed + 1;
    let line: string;
    try {
      line = decoder.decode(bytes.subarray(start, end));
    } catch (cause) {
      throw new StreamError("The response is not valid UTF-8", { cause });
    }
    onLines(normalizeLineEnds(line));
    start = end;
  }
}
