/**
 * The size of a response.
 *
 * @module
 */

import { StreamError } from "../../../src/core/errors/errors.ts";

/** Maximum size of a response: far above the longest reply with images, and below what exhausts the memory. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Counts the bytes of a response. */
export class ResponseSize {
  readonly #provider: string;
  #bytes = 0;

  /** Creates a counter for the response of a provider. */
  constructor(provider: string) {
    this.#provider = provider;
  }

  /**
   * Adds the next bytes.
   *
   * @throws {StreamError} If the response is too large.
   */
  add({ length }: Uint8Array): void {
    this.#bytes += length;
    if (this.#bytes <= MAX_BYTES) return;
    const provider = this.#provider;
    const limit = MAX_BYTES / 2 ** 20;
    const message = `Cannot read the reply of ${provider}: it is larger than ${limit} MiB`;
    throw new StreamError(message, { provider });
  }
}
