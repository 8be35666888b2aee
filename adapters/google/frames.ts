/**
 * Gemini's stream as JSON texts.
 *
 * @module
 */

import type { FrameParser } from "../kit/stream/event_stream.ts";
import { SseParser } from "../kit/stream/sse.ts";

/** No error is longer, in characters; what is no event must not fill the memory. */
const MAX_STRAY = 65_536;

/**
 * Reads server-sent events, and between them an error as bare JSON, in one line or pretty in many: so the servers
 * before the model tell that they have given up.
 */
export class GoogleFrames implements FrameParser<string> {
  readonly #events = new SseParser({ onStrayLine: (line) => this.#keep(line) });
  #stray = "";

  /** Reads the texts that the next bytes complete. */
  feed(bytes: Uint8Array, onFrame: (json: string) => void): void {
    this.#events.feed(bytes, onFrame);
    this.#giveStray(onFrame);
  }

  /** Reads what the end of the body completes. */
  end(onFrame: (json: string) => void): void {
    this.#events.end(onFrame);
    this.#giveStray(onFrame);
  }

  #keep(line: string): void {
    if (this.#stray.length < MAX_STRAY) this.#stray += `${line}\n`;
  }

  #giveStray(onFrame: (json: string) => void): void {
    if (!this.#stray.endsWith("}\n") || !isJson(this.#stray)) return;
    const json = this.#stray;
    this.#stray = "";
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
