/**
 * Amazon's event stream: bytes become messages.
 *
 * A message begins with its length; lengths, headers and the whole of it are protected by checksums.
 *
 * @module
 */

import { NetworkError, StreamError } from "../../src/core/errors.ts";
import type { FrameParser } from "../kit/stream/event_stream.ts";
import type { BedrockFrame } from "./event_codec.ts";

const LENGTH_BYTES = 4;
/** Two lengths and two checksums. */
const MIN_MESSAGE_BYTES = 16;
/** The format's own limit; a broken length must not make us wait for what never comes. */
const MAX_MESSAGE_BYTES = 24 * 1024 * 1024;

/** Reads the messages of one response. */
export class EventStreamParser implements FrameParser<BedrockFrame> {
  readonly #decode: (message: Uint8Array) => BedrockFrame;
  #chunks: Uint8Array[] = [];
  #bufferedBytes = 0;
  #requiredBytes = LENGTH_BYTES;

  /** Makes a parser; `decode` reads one whole message, and throws when a checksum is wrong. */
  constructor(decode: (message: Uint8Array) => BedrockFrame) {
    this.#decode = decode;
  }

  /** Reads the messages that the next bytes complete. */
  feed(bytes: Uint8Array, onFrame: (frame: BedrockFrame) => void): void {
    this.#chunks.push(bytes);
    this.#bufferedBytes += bytes.length;
    if (this.#bufferedBytes < this.#requiredBytes) return;
    let rest = this.#join();
    while ((this.#requiredBytes = readMessageLength(rest)) <= rest.length) {
      onFrame(this.#decode(rest.subarray(0, this.#requiredBytes)));
      rest = rest.subarray(this.#requiredBytes);
    }
    this.#chunks = [rest];
    this.#bufferedBytes = rest.length;
  }

  /** Tells a message that was cut off. */
  end(): void {
    if (this.#bufferedBytes === 0) return;
    throw new NetworkError("The stream ended unexpectedly, in the middle of a message");
  }

  #join(): Uint8Array {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const joined = new Uint8Array(this.#bufferedBytes);
    let offset = 0;
    for (const part of this.#chunks) {
      joined.set(part, offset);
      offset += part.length;
    }
    return joined;
  }
}

/** How many bytes the message at the beginning has; before its length is known, how many that takes. */
function readMessageLength(bytes: Uint8Array): number {
  if (bytes.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (length >= MIN_MESSAGE_BYTES && length <= MAX_MESSAGE_BYTES) return length;
  throw new StreamError(`A message of the event stream claims to have ${length} bytes`);
}
