/**
 * Parser for server-sent events.
 *
 * Follows the event stream format of the HTML standard with two exceptions: the last event needs no blank line, which
 * some servers omit, and event names are ignored, since every provider repeats them in the data.
 *
 * @module
 */

import { StreamError } from "../../../src/core/errors/errors.ts";
import type { FrameParser } from "./event_stream.ts";
import { LineDecoder } from "./line_decoder.ts";

const SPACE = 0x20;

/** Maximum length of an event in characters, as for a line. */
const MAX_EVENT_LENGTH = 64 * 1024 * 1024;

/** Options for `new SseParser()`. */
export interface SseOptions {
  /** Called for each line that is not part of an event, such as an error outside of the events. */
  readonly onUnknownLine?: ((line: string) => void) | undefined;
}

/** Splits server-sent events into frames; a frame is the data of one event. */
export class SseParser implements FrameParser<string> {
  readonly #lines = new LineDecoder();
  readonly #onUnknownLine: ((line: string) => void) | undefined;
  #data: string | null = null;

  /** Creates a parser for one response. */
  constructor(options: SseOptions = {}) {
    this.#onUnknownLine = options.onUnknownLine;
  }

  /** Parses the next bytes and calls `onFrame` with the data of each complete event. */
  feed(bytes: Uint8Array, onFrame: (data: string) => void): void {
    this.#lines.feed(bytes, (lines) => this.#read(lines, onFrame));
  }

  /** Calls `onFrame` for a last event without a blank line. */
  end(onFrame: (data: string) => void): void {
    this.#lines.end((lines) => this.#read(lines, onFrame));
    this.#dispatch(onFrame);
  }

  #read(lines: string, onFrame: (data: string) => void): void {
    let start = 0;
    for (let end; (end = lines.indexOf("\n", start)) >= 0; start = end + 1) {
      if (end === start) this.#dispatch(onFrame);
      else if (lines.startsWith("data:", start)) {
        const value = lines.charCodeAt(start + 5) === SPACE ? start + 6 : start + 5;
        this.#append(lines.slice(value, end));
      } else if (!lines.startsWith("event:", start)) {
        // `event:` lines are half of all lines at some providers, so they are skipped without a copy.
        this.#readOtherLine(lines.slice(start, end));
      }
    }
  }

  #append(data: string): void {
    this.#data = this.#data === null ? data : `${this.#data}\n${data}`;
    if (this.#data.length <= MAX_EVENT_LENGTH) return;
    throw new StreamError(`An event of the response exceeds ${MAX_EVENT_LENGTH / 2 ** 20} MiB`);
  }

  #readOtherLine(line: string): void {
    if (line === "data") this.#append("");
    else if (!/^(?::|event$|(?:id|retry)(?::|$))/.test(line)) this.#onUnknownLine?.(line);
  }

  #dispatch(onFrame: (data: string) => void): void {
    if (this.#data === null) return;
    const data = this.#data;
    this.#data = null;
    onFrame(data);
  }
}
