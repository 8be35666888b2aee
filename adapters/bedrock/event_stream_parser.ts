/**
 * Splits the bytes of Amazon's event stream into messages. Every message starts with its length.
 *
 * @module
 */

import { NetworkError, StreamError } from "../../src/core/errors/errors.ts";
import type { FrameParser } from "../kit/stream/event_stream.ts";
import type { BedrockFrame } from "./event_codec.ts";

const LENGTH_BYTES = 4;
/** Two lengths and two checksums. */
const MIN_MESSAGE_BYTES = 16;
/** Limit of the format; a corrupt length must not make the parser wait for more bytes. */
const MAX_MESSAGE_BYTES = 24 * 1024 * 1024;

/** Parses the messages of one response. */
export class EventStreamParser implements FrameParser<BedrockFrame> {
  readonly #decode: (message: Uint8Array) => BedrockFrame;
  #chunks: Uint8Array[] = [];
  #bufferedBytes = 0;
  #requiredBytes = LENGTH_BYTES;

  /** Creates a parser; `decode` decodes one complete message, or throws. */
  constructor(decode: (message: Uint8Array) => BedrockFrame) {
    this.#decode = decode;
  }

  /** Emits the messages that the next bytes complete. */
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

  /**
   * Checks that the body ended after a complete message.
   *
   * @throws {NetworkError} When it ended within a message.
   */
  end(): void {
    if (this.#bufferedBytes === 0) return;
    throw new NetworkError("The stream ended unexpectedly, in the middle of a message");
  }

  #join(): Uint8Array {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const joined = new Uint8Array(this.#bufferedBytes);
    let offset = 0;
    for (const chunk of this.#chunks) {
      joined.set(chunk, offset);
      offset += chunk.length;
    }
    return joined;
  }
}

/** Reads the length of the message at the start of `bytes`; too few bytes give the size of the length field. */
function readMessageLength(bytes: Uint8Array): number {
  if (bytes.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (length >= MIN_MESSAGE_BYTES && length <= MAX_MESSAGE_BYTES) return length;
  throw new StreamError(`Invalid message length in the event stream: ${length} bytes`);
}
