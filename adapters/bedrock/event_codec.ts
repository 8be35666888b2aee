/**
 * The messages of Amazon's event stream.
 *
 * @module
 */

import type { EventStreamCodec } from "@smithy/eventstream-codec";
import { StreamError } from "../../src/core/errors.ts";
import { loadCodec } from "./packages.ts";

/** A message of the stream. */
export interface BedrockFrame {
  /** Whether it is part of the reply, or tells why there will be no more. */
  readonly type: "event" | "exception" | "error";
  /** Name of the event, or of what went wrong. */
  readonly name: string;
  /** JSON; for an error, words. */
  readonly body: string;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Decodes messages, once its package is loaded. */
export class EventCodec {
  #codec: EventStreamCodec | null = null;

  /** Loads the package; costs nothing the second time. */
  async load(): Promise<void> {
    if (this.#codec !== null) return;
    const { EventStreamCodec } = await loadCodec();
    this.#codec = new EventStreamCodec(
      (bytes) => typeof bytes === "string" ? bytes : decoder.decode(bytes),
      (text) => encoder.encode(text),
    );
  }

  /**
   * Decodes a whole message.
   *
   * @throws {Error} When a checksum is wrong.
   */
  decode(message: Uint8Array): BedrockFrame {
    if (this.#codec === null) throw new StreamError("The codec of the event stream is not loaded");
    const { headers, body } = this.#codec.decode(message);
    const header = (name: string): string => {
      const found = headers[name];
      return found?.type === "string" ? found.value : "";
    };
    switch (header(":message-type")) {
      case "exception":
        return { type: "exception", name: header(":exception-type"), body: decoder.decode(body) };
      case "error":
        return { type: "error", name: header(":error-code"), body: header(":error-message") };
      default:
        return { type: "event", name: header(":event-type"), body: decoder.decode(body) };
    }
  }
}
