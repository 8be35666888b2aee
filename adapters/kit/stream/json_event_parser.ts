/**
 * Parser for server-sent events whose data is JSON.
 *
 * @module
 */

import type { FrameParser } from "./event_stream.ts";
import { SseParser } from "./sse.ts";

/** Limit of the text outside of events, in characters, for a body that is not an event stream. */
const MAX_UNKNOWN_LENGTH = 65_536;

/**
 * Splits server-sent events into JSON texts, and finds errors outside of events: plain JSON on one line or several, as
 * servers in front of a model send it, and `error:` lines of llama.cpp.
 */
export class JsonEventParser implements FrameParser<string> {
  readonly #sseParser = new SseParser({ onUnknownLine: (line) => this.#appendUnknown(line) });
  #unknownText = "";

  /** The text outside of events that is not JSON. */
  get unknownText(): string {
    return this.#unknownText;
  }

  /** Parses the next bytes and calls `onFrame` with each complete text. */
  feed(bytes: Uint8Array, onFrame: (json: string) => void): void {
    this.#sseParser.feed(bytes, (data) => emitData(data, onFrame));
    if (this.#unknownText !== "") this.#emitUnknown(onFrame);
  }

  /** Calls `onFrame` with the text that the end of the body completes. */
  end(onFrame: (json: string) => void): void {
    this.#sseParser.end((data) => emitData(data, onFrame));
    this.#emitUnknown(onFrame);
  }

  #appendUnknown(line: string): void {
    if (this.#unknownText.length > MAX_UNKNOWN_LENGTH) return;
    const [, error] = /^error: *(?! )(.*)$/.exec(line) ?? [];
    const text = error === undefined
      ? line
      : `{"error":${isJson(error) ? error : JSON.stringify(error)}}`;
    this.#unknownText += `${text}\n`;
  }

  #emitUnknown(onFrame: (json: string) => void): void {
    if (!this.#unknownText.endsWith("}\n") || !isJson(this.#unknownText)) return;
    const json = this.#unknownText;
    this.#unknownText = "";
    onFrame(json);
  }
}

/** Emits the data of an event, except empty data, which some servers send to keep the connection open. */
function emitData(data: string, onFrame: (json: string) => void): void {
  const json = data.trim();
  if (json !== "") onFrame(json);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
