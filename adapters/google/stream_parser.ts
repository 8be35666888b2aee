/**
 * Gemini's stream as JSON texts.
 *
 * @module
 */

import type { FrameParser } from "../kit/stream/event_stream.ts";
import { SseParser } from "../kit/stream/sse.ts";

/** No error is longer, in characters; what is no event must not fill the memory. */
const MAX_ERROR_LENGTH = 65_536;

/**
 * Reads server-sent events, and between them an error as bare JSON, in one line or pretty in many: so the servers
 * before the model tell that they have given up.
 */
export class GoogleStreamParser implements FrameParser<string> {
  readonly #sseParser = new SseParser({ onUnknownLine: (line) => this.#bufferErrorLine(line) });
  #pendingError = "";

  /** Reads the texts that the next bytes complete. */
  feed(bytes: Uint8Array, onFrame: (json: string) => void): void {
    this.#sseParser.feed(bytes, onFrame);
    this.#emitError(onFrame);
  }

  /** Reads what the end of the body completes. */
  end(onFrame: (json: string) => void): void {
    this.#sseParser.end(onFrame);
    this.#emitError(onFrame);
  }

  #bufferErrorLine(line: string): void {
    if (this.#pendingError.length < MAX_ERROR_LENGTH) this.#pendingError += `${line}\n`;
  }

  #emitError(onFrame: (json: string) => void): void {
    if (!this.#pendingError.endsWith("}\n") || !isJson(this.#pendingError)) return;
    const json = this.#pendingError;
    this.#pendingError = "";
    onFrame(json);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
