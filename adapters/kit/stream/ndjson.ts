/**
 * Parser for newline-delimited JSON.
 *
 * @module
 */

import type { FrameParser } from "./event_stream.ts";
import { LineDecoder } from "./line_decoder.ts";

/** Splits newline-delimited JSON into the texts of its values; blank lines are skipped. */
export class NdjsonParser implements FrameParser<string> {
  readonly #lines = new LineDecoder();

  /** Parses the next bytes and calls `onFrame` for each complete line. */
  feed(bytes: Uint8Array, onFrame: (line: string) => void): void {
    this.#lines.feed(bytes, (lines) => splitLines(lines, onFrame));
  }

  /** Calls `onFrame` for a last line without a line end. */
  end(onFrame: (line: string) => void): void {
    this.#lines.end((lines) => splitLines(lines, onFrame));
  }
}

function splitLines(lines: string, onFrame: (line: string) => void): void {
  let start = 0;
  for (let end; (end = lines.indexOf("\n", start)) >= 0; start = end + 1) {
    const line = lines.slice(start, end);
    if (line.trim() !== "") onFrame(line);
  }
}
