/**
 * Server-sent events: bytes become the `data` of events.
 *
 * After the HTML standard's event stream format, with two liberties: the last event counts also without its blank
 * line (servers forget it), and event names are not read (every provider repeats them in the data).
 *
 * @module
 */

import type { FrameParser } from "./event_stream.ts";
import { LineDecoder } from "./line_decoder.ts";

const SPACE = 0x20;

/** Options of {@linkcode SseParser}. */
export interface SseOptions {
  /** Gets each line that is no part of an event: some servers put a bare JSON error between events. */
  readonly onUnknownLine?: (line: string) => void;
}

/** Reads server-sent events; a frame is the data of one event. */
export class SseParser implements FrameParser<string> {
  readonly #lines = new LineDecoder();
  readonly #onUnknownLine: ((line: string) => void) | undefined;
  #data: string | null = null;

  /** Makes a parser for one response. */
  constructor(options: SseOptions = {}) {
    this.#onUnknownLine = options.onUnknownLine;
  }

  /** Reads the events that the next bytes complete. */
  feed(bytes: Uint8Array, onFrame: (data: string) => void): void {
    this.#lines.feed(bytes, (lines) => this.#read(lines, onFrame));
  }

  /** Reads what the end of the body completes. */
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
        // Half of all lines at some providers; they are passed over without being copied.
        this.#readOtherLine(lines.slice(start, end));
      }
    }
  }

  #append(data: string): void {
    this.#data = this.#data === null ? data : `${this.#data}\n${data}`;
  }

  #readOtherLine(line: string): void {
    if (line === "data") this.#append("");
    else if (!/^(?::|event$|id|retry)/.test(line)) this.#onUnknownLine?.(line);
  }

  #dispatch(onFrame: (data: string) => void): void {
    if (this.#data === null) return;
    const data = this.#data;
    this.#data = null;
    onFrame(data);
  }
}
