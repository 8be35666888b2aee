/**
 * Splits Google's stream into JSON texts.
 *
 * @module
 */

import type { FrameParser } from "../kit/stream/event_stream.ts";
import { SseParser } from "../kit/stream/sse.ts";

/** Limit of the error buffer, in characters, for a body that is not an event stream. */
const MAX_ERROR_LENGTH = 65_536;

/**
 * Parses server-sent events, and an error as plain JSON between them, on one line or several: servers in front of
 * the model report a failure in that form.
 */
export class GoogleStreamParser implements FrameParser<string> {
  readonly #sseParser = new SseParser({
    onUnknownLine: (line) => {
      if (this.#errorText.length < MAX_ERROR_LENGTH) this.#errorText += `${line}\n`;
    },
  });
  #errorText = "";

  /** Emits the texts that the next bytes complete. */
  feed(bytes: Uint8Array, onFrame: (json: string) => void): void {
    this.#sseParser.feed(bytes, onFrame);
    this.#emitError(onFrame);
  }

  /** Emits the text that the end of the body completes. */
  end(onFrame: (json: string) => void): void {
    this.#sseParser.end(onFrame);
    this.#emitError(onFrame);
  }

  #emitError(onFrame: (json: string) => void): void {
    if (!this.#errorText.endsWith("}\n") || !isJson(this.#errorText)) return;
    const json = this.#errorText;
    this.#errorText = "";
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
