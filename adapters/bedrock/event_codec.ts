/**
 * Encodes and decodes the messages of Amazon's event stream.
 *
 * @module
 */

import type { EventStreamCodec } from "@smithy/eventstream-codec";
import { StreamError } from "../../src/core/errors/errors.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { loadCodec } from "./packages.ts";

/** A message of the stream. */
export interface BedrockFrame {
  /** The kind of message; exceptions and errors end the stream. */
  readonly type: "event" | "exception" | "error";
  /** Name of the event or exception, or code of the error. */
  readonly name: string;
  /** JSON of an event or exception, plain text of an error. */
  readonly body: string;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Decodes messages after its npm package is loaded. */
export class EventCodec {
  #codec: EventStreamCodec | null = null;

  /** Loads the npm package; does nothing if it is loaded. */
  async load(): Promise<void> {
    if (this.#codec !== null) return;
    const { EventStreamCodec } = await loadCodec();
    this.#codec = new EventStreamCodec(
      (bytes) => typeof bytes === "string" ? bytes : decoder.decode(bytes),
      (text) => encoder.encode(text),
    );
  }

  /**
   * Encodes an event.
   *
   * @throws {StreamError} When the package is not loaded.
   */
  encode(name: string, payload: JsonObject): Uint8Array<ArrayBuffer> {
    const headers = {
      ":event-type": { type: "string", value: name },
      ":message-type": { type: "string", value: "event" },
    } as const;
    const body = encoder.encode(JSON.stringify(payload));
    return new Uint8Array(this.#getCodec().encode({ headers, body }));
  }

  /**
   * Decodes one complete message.
   *
   * @throws {Error} When a checksum is wrong.
   * @throws {StreamError} When the package is not loaded.
   */
  decode(message: Uint8Array): BedrockFrame {
    const { headers, body } = this.#getCodec().decode(message);
    const getHeader = (name: string): string => {
      const header = headers[name];
      return header?.type === "string" ? header.value : "";
    };
    switch (getHeader(":message-type")) {
      case "exception": {
        const name = getHeader(":exception-type");
        return { type: "exception", name, body: decoder.decode(body) };
      }
      case "error":
        return { type: "error", name: getHeader(":error-code"), body: getHeader(":error-message") };
      default:
        return { type: "event", name: getHeader(":event-type"), body: decoder.decode(body) };
    }
  }

  #getCodec(): EventStreamCodec {
    if (this.#codec !== null) return this.#codec;
    throw new StreamError("Cannot decode the event stream: its codec is not loaded");
  }
}
