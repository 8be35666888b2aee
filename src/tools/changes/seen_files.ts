/**
 * What the model last saw of each file, so that it never writes over what it has not seen.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { hashContent } from "../text/content_hash.ts";
import { quotePath } from "../files/file_error.ts";

/** Remembers the hash of each file as it was last read or written by a tool. */
export class SeenFiles {
  readonly #hashes = new Map<string, string>();

  /** Notes that the model knows this content of a file. */
  async record(path: string, content: Uint8Array): Promise<void> {
    this.#hashes.set(path, await hashContent(content));
  }

  /**
   * Refuses when the file is no longer as the model last saw it. One that is gone has nothing to lose.
   *
   * @throws {BadRequestError} When it changed since.
   */
  async verify(path: string, content: Uint8Array | undefined, asked: string): Promise<void> {
    const known = this.#hashes.get(path);
    if (known === undefined || content === undefined) return;
    if (await hashContent(content) === known) return;
    // The model is told once; what it does next, it does knowing that.
    this.#hashes.delete(path);
    throw new BadRequestError(
      `${
        quotePath(asked)
      } was changed by something else since it was last read: read it again, then repeat the change`,
    );
  }
}
