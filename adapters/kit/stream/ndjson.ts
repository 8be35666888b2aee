/**
 * Newline-delimited JSON: bytes become the text of one JSON value each.
 *
 * @module
 */

import type { FrameParser } from "./event_stream.ts";
import { LineDecoder } from "./line_decoder.ts";

/** Reads newline-delimited JSON; a frame is one line that is not blank. */
export class NdjsonParser implements FrameParser<string> {
  readonly #lines = new LineDecoder();

  /** Reads the lines that the next bytes complete. */
  feed(bytes: Uint8Array, onFrame: (line: string) => void): void {
    this.#lines.feed(bytes, (lines) => readLines(lines, onFrame));
  }

  /** Reads the last line when it has no end. */
  end(onFrame: (line: string) => void): void {
    this.#lines.end((lines) => readLines(lines, onFrame));
  }
}

function readLines(lines: string, onFrame: (line: string) => void): void {
  let start = 0;
  for (let end; (end = lines.indexOf("\n", start)) >= 0; start = end + 1) {
    const line = lines.slice(start, end);
    if (line.trim() !== "") onFrame(line);
  }
}
