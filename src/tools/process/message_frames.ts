/**
 * Messages between processes of the same runtime, as frames: the length in four bytes, and a structured clone.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { getBuiltinModule } from "../../platform/builtin_modules.ts";

const LENGTH_BYTES = 4;

/** Encodes a message as a frame. */
export function encodeFrame(message: unknown): Uint8Array<ArrayBuffer> {
  const content = getBuiltinModule("node:v8").serialize(message);
  const frame = new Uint8Array(LENGTH_BYTES + content.length);
  new DataView(frame.buffer).setUint32(0, content.length);
  frame.set(content, LENGTH_BYTES);
  return frame;
}

/** Decodes the frames of a stream of bytes. */
export class FrameDecoder {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #size = 0;
  /** Size of the frame that is being read; `undefined` until its length is known. */
  #frameBytes: number | undefined;

  /** Creates a decoder. `maxBytes` limits a message; default: none. */
  constructor(maxBytes = Infinity) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the messages that a chunk completes. @throws {BadRequestError} When a message is too long. */
  push(chunk: Uint8Array): unknown[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const messages: unknown[] = [];
    while (this.#size >= this.#readFrameBytes()) {
      const [frame, rest] = this.#split(this.#readFrameBytes());
      messages.push(getBuiltinModule("node:v8").deserialize(frame.subarray(LENGTH_BYTES)));
      this.#chunks = [rest];
      this.#size = rest.length;
      this.#frameBytes = undefined;
    }
    return messages;
  }

  /** Returns the size of the next frame; infinite while its length is not complete. */
  #readFrameBytes(): number {
    if (this.#frameBytes !== undefined) return this.#frameBytes;
    if (this.#size < LENGTH_BYTES) return Infinity;
    const [start] = this.#split(LENGTH_BYTES);
    const length = new DataView(start.buffer, start.byteOffset).getUint32(0);
    if (length > this.#maxBytes) {
      throw new BadRequestError(`its result has more than ${this.#maxBytes / 1e6} MB`);
    }
    return this.#frameBytes = LENGTH_BYTES + length;
  }

  /** Returns the first bytes and the others. */
  #split(length: number): [Uint8Array, Uint8Array] {
    const all = new Uint8Array(this.#size);
    let offset = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, offset);
      offset += chunk.length;
    }
    this.#chunks = [all];
    return [all.subarray(0, length), all.subarray(length)];
  }
}
